import BoutiqueDB
import Foundation
import SQLiteConnection
import TestDatabase
import Testing

/// Where the numbers of the change log go on from, whatever is done to it.
@Suite struct NewestRowTests {
  private typealias Feed = FeedSupport

  /// What the `sqlite3` shell makes of some lines.
  private func tool(_ path: String, _ lines: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["sqlite3", "-bail", "-cmd", ".timeout 30000", path]
    let input = Pipe()
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(lines.joined(separator: "\n").utf8))
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  private func rows(_ db: BoutiqueDB) async throws -> Int64 { try await db.status().loggedCommits }

  @Test func `a commit of one row writes its page and the log's, no third`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      try await Feed.insert(1...1, into: db)
      let before = try await db.checkpoint().walFrames
      try await Feed.insert(2...2, into: db)
      let after = try await db.checkpoint().walFrames
      // A log that was moved as a whole begins anew.
      #expect(after == 2 || after == before + 2)
    }
  }

  @Test(arguments: [
    ("", ["everything", "5", "everything", "6"], ["everything", "6"]),
    (" WHERE token > 8", ["1", "2", "everything", "5", "everything", "6"], ["everything", "6"]),
    // That deletes nothing, so it is no commit.
    (
      " WHERE token = (SELECT max(token) FROM boutiquedb_cdc)",
      ["1", "2", "3", "4", "5", "6"], ["6"]
    ),
  ])
  func `a tool that empties the log leaves its newest row, and tokens go on`(
    _ condition: String, _ fromStart: [String], _ fromToken: [String]
  ) async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      let start = try await db.currentToken()
      try await Feed.insert(1...5, into: db)
      let token = try await db.currentToken()
      try Feed.foreign(db.path, "DELETE FROM boutiquedb_cdc\(condition)")
      #expect(try await db.currentToken() == token)
      // A process that never saw the former numbers.
      let other = try await BoutiqueDB.open(path: db.path)
      try await Feed.insert(6...6, into: other)
      let next = try await other.currentToken()
      #expect(next.generation == token.generation && next.number == token.number + 2)
      await other.close()
      // Who was behind is told; who was not hears of what the tool did.
      #expect(try await Feed.words(db, since: start) == fromStart)
      #expect(try await Feed.words(db, since: token) == fromToken)
    }
  }

  @Test func `a log emptied with triggers switched off is another generation`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.captureModes = ["t": .full]
    try await withTestDatabase(configuration: configuration, migrations: Feed.plan) { db, _ in
      try await Feed.insert(1...5, into: db)
      let token = try await db.currentToken()
      try tool(db.path, ".dbconfig enable_trigger off", "DELETE FROM boutiquedb_cdc;")
      #expect(try await Feed.words(db, since: token) == ["everything"])
      // What is rolled back has not begun it.
      await #expect(throws: CancellationError.self) {
        try await db.write { _ in throw CancellationError() }
      }
      try await Feed.insert(6...9, into: db)
      let next = try await db.currentToken()
      #expect(next.generation != token.generation)
      #expect(try await Feed.words(db, since: token) == ["everything"])
      #expect(try await Feed.words(db, since: next) == [])
      // Rows of the former history do not belong to the new numbers.
      #expect(try await db.count(of: "SELECT * FROM boutiquedb_image") == 4)
      // And once is enough.
      try await Feed.insert(10...10, into: db)
      #expect(try await db.currentToken().generation == next.generation)
    }
  }

  @Test func `a token from before the first commit lives through it`() async throws {
    try await withTestDatabase { db, _ in
      let token = try await db.currentToken()
      #expect(token.number == 0)
      try await db.write { _ = try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v)") }
      try await Feed.insert(1...1, into: db)
      let now = try await db.currentToken()
      #expect(now.generation == token.generation)
      #expect(try await Feed.words(db, since: token) == ["other", "1"])
    }
  }

  @Test func `the guard of the newest row is made again when a tool drops it`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      try await Feed.insert(1...2, into: db)
      try Feed.foreign(db.path, "DROP TRIGGER boutiquedb_keep")
      try await Feed.insert(3...3, into: db)
      let token = try await db.currentToken()
      try Feed.foreign(db.path, "DELETE FROM boutiquedb_cdc")
      #expect(try await rows(db) == 1)
      // It is the library's: a closure can neither drop it nor make one of its name.
      for sql in [
        "DROP TRIGGER boutiquedb_keep",
        "CREATE TRIGGER boutiquedb_keep AFTER INSERT ON t BEGIN SELECT 1; END",
      ] {
        await #expect(throws: BoutiqueError.self) {
          try await db.write { _ = try $0.execute(sql) }
        }
      }
      try await db.erase()
      try Feed.foreign(db.path, "DELETE FROM boutiquedb_cdc")
      #expect(try await rows(db) == 1)
      #expect(try await db.currentToken().generation == token.generation)
    }
  }

  @Test func `numbers go on after VACUUM, by us and by a tool`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      try await Feed.insert(1...3, into: db)
      let token = try await db.currentToken()
      try await db.vacuum()
      try await Feed.insert(4...4, into: db)
      #expect(try await db.currentToken().number == token.number + 2)
      try Feed.foreign(db.path, "VACUUM")
      try await Feed.insert(5...5, into: db)
      let now = try await db.currentToken()
      #expect(now.number == token.number + 4 && now.generation == token.generation)
      #expect(try await Feed.words(db, since: token).last == "5")
    }
  }

  @Test func `a restored backup goes on from its own numbers and is taken for no other`()
    async throws
  {
    try await withTestDatabase(migrations: Feed.plan) { db, directory in
      try await Feed.insert(1...2, into: db)
      let shared = try await db.currentToken()
      let copy = URL(filePath: directory.file("copy.db"))
      try await db.backup(to: copy)
      try await Feed.insert(3...3, into: db)
      let later = try await db.currentToken()
      let restored = try await BoutiqueDB.open(path: copy.path())
      #expect(try await restored.currentToken().number == shared.number)
      try await Feed.insert(4...4, into: restored)
      #expect(try await restored.currentToken().number == shared.number + 2)
      // Its other history: a token of ours says nothing there, even where the number is the same.
      #expect(try await Feed.words(restored, since: later) == ["everything"])
      await restored.close()
    }
  }

  @Test func `commits without changes that share a row leave the newest in place`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      _ = try await Feed.consume(db, "mirror")
      try await Feed.insert(1...20, into: db)
      let before = try await rows(db)
      #expect(try await Feed.consume(db, "mirror").count == 20)
      #expect(try await rows(db) <= before + 2)
      let token = try await db.currentToken()
      try await Feed.insert(21...21, into: db)
      #expect(try await db.currentToken().number == token.number + 2)
      #expect(try await Feed.words(db, since: token) == ["21"])
    }
  }

  // MARK: Files and programs of former versions

  @Test func `a file of a former version keeps its sequence and goes by it`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    try tool(path, CaptureUpgradeTests.first)
    let db = try await BoutiqueDB.open(path: path)
    try await db.write { _ = try $0.execute("INSERT INTO t VALUES (2, 'new')") }
    let token = try await db.currentToken()
    #expect(token.generation == "abc" && token.number == 4)
    try Feed.foreign(path, "DELETE FROM boutiquedb_cdc")
    #expect(try await rows(db) == 0)
    try await db.write { _ = try $0.execute("INSERT INTO t VALUES (3, 'newer')") }
    let next = try await db.currentToken()
    #expect(next.generation == "abc" && next.number == 6)
    #expect(try await Feed.words(db, since: token) == ["everything", "3"])
    await db.close()
    try await TestDatabaseCheck.isWhole(path: path)
  }

  @Test func `what former versions ask for the newest token can be answered`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      try await Feed.insert(1...3, into: db)
      let number = try await db.currentToken().number
      let connection = try Connection(path: db.path)
      defer { connection.close() }
      #expect(
        try connection.queryInt64(
          """
          SELECT max(coalesce((SELECT token FROM boutiquedb_cdc ORDER BY token DESC LIMIT 1), 0),
                     coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'boutiquedb_cdc'), 0))
          """) == number)
    }
  }

  @Test func `a row that a former version could not take away changes nothing`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      try await Feed.insert(1...1, into: db)
      let start = try await db.currentToken()
      _ = try await Feed.consume(db, "mirror")
      let empty = try await db.currentToken()
      // A former version deletes the row of a commit without changes, then adds one for both.
      try Feed.foreign(
        db.path, "BEGIN IMMEDIATE",
        "DELETE FROM boutiquedb_cdc WHERE token = \(empty.number)",
        """
        INSERT INTO boutiquedb_cdc
            (token, first, time, origin, counter_before, counter_after, tables, changes, continuity)
          SELECT token + 1, first, time, origin, counter_before, counter_after + 1, tables, changes,
            continuity
          FROM boutiquedb_cdc WHERE token = \(empty.number)
        """,
        "COMMIT")
      try await Feed.insert(2...2, into: db)
      #expect(try await Feed.words(db, since: start) == ["2"])
      #expect(try await Feed.words(db, since: empty) == ["2"])
    }
  }

  @Test func `a file without any sequence has its newest token all the same`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    try tool(
      path, CaptureUpgradeTests.first.replacingOccurrences(of: " AUTOINCREMENT", with: ""))
    let db = try await BoutiqueDB.open(path: path)
    #expect(try await db.currentToken().number == 2)
    try await db.write { _ = try $0.execute("INSERT INTO t VALUES (2, 'new')") }
    #expect(try await db.currentToken().number == 4)
    await db.close()
  }
}
