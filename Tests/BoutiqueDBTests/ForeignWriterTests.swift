import BoutiqueDB
import Foundation
import SQLiteConnection
import TestDatabase
import Testing

/// Commits of programs that do not use this library; here a plain connection of our own SQLite.
@Suite struct ForeignWriterTests {
  static let plan = TransactionTests.plan

  private func foreign(_ path: String, _ statements: String...) throws {
    let connection = try Connection(path: path)
    defer { connection.close() }
    connection.setBusyHandler { $0 < 10_000 }
    for statement in statements { try connection.execute(statement) }
  }

  @Test func `a foreign commit arrives at a live query without a poll`() async throws {
    try await withTestDatabase(
      configuration: ObservationTests.hourPoll, migrations: Self.plan
    ) { db, _ in
      var values = db.observe(ObservationTests.count).makeAsyncIterator()
      #expect(try await values.next() == 0)
      try foreign(db.path, "INSERT INTO t (v) VALUES ('foreign')")
      #expect(try await values.next() == 1)
    }
  }

  /// The event of it may have been taken for one of a commit of ours; here there is none at all.
  @Test(
    .timeLimit(.minutes(2)), arguments: [BoutiqueConfiguration.ForeignCapture.coarse, .precise])
  func `a foreign commit of which no event told is noticed with the next of ours`(
    _ capture: BoutiqueConfiguration.ForeignCapture
  ) async throws {
    var configuration = ObservationTests.hourPoll
    configuration.usesInotify = false
    configuration.foreignCapture = capture
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      try await db.write { _ = try $0.execute("CREATE TABLE other (id INTEGER PRIMARY KEY)") }
      let second = try await BoutiqueDB.open(path: db.path, configuration: configuration)
      var values = db.observe(ObservationTests.count).makeAsyncIterator()
      #expect(try await values.next() == 0)
      for round in 0..<5 {
        try foreign(db.path, "INSERT INTO t DEFAULT VALUES")
        try await db.write { _ = try $0.execute("INSERT INTO other DEFAULT VALUES") }
        #expect(try await values.next() == 2 * round + 1)
        // Of another process of ours that was killed before it rang.
        try await second.write { _ = try $0.execute("INSERT INTO t DEFAULT VALUES") }
        try await db.write { _ = try $0.execute("INSERT INTO other DEFAULT VALUES") }
        #expect(try await values.next() == 2 * round + 2)
      }
      // A commit of the library's own, too.
      try foreign(db.path, "INSERT INTO t DEFAULT VALUES")
      for try await change in db.changes(since: nil, consumer: "one", following: false) {
        try await change.acknowledge()
      }
      #expect(try await values.next() == 11)
      await second.close()
    }
  }

  @Test func `the feed shows a foreign commit in its place, as everything`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      try foreign(db.path, "INSERT INTO t VALUES (2, 'b')", "INSERT INTO t VALUES (3, 'c')")
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (4, 'd')") }
      try foreign(db.path, "INSERT INTO t VALUES (5, 'e')")
      var feed = db.changes(since: start).makeAsyncIterator()
      var seen: [String] = []
      for _ in 0..<4 {
        let change = try #require(try await feed.next())
        seen.append(change.isEverything ? "everything" : "\(change.rows.map(\.key))")
        #expect(change.origin == (change.isEverything ? .foreign : .thisProcess))
      }
      #expect(seen == ["[[1]]", "everything", "[[4]]", "everything"])
    }
  }

  @Test func `a rollback, a read or a checkpoint of a foreign program is no change`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      try foreign(
        db.path, "BEGIN IMMEDIATE", "INSERT INTO t VALUES (2, 'b')", "ROLLBACK",
        "SELECT count(*) FROM t", "PRAGMA wal_checkpoint(PASSIVE)")
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (3, 'c')") }
      var feed = db.changes(since: start).makeAsyncIterator()
      #expect(try await feed.next()?.rows.map(\.key) == [[1]])
      #expect(try await feed.next()?.rows.map(\.key) == [[3]])
    }
  }

  @Test func `a foreign tool that drops the change log costs a refresh, not a write`() async throws
  {
    try await withTestDatabase(
      configuration: ObservationTests.hourPoll, migrations: Self.plan
    ) { db, _ in
      var values = db.observe(ObservationTests.count).makeAsyncIterator()
      #expect(try await values.next() == 0)
      let token = try await db.currentToken()
      try foreign(db.path, "DROP VIEW turso_cdc", "DROP TABLE boutiquedb_cdc")
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      #expect(try await values.next() == 1)
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (2, 'b')") }
      #expect(try await values.next() == 2)
      let now = try await db.currentToken()
      #expect(now.generation != token.generation)
      var feed = db.changes(since: token).makeAsyncIterator()
      #expect(try await feed.next()?.isEverything == true)
    }
  }

  @Test func `whatever becomes of the table of origins, nobody is taken for another`() async throws
  {
    try await withTestDatabase(
      configuration: ObservationTests.hourPoll, migrations: Self.plan
    ) { db, _ in
      try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (NULL)") }
      var values = db.observe(ObservationTests.count).makeAsyncIterator()
      #expect(try await values.next() == 1)
      try foreign(
        db.path, "DELETE FROM boutiquedb_origin",
        "DELETE FROM sqlite_sequence WHERE name = 'boutiquedb_origin'")
      let other = try await BoutiqueDB.open(path: db.path)
      for count in 2...6 {
        try await other.write { _ = try $0.execute("INSERT INTO t (v) VALUES (NULL)") }
        #expect(try await values.next() == count)
      }
      let token = try await db.currentToken()
      try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (NULL)") }
      // And who we are is said again.
      var feed = other.changes(since: token).makeAsyncIterator()
      #expect(
        try await feed.next()?.origin
          == .process(pid: getpid(), label: BoutiqueConfiguration().label))
      await other.close()
    }
  }

  @Test func `a foreign checkpoint that empties the log is no alarm`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let path = db.path
      let checkpoints = Task.detached {
        while !Task.isCancelled {
          let connection = try Connection(path: path)
          connection.setBusyHandler { $0 < 10_000 }
          for _ in 0..<50 { _ = try connection.checkpoint(.truncate) }
          connection.close()
          // Others need the thread of the pool, too, be it for the cancellation.
          await Task.yield()
        }
      }
      for _ in 0..<1500 {
        try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (NULL)") }
      }
      checkpoints.cancel()
      _ = await checkpoints.result
      #expect(try await db.count(of: "SELECT * FROM t") == 1500)
    }
  }

  @Test func `a log that somebody cuts is noticed before the next write`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("cut.db")
    let db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
    for _ in 0..<5 {
      try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (hex(randomblob(2000)))") }
    }
    #expect(truncate(path + "-wal", 5000) == 0)
    await #expect {
      try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (NULL)") }
    } throws: {
      if case BoutiqueError.fileReplaced(_, let message) = $0 {
        message.contains("cut")
      } else {
        false
      }
    }
    await db.close()
    // What was in the database before the log stays whole.
    try await TestDatabaseCheck.isWhole(path: path)
  }

  @Test func `a foreign change of the schema is seen by a live query`() async throws {
    try await withTestDatabase(
      configuration: ObservationTests.hourPoll, migrations: Self.plan
    ) { db, _ in
      var values = db.observe { conn in try conn.query("SELECT * FROM t").map(\.columns) }
        .makeAsyncIterator()
      #expect(try await values.next() == [])
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      #expect(try await values.next() == [["id", "v"]])
      try foreign(db.path, "ALTER TABLE t ADD COLUMN c DEFAULT 7")
      #expect(try await values.next() == [["id", "v", "c"]])
      // The table is gone: an error, and the observation lives on.
      try foreign(db.path, "ALTER TABLE t RENAME TO elsewhere")
      await #expect(throws: BoutiqueError.self) { try await values.next() }
      try foreign(db.path, "ALTER TABLE elsewhere RENAME TO t")
      #expect(try await values.next() == [["id", "v", "c"]])
    }
  }

  @Test func `a foreign writer that holds the lock is waited for, then named`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.writeLockTimeout = .milliseconds(200)
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let holder = try Connection(path: db.path)
      try holder.execute("BEGIN IMMEDIATE")
      await #expect {
        try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      } throws: {
        guard case BoutiqueError.lockTimeout(let timeout) = $0 else { return false }
        return timeout.holder?.pid == getpid() && timeout.holder?.isForeign == true
      }
      try holder.execute("ROLLBACK")
      holder.close()
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
    }
  }
}
