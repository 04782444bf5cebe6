import Blackbird
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// Runs a test with a new database in memory that has a table of posts.
func withPosts(_ body: (Blackbird.Database) async throws -> Void) async throws {
  let database = try Blackbird.Database.inMemoryDatabase()
  try await database.execute(
    """
    CREATE TABLE posts (id INTEGER PRIMARY KEY, title TEXT NOT NULL, state INTEGER);
    INSERT INTO posts VALUES (1, 'Sports', 1), (2, 'News', 1), (3, 'Weather', NULL);
    """)
  try await body(database)
  await database.close()
}

@Suite struct DatabaseQueryTests {
  @Test func `every way of giving values finds the same rows`() async throws {
    try await withPosts { db in
      let literal = try await db.query("SELECT id FROM posts WHERE state = 1 AND title = 'News'")
      let placed = try await db.query(
        "SELECT id FROM posts WHERE state = ? AND title = ?", 1, "News")
      let list = try await db.query(
        "SELECT id FROM posts WHERE state = ? AND title = ?", arguments: [1, "News"])
      let named = try await db.query(
        "SELECT id FROM posts WHERE state = :state AND title = @title",
        arguments: [":state": 1, "@title": "News"])
      let bare = try await db.query(
        "SELECT id FROM posts WHERE state = $state AND title = :title",
        arguments: ["state": 1, "title": "News"])
      let typedList: [any Sendable] = [1, "News"]
      let typedNames: [String: any Sendable] = [":state": 1, ":title": "News"]
      let byList = try await db.query(
        "SELECT id FROM posts WHERE state = ? AND title = ?", arguments: typedList)
      let byNames = try await db.query(
        "SELECT id FROM posts WHERE state = :state AND title = :title", arguments: typedNames)
      #expect(byList == literal && byNames == literal)
      #expect(literal == [["id": 2]])
      for rows in [placed, list, named, bare] { #expect(rows == literal) }
    }
  }

  @Test func `values of many types, nil and optionals are stored as what they are`() async throws {
    try await withPosts { db in
      let date = Date(timeIntervalSince1970: 1_700_000_000.25)
      let id = try #require(UUID(uuidString: "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"))
      let missing: String? = nil
      let present: Int? = 5
      let rows = try await db.query(
        "SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e, ? AS f, ? AS g, ? AS h, ? AS i",
        nil, missing, present, true, Float(0.5), date, URL(string: "https://example.org/a?b=c"),
        Data([1, 2]), id)
      #expect(
        rows == [
          [
            "a": nil, "b": nil, "c": 5, "d": 1, "e": 0.5, "f": 1_700_000_000.25,
            "g": "https://example.org/a?b=c", "h": .data(Data([1, 2])),
            "i": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
          ]
        ])
    }
  }

  @Test func `a statement that only reads is run beside a write that takes long`() async throws {
    let directory = try TestDirectory()
    let db = try await Blackbird.Database.open(path: directory.file("app.db"))
    try await db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    let gate = Blackbird.Locked(false)
    let (entered, enter) = AsyncStream.makeStream(of: Void.self)
    let writing = Task {
      try await db.transaction { core in
        try core.query("UPDATE t SET a = 2")
        enter.yield()
        // On the database's own thread.
        let clock = ContinuousClock()
        let end = clock.now + .seconds(30)
        while !gate.value, clock.now < end { usleep(1000) }
      }
    }
    for await _ in entered { break }
    for sql in [
      "SELECT a FROM t", "  -- why\n /* and */ select a from t",
      "WITH x AS (SELECT a FROM t) SELECT a FROM x", "VALUES (1)", "PRAGMA user_version",
    ] {
      let rows = try await db.query(sql)
      #expect(rows.first?.values.first != 2, "\(sql)")
    }
    #expect(!gate.value)
    gate.value = true
    try await writing.value
    #expect(try await db.query("SELECT a FROM t") == [["a": 2]])
    await db.close()
  }

  @Test func `query writes as well, whatever the statement begins with`() async throws {
    try await withPosts { db in
      let added = try await db.query("INSERT INTO posts VALUES (4, 'Art', 2) RETURNING id")
      #expect(added == [["id": 4]])
      try await db.query("WITH x AS (SELECT 5 AS n) INSERT INTO posts SELECT n, 'Five', 1 FROM x")
      try await db.query("PRAGMA user_version = 12")
      #expect(try await db.query("SELECT count(*) AS n FROM posts") == [["n": 5]])
      #expect(try await db.query("PRAGMA user_version").first?.values.first == 12)
    }
  }

  @Test func `execute runs many statements as one transaction`() async throws {
    try await withPosts { db in
      try await db.execute("PRAGMA user_version = 1; UPDATE posts SET state = 9; ;")
      #expect(try await db.query("SELECT DISTINCT state FROM posts") == [["state": 9]])
      _ = try await databaseError {
        try await db.execute("DELETE FROM posts; INSERT INTO nosuch VALUES (1)")
      }
      #expect(try await db.query("SELECT count(*) AS n FROM posts") == [["n": 3]])
      try await db.execute("VACUUM;")
    }
  }

  @Test func `wrong values are refused before anything runs`() async throws {
    try await withPosts { db in
      let unstorable = try await databaseError {
        try await db.query("DELETE FROM posts WHERE id = ?", UInt64.max)
      }
      guard case .queryArgumentValueError(let query, let text) = unstorable else {
        Issue.record("\(String(describing: unstorable))")
        return
      }
      #expect(query.hasPrefix("DELETE") && text.contains("UInt64"))
      let count = try await databaseError { try await db.query("DELETE FROM posts WHERE id = ?") }
      guard case .queryArgumentValueError = count else {
        Issue.record("\(String(describing: count))")
        return
      }
      let nan = try await databaseError { try await db.query("SELECT ?", Double.nan) }
      guard case .queryArgumentValueError = nan else {
        Issue.record("\(String(describing: nan))")
        return
      }
      for arguments in [[":idd": 1], [:]] as [[String: Int]] {
        let name = try await databaseError {
          try await db.query("DELETE FROM posts WHERE id = :id", arguments: arguments)
        }
        guard case .queryArgumentNameError(_, let named, let text) = name else {
          Issue.record("\(String(describing: name))")
          return
        }
        #expect(named == (arguments.isEmpty ? ":id" : ":idd"))
        #expect(text.contains("no value given for :id"), "\(text)")
      }
      #expect(try await db.query("SELECT count(*) AS n FROM posts") == [["n": 3]])
    }
  }

  @Test func `statements that are the library's own are refused with the way to go`() async throws {
    try await withPosts { db in
      for sql in ["BEGIN", "ROLLBACK", "ATTACH ':memory:' AS x", "PRAGMA journal_mode = DELETE"] {
        let error = try await databaseError { try await db.execute(sql) }
        guard case .queryError(_, let details) = error,
          case .statementRefused = details.underlying
        else {
          Issue.record("\(sql): \(String(describing: error))")
          continue
        }
      }
      let two = try await databaseError { try await db.query("SELECT 1; SELECT 2") }
      guard case .queryError = two else {
        Issue.record("\(String(describing: two))")
        return
      }
    }
  }

  @Test func `an artificial delay is waited for and can be cancelled`() async throws {
    try await withPosts { db in
      await db.setArtificialQueryDelay(3600)
      let waiting = Task { try await db.query("SELECT 1") }
      waiting.cancel()
      let ended = await waiting.result
      #expect(throws: CancellationError.self) { try ended.get() }
      await db.setArtificialQueryDelay(nil)
      let rows = try await db.query("SELECT 1 AS one")
      #expect(rows == [["one": 1]])
    }
  }
}
