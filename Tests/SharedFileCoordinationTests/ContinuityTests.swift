import Foundation
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

  @Test func `a file is at rest only when a later change is sure to get another time`() throws {
    let scratch = try Scratch()
    let path = scratch.database
    var sawRecent = false
    var sawPast = false
    // A busy machine may let the clock go on between the writing and the look.
    for _ in 0..<1000 where !(sawRecent && sawPast) {
      #expect(FileManager.default.createFile(atPath: path, contents: Data([1])))
      let rest = try #require(FileRest.of(path: path))
      if !rest.isPast { sawRecent = true }
      let end = BootClock.now(advancedBy: .seconds(10))
      while !rest.isPast, BootClock.now() < end { usleep(1000) }
      sawPast = rest.isPast
      #expect(FileRest.of(path: path) == rest)
      #expect(FileManager.default.createFile(atPath: path, contents: Data([2])))
      #expect(FileRest.of(path: path) != rest)
    }
    #expect(sawRecent && sawPast)
  }

  @Test func `a session goes on from a noted rest, and only from that`() throws {
    let scratch = try Scratch()
    let path = scratch.database
    #expect(FileManager.default.createFile(atPath: path, contents: Data([1])))
    func session(
      ending counter: UInt32, isEmpty: Bool = true, _ body: (CoordinationFile) throws -> Void
    ) throws -> Int64 {
      let file = try scratch.open()
      file.settleContinuity { LogState(counter: 7, isEmpty: true) }
      try body(file)
      let continuity = try #require(file.continuity)
      file.noteRest { LogState(counter: counter, isEmpty: isEmpty) }
      file.renewContinuityIfAlone()
      file.close()
      return continuity
    }
    let first = try session(ending: 20) { #expect($0.bridge == nil) }
    func expectBridge(_ file: CoordinationFile) throws {
      let bridge = try #require(file.bridge)
      #expect(bridge.formerContinuity == first && bridge.formerCounter == 20)
      #expect(bridge.counter == 7 && bridge.continuity == file.continuity)
    }
    // Sessions that change nothing hand it on.
    _ = try session(ending: 7, expectBridge)
    _ = try session(ending: 7, expectBridge)
    // One that ends with pages in the log notes nothing new, and what was noted is void by its commits.
    _ = try session(ending: 30, isEmpty: false) { file in
      try expectBridge(file)
      #expect(FileManager.default.createFile(atPath: path, contents: Data([2])))
    }
    let last = try session(ending: 40) { #expect($0.bridge == nil) }
    // Beside another process nothing is noted.
    let one = try scratch.open()
    one.settleContinuity { LogState(counter: 7, isEmpty: true) }
    #expect(one.bridge?.formerContinuity == last)
    let two = try scratch.open()
    two.settleContinuity { LogState(counter: 7, isEmpty: true) }
    #expect(two.bridge == one.bridge)
    #expect(FileManager.default.createFile(atPath: path, contents: Data([3])))
    one.noteRest { LogState(counter: 50, isEmpty: true) }
    one.close()
    two.close()
    _ = try session(ending: 7) { #expect($0.bridge == nil) }
    // A log that holds something at the beginning proves nothing.
    let dirty = try scratch.open()
    dirty.settleContinuity { LogState(counter: 8, isEmpty: false) }
    #expect(dirty.bridge == nil)
    dirty.close()
  }
}
