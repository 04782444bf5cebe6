import SharedFileCoordination
import Testing

@Suite struct ContinuityTests {
  @Test func `of two that open at once exactly one renews`() throws {
    let scratch = try Scratch()
    let last = try scratch.open()
    last.settleContinuity { nil }
    let before = try #require(last.continuity)
    // As a process that is killed: nothing is renewed.
    last.close()
    // Both have their slots before either decides.
    let first = try scratch.open()
    let second = try scratch.open()
    #expect(first.continuity == before)
    first.settleContinuity { nil }
    let renewed = try #require(first.continuity)
    #expect(renewed != before)
    second.settleContinuity { nil }
    #expect(second.continuity == renewed)
    first.close()
    second.close()
  }

  @Test func `whoever comes while one is settled keeps the number, and the last one renews it`()
    throws
  {
    let scratch = try Scratch()
    let first = try scratch.open()
    first.settleContinuity { nil }
    let number = try #require(first.continuity)
    let second = try scratch.open()
    second.settleContinuity { nil }
    first.renewContinuityIfAlone()
    #expect(second.continuity == number)
    first.close()
    second.renewContinuityIfAlone()
    #expect(second.continuity != number)
    second.close()
  }

  @Test func `without anybody settled the number is nobody's`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    #expect(file.continuity == nil)
    #expect(file.establishedContinuity() != nil)
    #expect(CoordinationFile.continuity(forDatabase: scratch.database) == nil)
    file.settleContinuity { nil }
    #expect(CoordinationFile.continuity(forDatabase: scratch.database) == file.continuity)
    file.close()
    #expect(CoordinationFile.continuity(forDatabase: scratch.database) == nil)
  }
}
