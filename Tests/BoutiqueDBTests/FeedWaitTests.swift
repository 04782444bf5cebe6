import BoutiqueDB
import Synchronization
import TestDatabase
import Testing

/// Waiting for a token.
@Suite(.serialized) struct FeedWaitTests {
  private typealias Feed = FeedSupport

  @Test func `a token of now is reached at once`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      try await db.wait(for: db.currentToken())
      try await Feed.insert(1...3, into: db)
      try await db.wait(for: db.currentToken())
      #expect(try await db.status().observers == 0)
    }
  }

  @Test(arguments: [true, false])
  func `a commit of another open database is waited for`(usesInotify: Bool) async throws {
    var configuration = BoutiqueConfiguration()
    configuration.usesInotify = usesInotify
    try await withTestDatabase(configuration: configuration, migrations: Feed.plan) { db, _ in
      let other = try await BoutiqueDB.open(path: db.path, migrations: Feed.plan)
      let now = try await db.currentToken()
      for id in 1...20 {
        let next = ChangeToken(generation: now.generation, number: now.number + Int64(id) * 2)
        async let reached: Void = db.wait(for: next, timeout: .seconds(60))
        try await Feed.insert(id...id, into: other)
        try await reached
        #expect(try await db.count(of: "SELECT * FROM t WHERE id = \(id)") == 1)
      }
      await other.close()
    }
  }

  @Test func `when the wait is over, observers have been told`() async throws {
    try await withTestDatabase(
      configuration: ObservationTests.hourPoll, migrations: Feed.plan
    ) { db, _ in
      let other = try await BoutiqueDB.open(path: db.path, migrations: Feed.plan)
      var values = db.observe(ObservationTests.count).makeAsyncIterator()
      #expect(try await values.next() == 0)
      for id in 1...50 {
        try await Feed.insert(id...id, into: other)
        let token = try await other.currentToken()
        try await db.wait(for: token, timeout: .seconds(60))
        #expect(db.toldToken ?? 0 >= token.number)
        #expect(try await values.next() == id)
      }
      await other.close()
    }
  }

  @Test func `a wait in vain says what was waited for and what was reached`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      let now = try await db.currentToken()
      let never = ChangeToken(generation: now.generation, number: now.number + 1_000_000)
      do {
        try await db.wait(for: never, timeout: .milliseconds(50))
        Issue.record("it was reached")
      } catch BoutiqueError.waitTimedOut(let wait) {
        #expect(wait.token == never)
        #expect(wait.reached == now)
        #expect(wait.waited >= .milliseconds(50))
      }
      #expect(try await db.status().observers == 0)
    }
  }

  // After a power cut or a restored backup the numbers are given again, and a commit of another size can have the
  // token's number in its middle.
  @Test func `a token whose number is inside a commit is of another history`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      try await Feed.insert(1...5, into: db)
      let now = try await db.currentToken()
      try await db.wait(for: now)
      for number in (now.number - 5)..<now.number {
        let token = ChangeToken(generation: now.generation, number: number, stamp: 1)
        let error = await #expect(throws: BoutiqueError.self) { try await db.wait(for: token) }
        guard case .tokenVoid(_, token, _) = error else {
          Issue.record("\(number): \(String(describing: error))")
          continue
        }
      }
    }
  }

  @Test func `a token of another file or history is void`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      try await Feed.insert(1...2, into: db)
      let now = try await db.currentToken()
      for token in [
        ChangeToken(generation: "other", number: 1),
        ChangeToken(generation: now.generation, number: now.number, stamp: 1),
      ] {
        let error = await #expect(throws: BoutiqueError.self) { try await db.wait(for: token) }
        guard case .tokenVoid(_, token, _) = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
      }
    }
  }

  @Test func `a wait can be cancelled and ends when the database closes`() async throws {
    let directory = try TestDirectory()
    let db = try await BoutiqueDB.open(path: directory.file("t.db"), migrations: Feed.plan)
    let now = try await db.currentToken()
    let never = ChangeToken(generation: now.generation, number: now.number + 1000)
    func waiting() async throws -> Task<Void, any Error> {
      let task = Task { try await db.wait(for: never, timeout: .seconds(3600)) }
      while try await db.status().observers == 0 { await Task.yield() }
      return task
    }
    let cancelled = try await waiting()
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    let closed = try await waiting()
    await db.close()
    let error = await #expect(throws: BoutiqueError.self) { try await closed.value }
    guard case .closed = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `in memory and alone in the file, too`() async throws {
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL(), migrations: Feed.plan)
    let now = try await db.currentToken()
    async let reached: Void = db.wait(
      for: ChangeToken(generation: now.generation, number: now.number + 2), timeout: .seconds(60))
    try await Feed.insert(1...1, into: db)
    try await reached
    await db.close()
  }
}
