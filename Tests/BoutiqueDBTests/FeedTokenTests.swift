import BoutiqueDB
import Foundation
import SQLiteConnection
import TestDatabase
import Testing

/// What a token is worth when a feed goes on from it.
@Suite(.serialized) struct FeedTokenTests {
  private typealias Feed = FeedSupport

  @Test func `a token keeps what it knows in its text and in JSON`() throws {
    let token = ChangeToken(generation: "0a", number: 4, stamp: 7, counter: 9, continuity: 11)
    #expect(token.description == "0a-4-7-9-11")
    let again = try #require(ChangeToken(token.description))
    #expect(again == token && again.counter == 9 && again.continuity == 11)
    let data = try JSONEncoder().encode(token)
    let decoded = try JSONDecoder().decode(ChangeToken.self, from: data)
    #expect(decoded == token && decoded.counter == 9 && decoded.continuity == 11)
    // What an earlier version stored.
    let old = try JSONDecoder().decode(
      ChangeToken.self, from: Data(#"{"generation":"0a","number":4,"stamp":7}"#.utf8))
    #expect(old == token && old.counter == nil)
    #expect(ChangeToken("0a-4-7") == token)
    // A database in memory has no counter.
    #expect(ChangeToken("0a-4-7--1")?.continuity == 1)
    for text in [
      "a-1-2-3", "a-1-2-3-", "a-1-2-x-4", "a-1-2-3-0", "a-1-2-3-4-5", "a-1-2-9999999999-1",
    ] {
      #expect(ChangeToken(text) == nil, "\(text)")
    }
  }

  @Test func `a token taken before any commit of the session resumes without a refresh`()
    async throws
  {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    // Left by a program without this library, so that nothing is known of before.
    try await BoutiqueDB.open(path: path, migrations: Feed.plan).close()
    try Feed.foreign(path, "INSERT INTO t VALUES (100, 'f')")
    let db = try await BoutiqueDB.open(path: path, migrations: Feed.plan)
    let token = try await db.currentToken()
    #expect(try await Feed.words(db, since: token) == [])
    try await Feed.insert(1...2, into: db)
    #expect(try await Feed.words(db, since: token) == ["1", "2"])
    let text = try #require(ChangeToken(token.description))
    #expect(try await Feed.words(db, since: text) == ["1", "2"])
    // Without what it knows it cannot be told apart from one of before the foreign commit.
    let bare = ChangeToken(
      generation: token.generation, number: token.number, stamp: token.stamp)
    #expect(try await Feed.words(db, since: bare) == ["everything", "1", "2"])
    await db.close()
  }

  @Test
  func `a token taken after a foreign commit resumes without a refresh, and misses no later one`()
    async throws
  {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      try await Feed.insert(1...1, into: db)
      try Feed.foreign(db.path, "INSERT INTO t VALUES (50, 'f')")
      let token = try await db.currentToken()
      #expect(try await Feed.words(db, since: token) == [])
      try await Feed.insert(2...2, into: db)
      #expect(try await Feed.words(db, since: token) == ["2"])
      try Feed.foreign(db.path, "INSERT INTO t VALUES (51, 'f')")
      #expect(try await Feed.words(db, since: token) == ["2", "everything"])
      try await Feed.insert(3...3, into: db)
      #expect(try await Feed.words(db, since: token) == ["2", "everything", "3"])
    }
  }

  @Test func `the token of an everything resumes behind it`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.cdcRetention = .init(rows: 16, age: .seconds(3600))
    try await withTestDatabase(configuration: configuration, migrations: Feed.plan) { db, _ in
      let start = try await db.currentToken()
      try await Feed.insert(1...100, into: db)
      // Of a part that was pruned.
      var feed = db.changes(since: start).makeAsyncIterator()
      let gap = try #require(try await feed.next())
      #expect(gap.isEverything)
      let next = Feed.word(try await feed.next())
      #expect(try await Feed.words(db, since: gap.token).first == next)
      // Of a foreign commit.
      let before = try await db.currentToken()
      try Feed.foreign(db.path, "INSERT INTO t VALUES (1000, 'f')")
      try await Feed.insert(101...101, into: db)
      var second = db.changes(since: before).makeAsyncIterator()
      let foreign = try #require(try await second.next())
      #expect(foreign.isEverything)
      #expect(try await Feed.words(db, since: foreign.token) == ["101"])
      // Of another generation.
      var third = db.changes(since: ChangeToken(generation: "other", number: 1)).makeAsyncIterator()
      let other = try #require(try await third.next())
      #expect(other.isEverything)
      #expect(try await Feed.words(db, since: other.token) == [])
    }
  }

  // MARK: From session to session

  @Test func `over sessions with nobody between a feed resumes without a refresh`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    var db = try await BoutiqueDB.open(path: path, migrations: Feed.plan)
    let first = try await db.currentToken()
    try await Feed.insert(1...2, into: db)
    let token = try await db.currentToken()
    await db.close()
    // Sessions without a commit, and one that is only read by another program.
    for _ in 0..<2 { try await BoutiqueDB.open(path: path, migrations: Feed.plan).close() }
    let reader = try Connection(path: path)
    _ = try reader.queryInt64("SELECT count(*) FROM t")
    reader.close()
    db = try await BoutiqueDB.open(path: path, migrations: Feed.plan)
    #expect(try await Feed.words(db, since: token) == [])
    try await Feed.insert(3...3, into: db)
    #expect(try await Feed.words(db, since: token) == ["3"])
    #expect(try await Feed.words(db, since: first) == ["1", "2", "3"])
    await db.close()
    // Another one, so that there are two seams in the log.
    db = try await BoutiqueDB.open(path: path, migrations: Feed.plan)
    try await Feed.insert(4...4, into: db)
    #expect(try await Feed.words(db, since: token) == ["3", "4"])
    await db.close()
    // A reader without a slot, with nobody there to vouch.
    var configuration = BoutiqueConfiguration()
    configuration.readOnly = true
    db = try await BoutiqueDB.open(path: path, configuration: configuration)
    #expect(try await Feed.words(db, since: token) == ["3", "4"])
    await db.close()
  }

  @Test func `what is changed between two sessions is never missed`() async throws {
    let changes: [(String, (String) throws -> Void)] = [
      ("a commit", { try FeedSupport.foreign($0, "UPDATE t SET v = 'f' WHERE id = 1") }),
      (
        "a commit by a program that does not come to its end",
        { path in
          let foreign = try Connection(path: path)
          try foreign.execute("UPDATE t SET v = 'g' WHERE id = 1")
          foreign.checkpointsOnClose = false
          foreign.close()
        }
      ),
      (
        "a commit with a rollback journal",
        { path in
          try FeedSupport.foreign(
            path, "PRAGMA journal_mode = DELETE", "UPDATE t SET v = 'h' WHERE id = 1",
            "PRAGMA journal_mode = WAL")
        }
      ),
      (
        "a restored backup",
        { path in
          try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
          try FileManager.default.removeItem(atPath: path)
          try FileManager.default.moveItem(atPath: path + ".copy", toPath: path)
        }
      ),
    ]
    for round in 0..<5 {
      for (name, change) in changes {
        let directory = try TestDirectory()
        let path = directory.file("t.db")
        var db = try await BoutiqueDB.open(path: path, migrations: Feed.plan)
        try await Feed.insert(1...2, into: db)
        let token = try await db.currentToken()
        await db.close()
        // At once: as near as can be to what was noted.
        try change(path)
        db = try await BoutiqueDB.open(path: path, migrations: Feed.plan)
        if round % 2 == 0 { try await Feed.insert(3...3, into: db) }
        #expect(try await Feed.words(db, since: token).first == "everything", "\(name) \(round)")
        await db.close()
      }
    }
  }

  @Test func `a commit beside the last one to leave is not missed`() async throws {
    for round in 0..<20 {
      let directory = try TestDirectory()
      let path = directory.file("t.db")
      var db = try await BoutiqueDB.open(path: path, migrations: Feed.plan)
      try await Feed.insert(1...1, into: db)
      let token = try await db.currentToken()
      let closing = db
      async let closed: Void = closing.close()
      let foreign = try Connection(path: path)
      foreign.setBusyHandler(FeedSupport.patience)
      try foreign.execute("INSERT INTO t VALUES (\(100 + round), 'f')")
      await closed
      if round % 2 == 0 { foreign.close() }
      db = try await BoutiqueDB.open(path: path, migrations: Feed.plan)
      #expect(try await Feed.words(db, since: token) == ["everything"], "\(round)")
      await db.close()
      if round % 2 == 1 { foreign.close() }
    }
  }

  // MARK: The ends of the log

  @Test func `a feed that does not follow ends at the present, foreign commits included`()
    async throws
  {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      let oldest = try await db.oldestToken()
      try await Feed.insert(1...600, into: db)
      let all = try await Feed.words(db, since: oldest)
      #expect(all.suffix(600) == (1...600).map(String.init)[...])
      #expect(!all.contains("everything"))
      let token = try await db.currentToken()
      try Feed.foreign(db.path, "INSERT INTO t VALUES (1000, 'f')")
      #expect(try await Feed.words(db, since: token) == ["everything"])
      #expect(try await Feed.words(db, since: nil) == [])
    }
  }

  @Test func `in memory a token needs no refresh`() async throws {
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL(), migrations: Feed.plan)
    let token = try await db.currentToken()
    try await Feed.insert(1...2, into: db)
    #expect(try await Feed.words(db, since: token) == ["1", "2"])
    #expect(
      try await Feed.words(db, since: try await db.oldestToken()).contains("everything") == false)
    await db.close()
  }
}
