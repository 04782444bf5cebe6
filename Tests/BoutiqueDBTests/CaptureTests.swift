import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// What a commit of this library is described as, statement by statement.
@Suite struct CaptureTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var sql: String
    var rows: [RowChange]
    var whole: Set<String> = []
    var testDescription: String { sql }
  }

  static let plan = BoutiqueMigrationPlan {
    BoutiqueMigration("schema") { conn in
      try conn.executeScript(
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b);
        INSERT INTO t VALUES (1, 'one', 1), (2, 'two', 2), (3, 'three', 3);
        CREATE TABLE plain (a);
        INSERT INTO plain (rowid, a) VALUES (7, 'x');
        CREATE TABLE w (k TEXT, n INTEGER, v, PRIMARY KEY (k, n)) WITHOUT ROWID;
        INSERT INTO w VALUES ('k', 1, 'v');
        CREATE TABLE parent (id INTEGER PRIMARY KEY);
        CREATE TABLE child (id INTEGER PRIMARY KEY,
          parent INTEGER REFERENCES parent (id) ON DELETE CASCADE);
        INSERT INTO parent VALUES (1);
        INSERT INTO child VALUES (10, 1), (11, 1);
        CREATE TABLE log (id INTEGER PRIMARY KEY, text);
        CREATE TABLE logged (id INTEGER PRIMARY KEY);
        CREATE TRIGGER logged_insert AFTER INSERT ON logged
          BEGIN INSERT INTO log (text) VALUES (new.id); END;
        CREATE VIRTUAL TABLE note USING fts5 (body);
        CREATE TABLE "odd "".name" (id INTEGER PRIMARY KEY);
        """)
    }
  }

  static func row(
    _ table: String, _ kind: RowChange.Kind, _ key: SQLValue..., columns: [Int] = []
  ) -> RowChange {
    RowChange(table: table, kind: kind, key: key, columns: columns)
  }

  static let cases: [Case] = [
    Case(sql: "INSERT INTO t VALUES (4, 'four', 4)", rows: [row("t", .insert, 4)]),
    Case(sql: "UPDATE t SET b = 9 WHERE id = 1", rows: [row("t", .update, 1, columns: [2])]),
    Case(sql: "UPDATE t SET b = b WHERE id = 1", rows: [row("t", .update, 1)]),
    Case(
      sql: "UPDATE t SET id = 5 WHERE id = 1", rows: [row("t", .delete, 1), row("t", .insert, 5)]),
    Case(sql: "DELETE FROM t WHERE id = 2", rows: [row("t", .delete, 2)]),
    Case(
      sql: "DELETE FROM t",
      rows: [row("t", .delete, 1), row("t", .delete, 2), row("t", .delete, 3)]),
    Case(
      sql: "REPLACE INTO t VALUES (4, 'one', 0)",
      rows: [row("t", .delete, 1), row("t", .insert, 4)]),
    Case(
      sql: "INSERT INTO t VALUES (1, 'x', 0) ON CONFLICT (id) DO UPDATE SET b = 7",
      rows: [row("t", .update, 1, columns: [2])]),
    Case(
      sql: "INSERT INTO t SELECT id + 10, a || '!', b FROM t WHERE id < 3",
      rows: [row("t", .insert, 11), row("t", .insert, 12)]),
    Case(sql: "UPDATE plain SET a = 'y'", rows: [row("plain", .update, 7, columns: [0])]),
    Case(
      sql: "UPDATE w SET v = 'z'", rows: [row("w", .update, "k", 1, columns: [2])]),
    Case(
      sql: "INSERT INTO w VALUES (x'00ff', 2.5, NULL)",
      rows: [row("w", .insert, .blob([0, 255]), 2.5)]),
    Case(
      sql: "DELETE FROM parent",
      rows: [row("parent", .delete, 1), row("child", .delete, 10), row("child", .delete, 11)]),
    Case(
      sql: "INSERT INTO logged VALUES (5)",
      rows: [row("logged", .insert, 5), row("log", .insert, 1)]),
    Case(
      sql: #"INSERT INTO "odd "".name" VALUES (1)"#, rows: [row("odd \".name", .insert, 1)]),
    Case(sql: "ALTER TABLE t ADD COLUMN c", rows: [], whole: ["t", "sqlite_schema"]),
    Case(sql: "DROP TABLE plain", rows: [], whole: ["plain", "sqlite_schema"]),
    Case(sql: "CREATE TABLE fresh (a)", rows: [], whole: ["fresh", "sqlite_schema"]),
  ]

  @Test(arguments: cases)
  func `a statement is captured`(of example: Case) async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try await db.write { _ = try $0.execute(example.sql) }
      var feed = db.changes(since: start).makeAsyncIterator()
      let change = try #require(try await feed.next())
      #expect(change.rows == example.rows)
      #expect(change.wholeTables == example.whole)
      #expect(!change.isEverything)
    }
  }

  @Test func `a change of a full-text table names the table that is searched`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      var values = db.observe { conn in
        try conn.query("SELECT rowid FROM note WHERE note MATCH 'word'").count
      }.makeAsyncIterator()
      #expect(try await values.next() == 0)
      try await db.write { _ = try $0.execute("INSERT INTO note (body) VALUES ('a word')") }
      #expect(try await values.next() == 1)
    }
  }

  @Test(arguments: ["", ", content='', columnsize=0"])
  func `full text is captured with the tables that are written during commit`(
    options: String
  ) async throws {
    try await withTestDatabase { db, _ in
      try await db.write {
        _ = try $0.execute("CREATE VIRTUAL TABLE word USING fts5 (body\(options))")
      }
      let start = try await db.currentToken()
      try await db.write { _ = try $0.execute("INSERT INTO word (rowid, body) VALUES (1, 'a')") }
      var feed = db.changes(since: start).makeAsyncIterator()
      let change = try #require(try await feed.next())
      #expect(change.wholeTables.isSuperset(of: ["word", "word_data", "word_idx"]))
    }
  }

  @Test func `a renamed table is named as it was called and as it is called`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try await db.write { _ = try $0.execute("ALTER TABLE plain RENAME TO \"new name\"") }
      var feed = db.changes(since: start).makeAsyncIterator()
      let change = try #require(try await feed.next())
      #expect(change.wholeTables.isSuperset(of: ["plain", "new name"]))
    }
  }

  @Test func `past the row limit a table counts as wholly changed`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.captureRowLimit = 10
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try await db.write { conn in
        for id in 100..<111 { _ = try conn.execute("INSERT INTO t (id) VALUES (?)", id) }
        _ = try conn.execute("INSERT INTO plain VALUES (1)")
      }
      var feed = db.changes(since: start).makeAsyncIterator()
      let change = try #require(try await feed.next())
      #expect(change.wholeTables == ["t"])
      #expect(change.rows == [Self.row("plain", .insert, 8)])
    }
  }

  @Test func `a rolled-back savepoint is not captured, a released one is`() async throws {
    struct Stop: Error {}
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try await db.write { conn in
        try? conn.savepoint {
          _ = try conn.execute("DELETE FROM t")
          throw Stop()
        }
        try conn.savepoint { _ = try conn.execute("DELETE FROM plain") }
      }
      var feed = db.changes(since: start).makeAsyncIterator()
      let change = try #require(try await feed.next())
      #expect(change.tables == ["plain"])
      #expect(change.rows == [Self.row("plain", .delete, 7)])
    }
  }

  @Test func `temporary tables and savepoints go together`() async throws {
    struct Stop: Error {}
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try await db.write { conn in
        // The temporary table has the name of a real one, and comes between the real ones.
        try conn.execute("CREATE TEMP TABLE plain (x)")
        try conn.execute("INSERT INTO temp.plain VALUES (1)")
        try conn.execute("UPDATE t SET b = 0 WHERE id = 1")
        try conn.execute("INSERT INTO temp.plain VALUES (2)")
        try? conn.savepoint {
          _ = try conn.execute("UPDATE t SET b = 0 WHERE id = 2")
          throw Stop()
        }
        try conn.execute("INSERT INTO main.plain VALUES ('y')")
      }
      var feed = db.changes(since: start).makeAsyncIterator()
      let change = try #require(try await feed.next())
      #expect(
        change.rows == [Self.row("t", .update, 1, columns: [2]), Self.row("plain", .insert, 8)])
    }
  }

  @Test func `the turso_cdc view shows Turso's columns`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try await db.write { conn in
        _ = try conn.execute("INSERT INTO t VALUES (4, 'four', 4)")
        _ = try conn.execute("DELETE FROM w")
      }
      let rows = try await db.read { conn in
        try conn.query("SELECT * FROM turso_cdc WHERE change_id > ?", start.number)
      }
      #expect(
        rows.first?.columns == [
          "change_id", "change_time", "change_txn_id", "change_type", "table_name", "id", "before",
          "after", "updates",
        ])
      let first = start.number + 1
      #expect(rows.map { $0["change_id"] } == [first, first + 1, first + 2].map { .integer($0) })
      #expect(rows.map { $0["change_txn_id"] } == [first, first, first].map { .integer($0) })
      #expect(rows.map { $0["change_type"] } == [1, -1, 2])
      #expect(rows.map { $0["table_name"] } == ["t", "w", .null])
      #expect(rows.map { $0["id"] } == [4, #"["k",1]"#, .null])
    }
  }

  @Test func `changes counts the user's rows only`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let updated = try await db.write { try $0.execute("UPDATE t SET b = 0") }
      #expect(updated == 3)
      let created = try await db.write { try $0.execute("CREATE TABLE x (a)") }
      #expect(created == 0)
    }
  }
}
