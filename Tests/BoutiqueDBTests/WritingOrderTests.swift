import BoutiqueDB
import Foundation
import SQLiteConnection
import TestDatabase
import Testing

/// Who goes first, and who has waited or run for too long.
@Suite struct WritingOrderTests {
  static let plan = WritingGroupTests.plan

  private func configured(
    aging: Duration = .seconds(3600), limit: Int = 1
  ) -> BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration.groups(of: limit)
    configuration.backgroundWriteAging = aging
    return configuration
  }

  /// Queues writes of these priorities and returns the order in which they ran.
  private func order(
    _ db: BoutiqueDB, _ priorities: [WritePriority], pause: Duration = .zero
  ) async throws -> [Int] {
    let ran = Notes<Int>()
    let busy = await BusyWriter(db)
    var tasks: [Task<Void, any Error>] = []
    for (number, priority) in priorities.enumerated() {
      tasks.append(
        try await busy.queue { db in
          try await db.write(priority: priority) { _ in ran.add(number) }
        })
      try await Task.sleep(for: pause)
    }
    await busy.release()
    for task in tasks { try await task.value }
    return ran.all
  }

  @Test(arguments: [1, 16])
  func `background writes go after normal ones, each kind in order of arrival`(
    limit: Int
  ) async throws {
    try await withTestDatabase(
      configuration: configured(limit: limit), migrations: Self.plan
    ) { db, _ in
      let found = try await order(
        db, [.background, .normal, .background, .normal, .background, .normal])
      #expect(found == [1, 3, 5, 0, 2, 4])
    }
  }

  @Test func `a background write that has aged is one of the normal ones`() async throws {
    try await withTestDatabase(
      configuration: configured(aging: .milliseconds(1)), migrations: Self.plan
    ) { db, _ in
      // Each comes at least a span after the one before.
      let found = try await order(
        db, [.background, .normal, .background, .normal], pause: .milliseconds(5))
      #expect(found == [0, 1, 2, 3])
    }
  }

  @Test func `normal writes that keep coming do not keep a background write out for ever`()
    async throws
  {
    try await withTestDatabase(
      configuration: configured(aging: .milliseconds(50)), migrations: Self.plan
    ) { db, _ in
      let ran = Signal()
      let background = Task { try await db.write(priority: .background) { _ in ran.set() } }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask {
            // The line is never empty of normal writes before the background write has run.
            while !ran.isSet { try await db.write { _ = try $0.query("SELECT 1") } }
          }
        }
        try await group.waitForAll()
      }
      try await background.value
    }
  }

  // MARK: Deadlines

  @Test func `a write whose time is over while it waits was never begun`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let busy = await BusyWriter(db)
      let ran = Signal()
      // The one with more time came first, so its timer is not the one that counts.
      let patient = try await busy.queue { db in try await db.write { _ in } }
      let hasty = Task { try await db.write(timeout: .milliseconds(100)) { _ in ran.set() } }
      await #expect {
        try await hasty.value
      } throws: {
        guard case BoutiqueError.lockTimeout(let timeout) = $0 else { return false }
        return timeout.waited >= .milliseconds(100) && timeout.holder?.pid == getpid()
      }
      await busy.release()
      try await patient.value
      #expect(!ran.isSet)
    }
  }

  @Test func `a deadline that passes behind a program without this library names that program`()
    async throws
  {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let foreign = try Connection(path: db.path)
      try foreign.execute("BEGIN IMMEDIATE")
      await #expect {
        try await db.write(timeout: .milliseconds(200)) { _ in }
      } throws: {
        guard case BoutiqueError.lockTimeout(let timeout) = $0 else { return false }
        return timeout.holder?.isForeign == true && timeout.waited >= .milliseconds(200)
      }
      try foreign.execute("COMMIT")
      foreign.close()
      try await db.write(timeout: .seconds(600)) { _ in }
    }
  }

  @Test func `more time than usual is given where it is asked for`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.writeLockTimeout = .milliseconds(50)
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let busy = await BusyWriter(db)
      let patient = try await busy.queue { db in try await db.write(timeout: .seconds(600)) { _ in }
      }
      let usual = Task { try await db.write { _ in } }
      await #expect(throws: BoutiqueError.self) { try await usual.value }
      await busy.release()
      try await patient.value
    }
  }

  @Test(arguments: [1, 16])
  func `a statement that runs out of time is interrupted, and nobody else loses anything`(
    limit: Int
  ) async throws {
    try await withTestDatabase(
      configuration: configured(limit: limit), migrations: Self.plan
    ) { db, _ in
      let busy = await BusyWriter(db)
      let before = try await busy.queue { db in
        try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      }
      let endless = try await busy.queue { db in
        try await db.write(timeout: .seconds(5)) { conn in
          try conn.execute("INSERT INTO t VALUES (2, 'b')")
          try conn.execute(
            """
            INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n)
              SELECT i, NULL FROM n
            """)
        }
      }
      let after = try await busy.queue { db in
        try await db.write { _ = try $0.execute("INSERT INTO t VALUES (3, 'c')") }
      }
      await busy.release()
      await #expect {
        try await endless.value
      } throws: {
        guard case BoutiqueError.writeTimedOut(let timeout) = $0 else { return false }
        return timeout.path == db.path && timeout.limit == .seconds(5)
          && timeout.waited + timeout.ran >= .seconds(5) && "\($0)".contains("undone")
      }
      try await before.value
      try await after.value
      let ids = try await db.read { try $0.query("SELECT id FROM t").map { $0[0] } }
      #expect(ids == [1, 3])
    }
  }

  @Test func `a closure that runs out of time is undone when it returns`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      await #expect {
        try await db.write(timeout: .seconds(1)) { conn in
          try conn.execute("INSERT INTO t VALUES (1, 'a')")
          usleep(1_100_000)  // computes for longer than it has
        }
      } throws: {
        guard case BoutiqueError.writeTimedOut(let timeout) = $0 else { return false }
        return timeout.ran >= .seconds(1)
      }
      await #expect(throws: BoutiqueError.self) {
        try await db.write(timeout: .seconds(1)) { conn in
          usleep(1_100_000)
          try conn.checkCancellation()
        }
      }
      let count = try await db.count(of: "SELECT * FROM t")
      #expect(count == 0)
      try await db.write(timeout: .seconds(600)) { conn in
        _ = try conn.execute("INSERT INTO t VALUES (1, 'a')")
      }
    }
  }

  // SQLite asks for an interruption every so many steps of a prepared statement, all its runs together. So
  // BEGIN and each statement of the library's own are met, each once in some hundred writes.
  @Test func `a deadline that passes while the transaction begins leaves none open`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      for _ in 0..<2500 {
        do {
          try await db.write(timeout: .zero) { conn in
            _ = try conn.execute("INSERT INTO t VALUES (1, 'a')")
          }
        } catch {
          switch error {
          case BoutiqueError.writeTimedOut, BoutiqueError.lockTimeout: continue
          default: Issue.record(error)
          }
          break
        }
      }
      try await db.write { conn in _ = try conn.execute("INSERT INTO t VALUES (2, 'b')") }
      let ids = try await db.read { try $0.query("SELECT id FROM t").map { $0[0] } }
      #expect(ids == [2])
    }
  }
}
