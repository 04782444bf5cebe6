import BoutiqueDB
import Foundation
import Synchronization
import TestDatabase
import Testing

@Suite struct TransactionTests {
  static let plan = BoutiqueMigrationPlan {
    BoutiqueMigration("v1") { conn in
      try conn.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE)")
    }
  }

  @Test func `a write returns its value and is there for a read`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let id = try await db.write { conn in
        try conn.execute("INSERT INTO t (v) VALUES (?)", "one")
        return conn.lastInsertedRowID
      }
      #expect(id == 1)
      let rows = try await db.read { try $0.query("SELECT id, v FROM t") }
      #expect(rows.map(\.values) == [[.integer(1), .text("one")]])
      #expect(try rows[0].decode("v", as: String.self) == "one")
    }
  }

  @Test func `a thrown error leaves nothing behind`() async throws {
    struct Stop: Error {}
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let before = try await db.currentToken()
      await #expect(throws: Stop.self) {
        try await db.write { conn in
          try conn.execute("INSERT INTO t (v) VALUES ('x')")
          throw Stop()
        }
      }
      #expect(try await db.count(of: "SELECT * FROM t") == 0)
      #expect(try await db.currentToken() == before)
    }
  }

  @Test func `a read cannot write`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      await #expect {
        try await db.read { try $0.execute("INSERT INTO t (v) VALUES ('x')") }
      } throws: { error in
        if case BoutiqueError.writeInRead = error { true } else { false }
      }
    }
  }

  @Test(arguments: [
    "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "ATTACH ':memory:' AS other",
    "PRAGMA journal_mode = DELETE", "VACUUM",
  ])
  func `statements that the library runs itself are refused`(sql: String) async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      await #expect {
        try await db.write { conn in
          try conn.execute("INSERT INTO t (v) VALUES ('kept')")
          _ = try conn.execute(sql)
        }
      } throws: { error in
        if case BoutiqueError.statementRefused = error { true } else { false }
      }
      let rows = try await db.read { try $0.query("SELECT * FROM t") }
      #expect(rows.isEmpty)
    }
  }

  @Test func `a refused setting has not taken effect`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      for sql in ["PRAGMA locking_mode = EXCLUSIVE", "PRAGMA wal_autocheckpoint(5)"] {
        for isScript in [true, false] {
          await #expect(throws: BoutiqueError.self) {
            try await db.write { conn in
              if isScript { try conn.executeScript(sql) } else { try conn.execute(sql) }
            }
          }
        }
      }
      let settings = try await db.write { conn in
        try ["locking_mode", "wal_autocheckpoint"].map { try conn.query("PRAGMA \($0)")[0][0] }
      }
      #expect(settings == [.text("normal"), .integer(0)])
    }
  }

  @Test func `a savepoint that throws takes its own changes along and no others`() async throws {
    struct Stop: Error {}
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      try await db.write { conn in
        try conn.execute("INSERT INTO t VALUES (1, 'outer')")
        try? conn.savepoint {
          try conn.execute("INSERT INTO t VALUES (2, 'inner')")
          throw Stop()
        }
        try conn.savepoint { _ = try conn.execute("INSERT INTO t VALUES (3, 'kept')") }
      }
      #expect(
        try await db.read { try $0.query("SELECT id FROM t").map { $0[0] } } == [
          .integer(1), .integer(3),
        ])
    }
  }

  private final class Outcome: Sendable {
    let text = Mutex("")
  }

  @Test func `a write started inside a write is refused, not deadlocked`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let outcome = Outcome()
      try await db.write { conn in
        let done = DispatchSemaphore(value: 0)
        Task { @Sendable in
          do {
            try await db.write { _ in }
            outcome.text.withLock { $0 = "ran" }
          } catch BoutiqueError.transactionInProgress {
            outcome.text.withLock { $0 = "refused" }
          } catch {
            outcome.text.withLock { $0 = "\(error)" }
          }
          done.signal()
        }
        done.wait()
      }
      #expect(outcome.text.withLock { $0 } == "refused")
    }
  }

  @Test func `a connection that escapes its closure is dead`() async throws {
    final class Box: @unchecked Sendable {  // Only touched by closures that run one after another.
      var connection: BoutiqueConnection?
    }
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let box = Box()
      try await db.write { box.connection = $0 }
      try await db.write { _ in
        #expect(throws: BoutiqueError.self) { try box.connection?.query("SELECT 1") }
      }
    }
  }

  @Test func `wrong arguments are errors`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      for (sql, arguments) in [
        ("SELECT ?", []), ("SELECT ?", [1, 2]), ("SELECT 1; SELECT 2", []), ("", []),
      ] as [(String, [Int])] {
        await #expect(throws: BoutiqueError.self, "\(sql)") {
          try await db.read { try $0.query(sql, arguments: arguments) }
        }
      }
      await #expect(throws: BoutiqueError.self) {
        try await db.read { try $0.query("SELECT :a", named: ["b": 1]) }
      }
      await #expect(throws: BoutiqueError.self) {
        try await db.read { try $0.query("SELECT :a, :b", named: ["a": 1]) }
      }
      let rows = try await db.read { try $0.query("SELECT :a", named: ["a": 1]) }
      #expect(rows[0][0] == .integer(1))
    }
  }

  @Test func `many tasks write at once and none is lost`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, '0')") }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<200 {
          group.addTask {
            try await db.write { conn in
              _ = try conn.execute("UPDATE t SET v = CAST(v AS INTEGER) + 1 WHERE id = 1")
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await db.read { try $0.query("SELECT v FROM t")[0][0] } == .text("200"))
    }
  }

  @Test func `a database in memory works alone`() async throws {
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL(), migrations: Self.plan)
    try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
    #expect(try await db.read { try $0.query("SELECT v FROM t")[0][0] } == .text("a"))
    await #expect(throws: BoutiqueError.self) {
      try await db.read { try $0.execute("DELETE FROM t") }
    }
    var values = db.observe { try $0.query("SELECT count(*) FROM t")[0].decode(0, as: Int.self) }
      .makeAsyncIterator()
    #expect(try await values.next() == 1)
    try await db.write { _ = try $0.execute("INSERT INTO t VALUES (2, 'b')") }
    #expect(try await values.next() == 2)
    await db.close()
  }
}
