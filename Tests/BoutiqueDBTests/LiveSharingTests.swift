import BoutiqueDB
import Foundation
import Synchronization
import TestDatabase
import Testing

/// Live queries that ask the same share their runs.
@Suite struct LiveSharingTests {
  /// A database whose function `tick()` counts how often it is called.
  private func withTicks(
    isolation: isolated (any Actor)? = #isolation,
    _ body: (BoutiqueDB, @escaping @Sendable () -> Int) async throws -> Void
  ) async throws {
    let ticks = TickCounter()
    var configuration = ObservationTests.hourPoll
    configuration.functions = [
      BoutiqueFunction("tick", argumentCount: 0, isDeterministic: false) { _ in
        ticks.add()
        return 0
      }
    ]
    let plan = BoutiqueMigrationPlan {
      BoutiqueMigration("v1") { conn in
        try conn.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER)")
      }
    }
    try await withTestDatabase(configuration: configuration, migrations: plan) { db, _ in
      try await body(db) { ticks.value }
    }
  }

  @Sendable private static func counting(
    above limit: Int
  ) -> @Sendable () -> SQLQueryExpression<Int> {
    { #sql("SELECT count(*) + tick() FROM t WHERE v > \(limit)", as: Int.self) }
  }

  /// Starts observers and waits until each has its first value; the task ends when all have a second one.
  private func start(
    _ count: Int, in db: BoutiqueDB,
    _ query: @escaping @Sendable (Int) -> (@Sendable () -> SQLQueryExpression<Int>)
  ) async throws -> Task<[Int], any Error> {
    let started = TickCounter()
    let all = Task {
      try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<count {
          group.addTask {
            var values = db.observe(query(number)).makeAsyncIterator()
            _ = try await values.next()
            started.add()
            return try await values.next()?.first ?? -1
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
    }
    while started.value < count { try await Task.sleep(for: .milliseconds(1)) }
    return all
  }

  @Test func `a thousand equal live queries cost a run, not a thousand`() async throws {
    try await withTicks { db, ticks in
      let observers = try await start(1000, in: db) { _ in Self.counting(above: 0) }
      let before = ticks()
      try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (1)") }
      #expect(try await observers.value.allSatisfy { $0 == 1 })
      // One for those who waited already; a few for those who were late.
      #expect(ticks() - before < 100)
    }
  }

  @Test func `different values share nothing`() async throws {
    try await withTicks { db, ticks in
      let observers = try await start(50, in: db) { Self.counting(above: $0) }
      let before = ticks()
      try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (1000)") }
      #expect(try await observers.value.allSatisfy { $0 == 1 })
      #expect(ticks() - before >= 50)
    }
  }

  /// Swift's equality of texts is not SQLite's.
  @Test func `texts that look alike are not taken for equal`() async throws {
    try await withTicks { db, _ in
      @Sendable func length(_ text: String) -> @Sendable () -> SQLQueryExpression<Int> {
        { #sql("SELECT length(\(text)) + count(*) FROM t", as: Int.self) }
      }
      let observers = try await start(200, in: db) { length($0 % 2 == 0 ? "\u{e9}" : "e\u{301}") }
      try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (1)") }
      #expect(Set(try await observers.value) == [2, 3])
    }
  }

  @Test func `what is read as another type is another question`() async throws {
    try await withTicks { db, _ in
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 0)") }
      let sql: SQLFragment = "SELECT v FROM t"
      for _ in 0..<100 {
        async let number = first(db.observe { SQLQueryExpression(sql, as: Int.self) })
        async let truth = first(db.observe { SQLQueryExpression(sql, as: Bool.self) })
        #expect(try await number == [0])
        #expect(try await truth == [false])
      }
    }
  }

  private func first<Value>(_ values: QueryObservation<Value>) async throws -> Value? {
    var values = values.makeAsyncIterator()
    return try await values.next()
  }

  @Test func `whoever joins a run that is cancelled gets a value all the same`() async throws {
    try await withTestDatabase(configuration: ObservationTests.hourPoll) { db, _ in
      let slow: @Sendable () -> SQLQueryExpression<Int> = {
        #sql(
          """
          WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 100000)
          SELECT count(*) FROM c
          """, as: Int.self)
      }
      for _ in 0..<20 {
        let leading = Task { try await first(db.observe(slow)) }
        await Task.yield()
        async let following = first(db.observe(slow))
        leading.cancel()
        #expect(try await following == [100_000])
        _ = try await leading.value
      }
    }
  }

  /// ```
  /// first                      writer       second
  /// asks: its run begins
  ///                            commits
  ///                                         asks the same: not the first one's run
  /// its run ends
  /// ```
  @Test func `a run that began before a commit answers nobody who asks after it`() async throws {
    let calls = TickCounter()
    let gate = DispatchSemaphore(value: 0)
    var configuration = ObservationTests.hourPoll
    configuration.functions = [
      BoutiqueFunction("gate", argumentCount: 0, isDeterministic: false) { _ in
        calls.add()
        if calls.value == 1 { gate.wait() }
        return 0
      }
    ]
    try await withTestDatabase(configuration: configuration, migrations: TransactionTests.plan) {
      db, _ in
      let query: @Sendable () -> SQLQueryExpression<Int> = {
        #sql("SELECT (SELECT count(*) FROM t) + gate()", as: Int.self)
      }
      let early = Task {
        var seen: [Int] = []
        for try await count in db.observe(query) {
          seen += count
          if seen.last == 1 { break }
        }
        return seen
      }
      while calls.value == 0 { try await Task.sleep(for: .milliseconds(1)) }
      try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (1)") }
      let late = Task { try await first(db.observe(query)) }
      let bound = ContinuousClock.now + .seconds(30)
      while calls.value == 1, ContinuousClock.now < bound {
        try await Task.sleep(for: .milliseconds(1))
      }
      gate.signal()
      #expect(try await late.value == [1])
      #expect(try await early.value == [0, 1])
    }
  }

  @Test func `nobody gets a value that is older than what he knows of`() async throws {
    try await withTicks { db, _ in
      let query = Self.counting(above: 0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            for _ in 0..<50 {
              // What is committed when an observation begins is in its first value.
              let count = try await db.write { conn in
                try conn.execute("INSERT INTO t (v) VALUES (1)")
                return try conn.query("SELECT count(*) FROM t")[0].decode(0, as: Int.self)
              }
              let seen = try await first(db.observe(query))?.first ?? -1
              #expect(seen >= count)
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }
}

/// Counts from any thread.
final class TickCounter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .acquiring) }
  func add() { count.add(1, ordering: .acquiringAndReleasing) }
}
