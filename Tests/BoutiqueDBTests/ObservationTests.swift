import BoutiqueDB
import Foundation
import Observation
import TestDatabase
import Testing

@Suite struct ObservationTests {
  static let plan = TransactionTests.plan

  /// The bell alone: no poll helps within a test's life.
  static var hourPoll: BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    configuration.cdcPollInterval = .seconds(3600)
    return configuration
  }

  static func count(_ conn: BoutiqueConnection) throws -> Int {
    try conn.query("SELECT count(*) FROM t")[0].decode(0)
  }

  @Test func `a local write reaches a local observer without a timer`() async throws {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      var values = db.observe(Self.count).makeAsyncIterator()
      #expect(try await values.next() == 0)
      for expected in 1...5 {
        try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (?)", "v\(expected)") }
        #expect(try await values.next() == expected)
      }
    }
  }

  @Test func `another open database's write arrives by the bell`() async throws {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      let other = try await BoutiqueDB.open(path: db.path, migrations: Self.plan)
      var values = db.observe(Self.count).makeAsyncIterator()
      #expect(try await values.next() == 0)
      try await other.write { _ = try $0.execute("INSERT INTO t (v) VALUES ('x')") }
      #expect(try await values.next() == 1)
      await other.close()
    }
  }

  @Test func `without inotify the poll brings it`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.usesInotify = false
    configuration.cdcPollInterval = .milliseconds(20)
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let other = try await BoutiqueDB.open(path: db.path, migrations: Self.plan)
      var values = db.observe(Self.count).makeAsyncIterator()
      #expect(try await values.next() == 0)
      #expect(try await db.status().bell.hasPrefix("polling only"))
      try await other.write { _ = try $0.execute("INSERT INTO t (v) VALUES ('x')") }
      #expect(try await values.next() == 1)
      await other.close()
    }
  }

  /// Queries whose result depends on more than the tables they name.
  @Test(arguments: [
    ("SELECT count(*) FROM terms WHERE term = 'new'", "INSERT INTO words VALUES ('new')"),
    (
      "SELECT max(body) FROM found WHERE rowid = 1",
      "UPDATE source SET body = 'changed' WHERE id = 1"
    ),
    (
      "SELECT max(seq) FROM sqlite_sequence WHERE name = 'counted'",
      "INSERT INTO counted DEFAULT VALUES"
    ),
    (
      "SELECT page_count FROM pragma_page_count",
      "INSERT INTO t (v) VALUES (hex(randomblob(50000)))"
    ),
    ("SELECT count(*) FROM turso_cdc", "INSERT INTO counted DEFAULT VALUES"),
  ])
  func `a query of derived content is never too narrow`(query: String, change: String) async throws
  {
    let plan = BoutiqueMigrationPlan {
      BoutiqueMigration("v1") { conn in
        try conn.executeScript(
          """
          CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT);
          CREATE VIRTUAL TABLE words USING fts5 (word);
          CREATE VIRTUAL TABLE terms USING fts5vocab (words, row);
          CREATE TABLE source (id INTEGER PRIMARY KEY, body);
          INSERT INTO source VALUES (1, 'first');
          CREATE VIRTUAL TABLE found USING fts5 (body, content=source, content_rowid=id);
          CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT);
          INSERT INTO counted DEFAULT VALUES;
          """)
      }
    }
    try await withTestDatabase(configuration: Self.hourPoll, migrations: plan) { db, _ in
      var values = db.observe { try $0.query(query)[0][0] }.makeAsyncIterator()
      let before = try await values.next()
      try await db.write { _ = try $0.execute(change) }
      let after = try await values.next()
      #expect(after != before)
      #expect(after == (try await db.read { try $0.query(query)[0][0] }))
    }
  }

  @Test func `an observer that starts as the last one leaves hears of others`() async throws {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      let other = try await BoutiqueDB.open(path: db.path)
      for round in 1...300 {
        do {
          var leaving = db.observe(Self.count).makeAsyncIterator()
          _ = try await leaving.next()
        }
        var values = db.observe(Self.count).makeAsyncIterator()
        #expect(try await values.next() == round - 1)
        try await other.write { _ = try $0.execute("INSERT INTO t (v) VALUES (NULL)") }
        #expect(try await values.next() == round)
      }
      await other.close()
    }
  }

  @MainActor @Test func `a live query property follows, and refreshes on demand`() async throws {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      let model = Model(db)
      try await model.$rows.refresh()
      #expect(model.rows.isEmpty && model.$rows.isLoaded)
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (7, 'x')") }
      try await model.$rows.refresh()
      #expect(model.rows == [7])
      try await model.$first.refresh()
      #expect(model.first == 7)
    }
  }

  @MainActor @Observable final class Model {
    @ObservationIgnored @LiveQuery var rows: [Int]
    @ObservationIgnored @LiveQueryOne var first: Int?

    init(_ db: BoutiqueDB) {
      _rows = LiveQuery(db) { try $0.query("SELECT id FROM t").map { try $0.decode(0) } }
      _first = LiveQueryOne(db) { try $0.queryOne("SELECT id FROM t")?.decode(0) }
    }
  }

  @Test func `the feed names tables, rows and origin in commit order`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      var configuration = BoutiqueConfiguration()
      configuration.label = "other"
      let other = try await BoutiqueDB.open(path: db.path, configuration: configuration)
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      try await other.write { _ = try $0.execute("UPDATE t SET v = 'b' WHERE id = 1") }
      try await db.write { _ = try $0.execute("DELETE FROM t") }
      var feed = db.changes(since: start).makeAsyncIterator()
      let changes = [try await feed.next(), try await feed.next(), try await feed.next()]
      #expect(
        changes.compactMap { $0?.rows } == [
          [RowChange(table: "t", kind: .insert, key: [1])],
          [RowChange(table: "t", kind: .update, key: [1], columns: [1])],
          [RowChange(table: "t", kind: .delete, key: [1])],
        ])
      #expect(changes[0]?.origin == .thisProcess)
      #expect(changes[1]?.origin == .process(pid: getpid(), label: "other"))
      #expect(changes.allSatisfy { $0?.isEverything == false })
      await other.close()
    }
  }
}
