import Blackbird
import Testing

@Suite struct CoreTests {
  @Test func `a transaction gives its closure's value`() async throws {
    let db = try Blackbird.Database.inMemoryDatabase()
    let value = try await db.transaction { _ in 1 }
    #expect(value == 1)
    await db.close()
  }
}
