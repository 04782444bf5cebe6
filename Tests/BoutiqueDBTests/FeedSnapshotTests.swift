import BoutiqueDB
import Foundation
import ProcessHarness
import Synchronization
import TestDatabase
import Testing

/// A snapshot together with what was committed before it.
@Suite(.timeLimit(.minutes(2))) struct FeedSnapshotTests {
  private static let plan = BoutiqueMigrationPlan {
    BoutiqueMigration("v1") {
      try $0.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)")
    }
  }

  private func insert(_ name: String, _ db: BoutiqueDB) async throws {
    try await db.write { try $0.execute("INSERT INTO item (name) VALUES (?)", name) }
  }

  /// What a copy of the table is told.
  private struct Look: Sendable {
    var changes: [BoutiqueChange]
    var count: Int
    var token: ChangeToken
  }

  private func look(
    _ db: BoutiqueDB, _ token: ChangeToken?, limit: Int = 100
  ) async throws -> Look {
    try await db.read(since: token, atMost: limit) { connection, recent in
      Look(
        changes: recent.changes, count: try connection.query("SELECT id FROM item").count,
        token: recent.token)
    }
  }

  @Test func `more than the limit, a token of another file, and a tool are everything`()
    async throws
  {
    try await withTestDatabase(migrations: Self.plan) { db, directory in
      let start = try await look(db, nil).token
      for number in 0..<5 { try await insert("\(number)", db) }
      #expect(try await look(db, start, limit: 6).changes.count == 5)
      let many = try await look(db, start, limit: 3)
      #expect(many.changes.map(\.isEverything) == [true] && many.count == 5)
      #expect(try await look(db, many.token).changes.isEmpty)
      let other = ChangeToken(generation: "another", number: 1)
      #expect(try await look(db, other).changes.map(\.isEverything) == [true])
      try await withChildProcesses { children in
        let shell = try await children.start(
          ChildCommand(
            "sqlite3", [directory.file("test.db"), "INSERT INTO item (name) VALUES ('tool')"]))
        #expect(try await shell.exit() == .exited(0))
      }
      let foreign = try await look(db, many.token)
      #expect(foreign.changes.map(\.isEverything) == [true] && foreign.count == 6)
      #expect(try await look(db, foreign.token).changes.isEmpty)
    }
  }

  @Test func `what is told is what the snapshot holds, while others write`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, directory in
      // A second open database is another process for the first.
      let other = try await BoutiqueDB.open(path: directory.file("test.db"), migrations: Self.plan)
      let isDone = Atomic(false)
      let writing = Task {
        for number in 0..<600 {
          try await other.write { conn in
            // Two rows in one commit: a copy has both or none.
            try conn.execute("INSERT INTO item (name) VALUES (?)", "\(number)")
            try conn.execute("INSERT INTO item (name) VALUES (?)", "\(number)")
          }
        }
        isDone.store(true, ordering: .releasing)
      }
      var (copy, token) = try await db.read(since: nil) { conn, recent in
        (
          Set(try conn.query("SELECT id FROM item").map { try $0.decode(0, as: Int64.self) }),
          recent.token
        )
      }
      var looks = 0
      while true {
        let wasDone = isDone.load(ordering: .acquiring)
        let (found, now) = try await db.read(since: token) { conn, recent in
          let found = (
            recent.changes.flatMap {
              $0.rows.compactMap { row -> Int64? in
                if case .integer(let id) = row.key.first { id } else { nil }
              }
            },
            try conn.query("SELECT id FROM item").map { try $0.decode(0, as: Int64.self) },
            recent.changes.contains(where: \.isEverything)
          )
          return (found, recent.token)
        }
        #expect(!found.2)
        copy.formUnion(found.0)
        guard copy == Set(found.1) else {
          Issue.record("\(copy.count) in the copy, \(found.1.count) in the table")
          break
        }
        token = now
        looks += 1
        if wasDone { break }
      }
      try await writing.value
      #expect(looks > 1 && copy.count == 1200)
      await other.close()
    }
  }
}
