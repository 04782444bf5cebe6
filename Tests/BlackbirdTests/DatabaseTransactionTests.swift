import Blackbird
import BoutiqueDB
import TestDatabase
import Testing

/// What a user's code may throw.
private struct Stop: Error, Equatable {}

/// A function as users write them, for the inside of transactions.
private func insert(
  _ title: String, core: isolated Blackbird.Database.Core
) throws -> Int64? {
  try core.query("INSERT INTO posts (title) VALUES (?)", title)
  return try core.query("SELECT last_insert_rowid() AS id").first?["id"]?.int64Value
}

@Suite struct DatabaseTransactionTests {
  @Test func `a transaction gives what its closure returns and commits`() async throws {
    try await withPosts { db in
      let id = try await db.transaction { core in try insert("Four", core: core) }
      #expect(id == 4)
      #expect(try await db.query("SELECT title FROM posts WHERE id = 4") == [["title": "Four"]])
    }
  }

  @Test func `an error undoes everything, arrives as it was thrown, and leaves no transaction`()
    async throws
  {
    let directory = try TestDirectory()
    let db = try await Blackbird.Database.open(path: directory.file("app.db"))
    try await db.execute("CREATE TABLE t (a)")
    await #expect(throws: Stop()) {
      try await db.transaction { core in
        try core.query("INSERT INTO t VALUES (1)")
        throw Stop()
      }
    }
    try await db.query("INSERT INTO t VALUES (2)")
    await db.close()
    let other = try await BoutiqueDB.open(path: directory.file("app.db"))
    let rows = try await other.read { try $0.query("SELECT a FROM t").map(\.values) }
    #expect(rows == [[.integer(2)]])
    await other.close()
  }

  @Test func `a cancelled transaction is rolled back without an error, a full one committed`()
    async throws
  {
    try await withPosts { db in
      let kept = try await db.cancellableTransaction { core in
        try core.query("UPDATE posts SET title = 'A' WHERE id = 1")
        return 7
      }
      guard case .committed(7) = kept else {
        Issue.record("\(kept)")
        return
      }
      let undone = try await db.cancellableTransaction { core -> Int in
        try core.query("UPDATE posts SET title = 'B' WHERE id = 1")
        throw Blackbird.Error.cancelTransaction
      }
      guard case .rolledBack = undone else {
        Issue.record("\(undone)")
        return
      }
      #expect(try await db.query("SELECT title FROM posts WHERE id = 1") == [["title": "A"]])
      await #expect(throws: Stop()) {
        try await db.cancellableTransaction { core in
          try core.query("DELETE FROM posts")
          throw Stop()
        }
      }
      await #expect(throws: Blackbird.Error.self) {
        try await db.transaction { _ in throw Blackbird.Error.cancelTransaction }
      }
      #expect(try await db.query("SELECT count(*) AS n FROM posts") == [["n": 3]])
    }
  }

  @Test func `parts of a transaction are undone by themselves`() async throws {
    try await withPosts { db in
      try await db.transaction { core in
        try core.query("INSERT INTO posts VALUES (10, 'ten', 0)")
        let part = try core.cancellableTransaction { core in
          _ = try insert("gone", core: core)
          try core.transaction { core in _ = try insert("gone too", core: core) }
          throw Blackbird.Error.cancelTransaction
        }
        guard case .rolledBack = part else { throw Stop() }
        try? core.transaction { core in
          _ = try insert("gone as well", core: core)
          throw Stop()
        }
        try core.transaction { core in _ = try insert("kept", core: core) }
      }
      let rows = try await db.query("SELECT title FROM posts WHERE id > 3 ORDER BY id")
      #expect(rows == [["title": "ten"], ["title": "kept"]])
    }
  }

  @Test func `a failed statement that is caught leaves the rest of the transaction`() async throws {
    try await withPosts { db in
      try await db.transaction { core in
        try core.query("INSERT INTO posts VALUES (10, 'ten', 0)")
        do {
          try core.query("INSERT INTO posts VALUES (1, 'again', 0)")
        } catch Blackbird.Database.Error.uniqueConstraintFailed {}
        try core.execute("UPDATE posts SET state = 5; UPDATE posts SET state = 6 WHERE id = 10")
      }
      let rows = try await db.query("SELECT count(*) AS n FROM posts WHERE state IN (5, 6)")
      #expect(rows == [["n": 4]])
    }
  }

  @Test func `a core is of no use outside its closure`() async throws {
    try await withPosts { db in
      let escaped = try await db.transaction { core -> Blackbird.Database.Core in core }
      await #expect(throws: Blackbird.Database.Error.self) {
        try await escaped.query("DELETE FROM posts")
      }
      #expect(try await db.query("SELECT count(*) AS n FROM posts") == [["n": 3]])
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func `a thousand concurrent transactions all commit`() async throws {
    let directory = try TestDirectory()
    let db = try await Blackbird.Database.open(path: directory.file("app.db"))
    try await db.execute(
      "CREATE TABLE t (n INTEGER PRIMARY KEY); CREATE TABLE c (n); INSERT INTO c VALUES (0)")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<1000 {
        group.addTask {
          try await db.transaction { core in
            try core.query("INSERT INTO t VALUES (?)", number)
            let before = try core.query("SELECT n FROM c").first?["n"]?.intValue ?? -1
            try core.query("UPDATE c SET n = ?", before + 1)
          }
        }
      }
      try await group.waitForAll()
    }
    let rows = try await db.query("SELECT (SELECT count(*) FROM t) AS rows, n FROM c")
    #expect(rows == [["rows": 1000, "n": 1000]])
    await db.close()
  }
}
