import BoutiqueDB
import Foundation
import SQLiteConnection
import TestDatabase
import Testing

/// The view `turso_cdc`, as other programs read it.
@Suite(.serialized) struct TursoViewTests {
  static let schema = """
    CREATE TABLE t (x INTEGER PRIMARY KEY, y);
    CREATE TABLE plain (a, b);
    """

  static func configuration(_ mode: CaptureMode) -> BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    configuration.captureModes = ["t": mode, "plain": mode, "sqlite_schema": mode]
    return configuration
  }

  /// Decodes records without any code of ours.
  static let decoder = """
    import sqlite3, struct, sys, json
    def varint(b, i):
        v = 0
        for n in range(9):
            c = b[i]; i += 1
            if n == 8: return (v << 8 | c), i
            v = v << 7 | (c & 127)
            if c < 128: return v, i
    def decode(b):
        if b is None: return None
        size, i = varint(b, 0)
        types, at = [], size
        while i < size:
            t, i = varint(b, i); types.append(t)
        out = []
        for t in types:
            n = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[t] if t < 10 else (t - 12) // 2
            v = b[at:at + n]; at += n
            if t == 0: out.append(None)
            elif t < 7: out.append(int.from_bytes(v, "big", signed=True))
            elif t == 7: out.append(struct.unpack(">d", v)[0])
            elif t < 10: out.append(t - 8)
            elif t % 2: out.append(v.decode())
            else: out.append("x" + v.hex())
        assert at == len(b)
        return out
    db = sqlite3.connect(sys.argv[1])
    db.execute("PRAGMA trusted_schema = OFF")
    for row in db.execute("SELECT change_type, table_name, id, before, after, updates FROM turso_cdc"
                          " WHERE change_id > ?", (int(sys.argv[2]),)):
        print(json.dumps(list(row[:3]) + [decode(b) for b in row[3:]]))
    """

  @Test func `Python reads the rows of a full capture by the record format alone`() async throws {
    try await withTestDatabase(
      configuration: Self.configuration(.full), migrations: plan(Self.schema)
    ) { db, _ in
      let start = try await db.currentToken()
      try await db.write { conn in
        try conn.execute("INSERT INTO t VALUES (1, 2)")
        try conn.execute("UPDATE t SET y = 3")
        try conn.execute("UPDATE t SET x = 4")
        try conn.execute("INSERT INTO plain VALUES (1.5, x'00ff')")
        try conn.execute("INSERT INTO plain VALUES (?, -70000)", "é\u{1F388}")
        try conn.execute("DELETE FROM t")
      }
      let lines = try await outside(
        "python3", ["-c", Self.decoder, db.path, String(start.number)])
      #expect(
        lines == [
          "[1, \"t\", 1, null, [1, 2], null]",
          // FEATURES of Turso: UPDATE t SET y = 3 on (x, y) gives (0, 1, NULL, 3).
          "[0, \"t\", 1, [1, 2], [1, 3], [0, 1, null, 3]]",
          "[-1, \"t\", 1, [1, 3], null, null]",
          "[1, \"t\", 4, null, [4, 3], null]",
          "[1, \"plain\", 1, null, [1.5, \"x00ff\"], null]",
          #"[1, "plain", 2, null, ["\u00e9\ud83c\udf88", -70000], null]"#,
          "[-1, \"t\", 4, [4, 3], null, null]",
          "[2, null, null, null, null, null]",
        ])
    }
  }

  @Test(arguments: [CaptureMode.before, .after])
  func `a mode keeps its side only`(mode: CaptureMode) async throws {
    try await withTestDatabase(
      configuration: Self.configuration(mode), migrations: plan(Self.schema)
    ) { db, _ in
      let start = try await db.currentToken()
      for sql in ["INSERT INTO t VALUES (1, 2)", "UPDATE t SET y = 3", "DELETE FROM t"] {
        try await db.write { _ = try $0.execute(sql) }
      }
      let rows = try await shell(
        db.path,
        """
        SELECT change_type, before IS NULL, after IS NULL, updates IS NULL FROM turso_cdc
          WHERE change_id > \(start.number);
        """)
      #expect(
        rows
          == (mode == .before
            ? ["1|1|1|1", "2|1|1|1", "0|0|1|1", "2|1|1|1", "-1|0|1|1", "2|1|1|1"]
            : ["1|1|0|1", "2|1|1|1", "0|1|0|1", "2|1|1|1", "-1|1|1|1", "2|1|1|1"]))
    }
  }

  @Test func `the shell sees Turso's columns in Turso's order, schema trusted or not`() async throws
  {
    try await withTestDatabase(migrations: plan(Self.schema)) { db, _ in
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 2)") }
      for trusted in ["ON", "OFF"] {
        let lines = try await shell(
          db.path,
          "PRAGMA trusted_schema = \(trusted)", ".headers on",
          "SELECT * FROM turso_cdc ORDER BY change_id DESC LIMIT 2")
        #expect(
          lines.first
            == "change_id|change_time|change_txn_id|change_type|table_name|id|before|after|updates")
        #expect(lines.count == 3)
        #expect(lines[2].hasSuffix("|1|t|1|||"))
      }
      // Seconds, not milliseconds.
      let time = try await shell(db.path, "SELECT max(change_time) FROM turso_cdc;")
      let seconds = try #require(time.first.flatMap { Double($0) })
      #expect(abs(seconds - Date().timeIntervalSince1970) < 3600)
    }
  }

  @Test func `one transaction has one number and one commit record, and every row is in order`()
    async throws
  {
    try await withTestDatabase(migrations: plan(Self.schema)) { db, _ in
      let start = try await db.currentToken().number
      try await db.write { conn in
        try conn.execute("INSERT INTO t VALUES (1, 1)")
        try conn.execute("INSERT INTO plain VALUES (1, 1)")
        try conn.execute("UPDATE t SET y = 2")
      }
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (2, 2)") }
      // Nothing changed: no record.
      try await db.write { _ = try $0.query("SELECT * FROM t") }
      try? await db.write { conn in
        try conn.execute("INSERT INTO t VALUES (3, 3)")
        throw CancellationError()
      }
      let rows = try await shell(
        db.path,
        """
        SELECT change_id - \(start), change_txn_id - \(start), change_type, table_name FROM turso_cdc
          WHERE change_id > \(start);
        """)
      #expect(
        rows == ["1|1|1|t", "2|1|1|plain", "3|1|0|t", "4|1|2|", "5|5|1|t", "6|5|2|"])
    }
  }

  @Test func `changes of the schema carry their row in sqlite_schema`() async throws {
    try await withTestDatabase(
      configuration: Self.configuration(.full), migrations: plan(Self.schema)
    ) { db, _ in
      func records(_ sql: String) async throws -> (lines: [String], rowID: String) {
        let start = try await db.currentToken()
        let before = try await shell(db.path, "SELECT max(rowid) FROM sqlite_schema;")
        try await db.write { try $0.executeScript(sql) }
        let lines = try await outside(
          "python3", ["-c", Self.decoder, db.path, String(start.number)])
        return (
          lines.filter { $0.contains("sqlite_schema") },
          before.first ?? ""
        )
      }
      let (created, last) = try await records("CREATE TABLE u (a)")
      let id = try #require(Int(last)) + 1
      #expect(created.count == 1)
      #expect(
        created[0].hasPrefix("[1, \"sqlite_schema\", \(id), null, [\"table\", \"u\", \"u\", "))
      #expect(created[0].hasSuffix("\"CREATE TABLE u (a)\"], null]"))
      let (altered, _) = try await records("ALTER TABLE u ADD COLUMN b")
      #expect(altered.count == 1)
      #expect(altered[0].hasPrefix("[0, \"sqlite_schema\", \(id), [\"table\", \"u\", "))
      #expect(
        altered[0].hasSuffix(
          "[0, 0, 0, 0, 1, null, null, null, null, \"CREATE TABLE u (a, b)\"]]"))
      let (indexed, _) = try await records("CREATE INDEX i ON u (a)")
      #expect(indexed[0].hasPrefix("[1, \"sqlite_schema\", \(id + 1), null, [\"index\", \"i\", "))
      let (dropped, _) = try await records("DROP TABLE u")
      #expect(dropped.map { $0.prefix(28) }.allSatisfy { $0.hasPrefix("[-1, \"sqlite_schema\", ") })
      #expect(dropped.count == 2)
      // Made and dropped in one transaction, and a view: something happened to the schema, and that is all.
      let (viewed, _) = try await records(
        "CREATE TABLE z (a); DROP TABLE z; CREATE VIEW v AS SELECT 1")
      #expect(viewed == ["[0, \"sqlite_schema\", null, null, null, null]"])
      // Dropped and made again in the place of another.
      let (both, _) = try await records("DROP TABLE plain; CREATE TABLE plain2 (a)")
      #expect(both.count == 2)
      #expect(both[0].hasPrefix("[-1, ") && both[1].hasPrefix("[1, "))
    }
  }

  @Test func `a feed still sees a change of the schema as a whole`() async throws {
    try await withTestDatabase(migrations: plan(Self.schema)) { db, _ in
      let change = try await db.captured("CREATE TABLE u (a)")
      #expect(change.wholeTables == ["u", "sqlite_schema"])
      #expect(change.rows == [])
    }
  }

  @Test func `a position in the log is found by its key`() async throws {
    try await withTestDatabase(migrations: plan(Self.schema)) { db, _ in
      for id in 1...3 {
        try await db.write { _ = try $0.execute("INSERT INTO t VALUES (?, 0)", id) }
      }
      let token = try await db.currentToken().number
      let lines = try await shell(
        db.path, "EXPLAIN QUERY PLAN SELECT * FROM boutiquedb_change WHERE token > \(token - 2);")
      let plan = lines.joined(separator: "\n")
      #expect(plan.contains("SEARCH c USING INTEGER PRIMARY KEY (rowid>?)"))
      #expect(plan.contains("SEARCH boutiquedb_cdc USING INTEGER PRIMARY KEY (rowid>?)"))
      #expect(!plan.contains("SCAN c"))
      #expect(
        try await shell(
          db.path,
          """
          SELECT change_id - \(token), change_type FROM boutiquedb_change
            WHERE token > \(token - 2) ORDER BY change_id;
          """) == ["-1|1", "0|2"])
    }
  }

  @Test func `a user's own turso_cdc stays theirs`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    _ = try await shell(path, "CREATE TABLE turso_cdc (mine); INSERT INTO turso_cdc VALUES (1);")
    let db = try await BoutiqueDB.open(path: path)
    let change = try await db.captured("INSERT INTO turso_cdc VALUES (2)")
    #expect(change.rows.map(\.table) == ["turso_cdc"])
    #expect(try await db.count(of: "SELECT * FROM boutiquedb_change WHERE token > 0") > 0)
    await db.close()
  }
}
