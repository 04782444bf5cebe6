import BoutiqueDB
import SQLiteConnection
import TestDatabase
import Testing

/// Tables with names that trip up whoever is careless.
@Suite(.serialized) struct CaptureNameTests {
  static let names = [
    "it's", "say \"x\"", "a.b", "main.t", "select", "ORDER BY", "tab\tline\n", " ", "%d{}[]\\",
    "café", "cafe\u{301}", "表", "🎈", "boutiquedb_x", "boutiquedb_cdc2", "boutiquedb_cdc_backup",
    "boutiquedb", "turso_cdc2", "turso_cdc_version", "note_data", "[x]", "`x`", "null", "0", "-1",
    "sqlit_x", "ÉTÉ", "été", "x; DROP TABLE t; --",
  ]

  private static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }

  @Test(arguments: names, [CaptureMode.id, .full])
  func `changes carry the table's name`(name: String, mode: CaptureMode) async throws {
    try await withTestDatabase { db, _ in
      let table = Self.quoted(name)
      try await db.setCaptureMode(mode, forTable: name)
      let created = try await db.captured("CREATE TABLE \(table) (id INTEGER PRIMARY KEY, v)")
      #expect(created.wholeTables == [name, "sqlite_schema"])
      let change = try await db.captured("INSERT INTO \(table) VALUES (1, 'v')")
      #expect(change.tables.map { Array($0.utf8) } == [Array(name.utf8)])
      #expect(change.rows.map(\.key) == [[1]])
      #expect(change.rows[0].after?.named == (mode == .full ? ["id": 1, "v": "v"] : nil))
      let logged = try await db.read { conn in
        try conn.query("SELECT table_name FROM turso_cdc WHERE id = 1 AND change_type = 1")
      }
      #expect(logged.map { $0[0] }.contains(.text(name)))
      var values = db.observe { try $0.query("SELECT v FROM \(table)").count }.makeAsyncIterator()
      #expect(try await values.next() == 1)
      try await db.write { _ = try $0.execute("INSERT INTO \(table) VALUES (2, 'w')") }
      #expect(try await values.next() == 2)
    }
  }

  @Test func `names that only Unicode holds equal are two tables`() async throws {
    let composed = "caf\u{e9}"
    let decomposed = "cafe\u{301}"
    #expect(composed == decomposed)
    try await withTestDatabase(
      migrations: plan(
        """
        CREATE TABLE "\(composed)" (id INTEGER PRIMARY KEY, a, b);
        CREATE TABLE "\(decomposed)" (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
        """)
    ) { db, _ in
      try await db.setCaptureMode(.full, forTable: decomposed)
      let change = try await db.captured { conn in
        try conn.execute("INSERT INTO \"\(composed)\" VALUES (1, 2, 3)")
        try conn.execute("INSERT INTO \"\(decomposed)\" VALUES ('k', 'v')")
        try conn.execute("UPDATE \"\(composed)\" SET b = 4")
      }
      #expect(change.tables.map { $0.utf8.count } == [composed.utf8.count, decomposed.utf8.count])
      #expect(change.rows.map(\.key) == [[1], ["k"], [1]])
      #expect(
        change.rows.map { $0.table.utf8.count }
          == [composed, decomposed, composed].map(\.utf8.count))
      #expect(change.rows.map { $0.after?.named } == [nil, ["k": "k", "v": "v"], nil])
      // A table that is whole takes no other along.
      let whole = try await db.captured { conn in
        try conn.execute("ALTER TABLE \"\(composed)\" ADD COLUMN c")
        try conn.execute("UPDATE \"\(decomposed)\" SET v = 'w'")
      }
      #expect(whole.rows.map(\.key) == [["k"]])
    }
  }

  @Test func `sixty tables in one transaction keep their order`() async throws {
    let tables = (0..<60).map { "table_\($0)" }
    let schema = tables.map { "CREATE TABLE \($0) (id INTEGER PRIMARY KEY, v);" }.joined()
    var configuration = BoutiqueConfiguration()
    for (index, table) in tables.enumerated() where index % 2 == 0 {
      configuration.captureModes[table] = .after
    }
    try await withTestDatabase(configuration: configuration, migrations: plan(schema)) { db, _ in
      let change = try await db.captured { conn in
        for round in 0..<3 {
          for (index, table) in tables.enumerated() {
            try conn.execute("INSERT INTO \(table) (v) VALUES (?)", round * 100 + index)
          }
        }
      }
      #expect(change.tables == tables)
      #expect(change.rows.map(\.table) == tables + tables + tables)
      for (number, row) in change.rows.enumerated() {
        let value = SQLValue.integer(Int64(number / 60 * 100 + number % 60))
        #expect(row.after?["v"] == (number % 2 == 0 ? value : nil))
      }
    }
  }

  @Test func `a table beside a full-text table of nearly the same name is its own`() async throws {
    try await withTestDatabase(
      migrations: plan("CREATE VIRTUAL TABLE note USING fts5 (body); CREATE TABLE notes (a)")
    ) { db, _ in
      let change = try await db.captured("INSERT INTO notes VALUES (1)")
      #expect(change.tables == ["notes"])
    }
  }

  @Test func `statements that only Unicode holds equal are two statements`() async throws {
    try await withTestDatabase { db, _ in
      let found = try await db.read { conn in
        [
          try conn.query(#sql("SELECT hex('caf\u{e9}')"))[0][0],
          try conn.query(#sql("SELECT hex('cafe\u{301}')"))[0][0],
        ]
      }
      #expect(found == ["636166C3A9", "63616665CC81"])
    }
  }
}
