import BoutiqueDB
import Foundation
import SQLiteConnection
import TestDatabase
import Testing

/// The rows before and after that the log keeps, statement by statement.
@Suite(.serialized) struct CaptureImageTests {
  static let schema = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b);
    INSERT INTO t VALUES (1, 'one', 1), (2, 'two', 2);
    CREATE TABLE plain (a, b);
    INSERT INTO plain (rowid, a, b) VALUES (7, 'x', 'y');
    CREATE TABLE w (k TEXT, n INTEGER, v, PRIMARY KEY (n, k)) WITHOUT ROWID;
    INSERT INTO w VALUES ('k', 1, 'v');
    CREATE TABLE parent (id INTEGER PRIMARY KEY);
    CREATE TABLE child (id INTEGER PRIMARY KEY,
      parent INTEGER REFERENCES parent (id) ON DELETE CASCADE);
    INSERT INTO parent VALUES (1);
    INSERT INTO child VALUES (10, 1);
    CREATE TABLE logged (id INTEGER PRIMARY KEY);
    CREATE TABLE log (id INTEGER PRIMARY KEY, text);
    CREATE TRIGGER logged_insert AFTER INSERT ON logged
      BEGIN INSERT INTO log (text) VALUES ('new ' || new.id); END;
    CREATE TABLE g (id INTEGER PRIMARY KEY, a INTEGER, v REAL AS (a + 1) VIRTUAL, b INTEGER,
      s AS (b * 2) STORED, r REAL);
    INSERT INTO g (id, a, b, r) VALUES (1, 10, 20, 3);
    CREATE TABLE gw (v AS (b) VIRTUAL, k TEXT, b, PRIMARY KEY (k)) WITHOUT ROWID;
    INSERT INTO gw (k, b) VALUES ('k', 5);
    CREATE TABLE wr (a INTEGER, r REAL, k PRIMARY KEY) WITHOUT ROWID;
    INSERT INTO wr VALUES (1, 2, 'k');
    CREATE TABLE late (id INTEGER PRIMARY KEY, a);
    INSERT INTO late VALUES (1, 'old');
    ALTER TABLE late ADD COLUMN n;
    ALTER TABLE late ADD COLUMN d TEXT DEFAULT 5;
    ALTER TABLE late ADD COLUMN r REAL NOT NULL DEFAULT 2;
    ALTER TABLE late ADD COLUMN e DEFAULT (x'0071');
    """

  static let tables = [
    "t", "plain", "w", "parent", "child", "logged", "log", "g", "gw", "wr", "late",
  ]

  static func configuration(_ mode: CaptureMode) -> BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    configuration.captureModes = Dictionary(uniqueKeysWithValues: tables.map { ($0, mode) })
    return configuration
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var sql: String
    /// What `full` shows.
    var images: [Image]
    var testDescription: String { sql }
  }

  static let one: [String: SQLValue] = ["id": 1, "a": "one", "b": 1]
  static let two: [String: SQLValue] = ["id": 2, "a": "two", "b": 2]
  static let g: [String: SQLValue] = ["id": 1, "a": 10, "b": 20, "s": 40, "r": .real(3)]
  static let late: [String: SQLValue] = [
    "id": 1, "a": "old", "n": .null, "d": "5", "r": .real(2), "e": .blob([0, 0x71]),
  ]

  static let cases: [Case] = [
    Case(
      sql: "INSERT INTO t VALUES (4, 'four', NULL)",
      images: [Image(.insert, after: ["id": 4, "a": "four", "b": .null])]),
    Case(
      sql: "UPDATE t SET b = 9 WHERE id = 1",
      images: [
        Image(
          .update, before: one, after: ["id": 1, "a": "one", "b": 9], updates: ["b": 9])
      ]),
    // The hook sees values, not assignments: what stays as it was is not listed.
    Case(
      sql: "UPDATE t SET b = b WHERE id = 1",
      images: [Image(.update, before: one, after: one, updates: [:])]),
    Case(
      sql: "UPDATE t SET b = NULL WHERE id = 1",
      images: [
        Image(
          .update, before: one, after: ["id": 1, "a": "one", "b": .null], updates: ["b": .null])
      ]),
    Case(
      sql: "UPDATE t SET id = 5, b = 6 WHERE id = 1",
      images: [
        Image(.delete, before: one), Image(.insert, after: ["id": 5, "a": "one", "b": 6]),
      ]),
    Case(sql: "DELETE FROM t", images: [Image(.delete, before: one), Image(.delete, before: two)]),
    Case(
      sql: "REPLACE INTO t VALUES (2, 'one', 0)",
      images: [
        Image(.delete, before: two), Image(.delete, before: one),
        Image(.insert, after: ["id": 2, "a": "one", "b": 0]),
      ]),
    Case(
      sql: "INSERT INTO t VALUES (8, 'one', 0) ON CONFLICT (a) DO UPDATE SET b = excluded.b + 5",
      images: [
        Image(.update, before: one, after: ["id": 1, "a": "one", "b": 5], updates: ["b": 5])
      ]),
    Case(
      sql: "INSERT INTO t VALUES (8, 'x', 0) ON CONFLICT (a) DO UPDATE SET b = 1",
      images: [Image(.insert, after: ["id": 8, "a": "x", "b": 0])]),
    Case(
      sql: "INSERT OR IGNORE INTO t VALUES (8, 'one', 0), (9, 'new', 0)",
      images: [Image(.insert, after: ["id": 9, "a": "new", "b": 0])]),
    Case(
      sql: "INSERT INTO t SELECT id + 10, a || '!', b FROM t WHERE id = 1",
      images: [Image(.insert, after: ["id": 11, "a": "one!", "b": 1])]),
    Case(
      sql: "UPDATE plain SET b = 'z'",
      images: [
        Image(
          .update, before: ["a": "x", "b": "y"], after: ["a": "x", "b": "z"], updates: ["b": "z"])
      ]),
    Case(
      sql: "UPDATE w SET v = 'z'",
      images: [
        Image(
          .update, before: ["k": "k", "n": 1, "v": "v"], after: ["k": "k", "n": 1, "v": "z"],
          updates: ["v": "z"])
      ]),
    Case(
      sql: "UPDATE w SET n = 2",
      images: [
        Image(.delete, before: ["k": "k", "n": 1, "v": "v"]),
        Image(.insert, after: ["k": "k", "n": 2, "v": "v"]),
      ]),
    Case(
      sql: "DELETE FROM parent",
      images: [
        Image(.delete, before: ["id": 1]), Image(.delete, before: ["id": 10, "parent": 1]),
      ]),
    Case(
      sql: "INSERT INTO logged VALUES (5)",
      images: [
        Image(.insert, after: ["id": 5]), Image(.insert, after: ["id": 1, "text": "new 5"]),
      ]),
    // Columns behind a virtual one are numbered in another way by the hook.
    Case(
      sql: "INSERT INTO g (id, a, b, r) VALUES (2, 1, 2, 3)",
      images: [Image(.insert, after: ["id": 2, "a": 1, "b": 2, "s": 4, "r": .real(3)])]),
    Case(
      sql: "UPDATE g SET b = 30",
      images: [
        Image(
          .update, before: g, after: g.merging(["b": 30, "s": 60]) { $1 },
          updates: ["b": 30, "s": 60])
      ]),
    Case(
      sql: "UPDATE g SET r = 4",
      images: [
        Image(
          .update, before: g, after: g.merging(["r": .real(4)]) { $1 }, updates: ["r": .real(4)])
      ]),
    Case(sql: "DELETE FROM g", images: [Image(.delete, before: g)]),
    Case(
      sql: "UPDATE gw SET b = 6",
      images: [
        Image(.update, before: ["k": "k", "b": 5], after: ["k": "k", "b": 6], updates: ["b": 6])
      ]),
    Case(
      sql: "UPDATE gw SET k = 'l'",
      images: [
        Image(.delete, before: ["k": "k", "b": 5]), Image(.insert, after: ["k": "l", "b": 5]),
      ]),
    Case(
      sql: "UPDATE wr SET r = 3",
      images: [
        Image(
          .update, before: ["a": 1, "r": .real(2), "k": "k"],
          after: ["a": 1, "r": .real(3), "k": "k"], updates: ["r": .real(3)])
      ]),
    // A row that is older than some of its columns.
    Case(
      sql: "UPDATE late SET a = 'new'",
      images: [
        Image(
          .update, before: late, after: late.merging(["a": "new"]) { $1 }, updates: ["a": "new"])
      ]),
    Case(sql: "DELETE FROM late", images: [Image(.delete, before: late)]),
  ]

  @Test(arguments: cases)
  func `full keeps both rows, and what an update set`(of example: Case) async throws {
    try await withTestDatabase(
      configuration: Self.configuration(.full), migrations: plan(Self.schema)
    ) { db, _ in
      let change = try await db.captured(example.sql)
      #expect(change.wholeTables == [])
      #expect(change.rows.map(Image.init) == example.images)
    }
  }

  @Test(arguments: cases)
  func `before keeps the rows that were`(of example: Case) async throws {
    try await withTestDatabase(
      configuration: Self.configuration(.before), migrations: plan(Self.schema)
    ) { db, _ in
      let change = try await db.captured(example.sql)
      let expected = example.images.map { Image($0.kind, before: $0.before) }
      #expect(change.rows.map(Image.init) == expected)
    }
  }

  @Test(arguments: cases)
  func `after keeps the rows that are`(of example: Case) async throws {
    try await withTestDatabase(
      configuration: Self.configuration(.after), migrations: plan(Self.schema)
    ) { db, _ in
      let change = try await db.captured(example.sql)
      let expected = example.images.map { Image($0.kind, after: $0.after) }
      #expect(change.rows.map(Image.init) == expected)
    }
  }

  @Test(arguments: cases)
  func `id keeps no row`(of example: Case) async throws {
    try await withTestDatabase(migrations: plan(Self.schema)) { db, _ in
      let change = try await db.captured(example.sql)
      #expect(change.rows.map(Image.init) == example.images.map { Image($0.kind) })
      let kept = try await db.count(of: "SELECT * FROM boutiquedb_image")
      #expect(kept == 0)
    }
  }

  @Test func `an update names the columns it changed, whatever is virtual among them`() async throws
  {
    try await withTestDatabase(migrations: plan(Self.schema)) { db, _ in
      func columns(_ sql: String) async throws -> [[Int]] {
        try await db.captured(sql).rows.map(\.columns)
      }
      // id, a, v, b, s, r: v is computed from a and may be another one too.
      #expect(try await columns("UPDATE g SET b = 21") == [[2, 3, 4]])
      #expect(try await columns("UPDATE g SET r = 9") == [[2, 5]])
      #expect(try await columns("UPDATE g SET r = 9") == [[]])
      // v, k, b
      #expect(try await columns("UPDATE gw SET b = 6") == [[0, 2]])
      let change = try await db.captured("UPDATE gw SET b = 7")
      #expect(change.rows.map(\.key) == [["k"]])
    }
  }

  @Test(arguments: [CaptureMode.id, .full])
  func `a live query on a column behind a virtual one hears of it`(mode: CaptureMode) async throws {
    var configuration = BoutiqueConfiguration()
    configuration.captureModes = ["g": mode]
    try await withTestDatabase(configuration: configuration, migrations: plan(Self.schema)) {
      db, _ in
      var values = db.observe { try $0.query("SELECT b FROM g")[0][0] }.makeAsyncIterator()
      #expect(try await values.next() == 20)
      try await db.write { _ = try $0.execute("UPDATE g SET b = 21") }
      #expect(try await values.next() == 21)
    }
  }

  @Test func `rows that the hook cannot give make the table whole`() async throws {
    let schema = """
      CREATE TABLE v (c AS (b) VIRTUAL, id INTEGER PRIMARY KEY, b);
      INSERT INTO v (id, b) VALUES (5, 'b');
      """
    try await withTestDatabase(migrations: plan(schema)) { db, _ in
      // The row id stands in the place of b: which column changed is not known, that one did is.
      let change = try await db.captured("UPDATE v SET b = 'c'")
      #expect(change.rows.map(\.key) == [[5]])
      #expect(change.rows.first?.columns.contains(2) == true)
      try await db.setCaptureMode(.full, forTable: "v")
      #expect(try await db.captured("UPDATE v SET b = 'd'").wholeTables == ["v"])
    }
  }

  static let oddValues: [SQLValue] = [
    .null, .integer(0), .integer(1), .integer(-1), .integer(.min), .integer(.max), .real(0.5),
    .real(1e300), .real(-.infinity), .text(""), .text("a\0b"), .text("é e\u{301} 🎈"),
    .blob([]), .blob([0, 1, 255]), .text(String(repeating: "long", count: 5000)),
  ]

  @Test(arguments: oddValues)
  func `a value comes back from an image as it is stored`(value: SQLValue) async throws {
    try await withTestDatabase(
      configuration: Self.configuration(.full), migrations: plan(Self.schema)
    ) { db, _ in
      let inserted = try await db.captured("INSERT INTO t VALUES (9, NULL, ?)", value)
      #expect(inserted.rows.first?.after?["b"] == value)
      let stored = try await db.read { try $0.query("SELECT b FROM t WHERE id = 9")[0][0] }
      #expect(inserted.rows.first?.after?["b"] == stored)
      let deleted = try await db.captured("DELETE FROM t WHERE id = 9")
      #expect(deleted.rows.first?.before?["b"] == value)
    }
  }

  @Test func `numbers come back as SQLite made them`() async throws {
    let schema = "CREATE TABLE n (id INTEGER PRIMARY KEY, r REAL, i INTEGER, t TEXT, x)"
    var configuration = BoutiqueConfiguration()
    configuration.captureModes = ["n": .full]
    try await withTestDatabase(configuration: configuration, migrations: plan(schema)) { db, _ in
      let change = try await db.captured { conn in
        try conn.execute("INSERT INTO n VALUES (1, 5, '6', 7, 9e999 - 9e999)")
        try conn.execute("INSERT INTO n VALUES (2, -0.0, 2.0, 1.5, ?)", -0.0)
        try conn.execute("UPDATE n SET r = r + 1, i = i WHERE id = 1")
      }
      #expect(
        change.rows[0].after?.values == [1, .real(5), .integer(6), .text("7"), .null])
      #expect(change.rows[1].after?.values[2...3] == [.integer(2), .text("1.5")])
      #expect(change.rows[2].before?["r"] == .real(5))
      #expect(change.rows[2].updates?.named == ["r": .real(6)])
      let stored = try await db.read { conn in
        try conn.query("SELECT * FROM n ORDER BY id").map(\.values)
      }
      #expect(stored[1] == change.rows[1].after?.values)
    }
  }

  @Test func `ten million bytes are kept`() async throws {
    try await withTestDatabase(
      configuration: Self.configuration(.full), migrations: plan(Self.schema)
    ) { db, _ in
      let bytes = [UInt8](repeating: 42, count: 10_000_000)
      let change = try await db.captured("UPDATE t SET b = ? WHERE id = 1", .blob(bytes))
      #expect(change.rows.first?.updates?["b"] == .blob(bytes))
      let zeros = try await db.captured("UPDATE t SET b = zeroblob(10000000) WHERE id = 1")
      #expect(zeros.rows.first?.before?["b"] == .blob(bytes))
      #expect(zeros.rows.first?.after?["b"] == .blob([UInt8](repeating: 0, count: 10_000_000)))
    }
  }

  @Test func `rows that take too much memory make their table whole, and no other`() async throws {
    var configuration = Self.configuration(.full)
    configuration.captureByteLimit = 100_000
    try await withTestDatabase(configuration: configuration, migrations: plan(Self.schema)) {
      db, _ in
      let change = try await db.captured { conn in
        try conn.execute("INSERT INTO plain VALUES ('small', 1)")
        try conn.execute("INSERT INTO t VALUES (20, 'first', zeroblob(40000))")
        try conn.execute("INSERT INTO t VALUES (21, 'second', zeroblob(70000))")
        try conn.execute("INSERT INTO t VALUES (22, 'third', 0)")
        // What t took is free again.
        try conn.execute("INSERT INTO plain VALUES (zeroblob(70000), 2)")
        try conn.execute("UPDATE w SET v = 'z'")
      }
      #expect(change.wholeTables == ["t"])
      #expect(change.rows.map(\.table) == ["plain", "plain", "w"])
      #expect(change.rows.map { $0.after?.values.last } == [1, 2, "z"])
      #expect(change.rows[0].after?["a"] == "small")
      // A single value that does not fit.
      let huge = try await db.captured(
        "UPDATE t SET b = zeroblob(2000000) WHERE id = 0 OR id = 1")
      #expect(huge.wholeTables == ["t"])
      try await db.write { _ = try $0.execute("UPDATE t SET b = 0") }
    }
  }

  @Test func `many small rows are bounded too`() async throws {
    var configuration = Self.configuration(.before)
    configuration.captureByteLimit = 256 * 5000
    try await withTestDatabase(configuration: configuration, migrations: plan(Self.schema)) {
      db, _ in
      // An insertion has no row before, and still takes its place.
      let insert = """
        WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n LIMIT ?)
        INSERT INTO t SELECT i, NULL, NULL FROM n
        """
      #expect(try await db.captured(insert, 4000).rows.count == 4000)
      try await db.write { _ = try $0.execute("DELETE FROM t WHERE id >= 100") }
      #expect(try await db.captured(insert, 6000).wholeTables == ["t"])
    }
  }

  @Test func `a table that keeps rows is not bounded by their number`() async throws {
    var configuration = Self.configuration(.after)
    configuration.captureRowLimit = 10
    try await withTestDatabase(configuration: configuration, migrations: plan(Self.schema)) {
      db, _ in
      let change = try await db.captured(
        """
        WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n LIMIT 3000)
        INSERT INTO t SELECT i, NULL, i FROM n
        """)
      #expect(change.rows.map { $0.after?["b"] } == (100..<3100).map { .integer($0) })
    }
  }

  @Test func `after ALTER TABLE older rows are decoded by position`() async throws {
    try await withTestDatabase(
      configuration: Self.configuration(.full), migrations: plan(Self.schema)
    ) { db, _ in
      let start = try await db.currentToken()
      try await db.write { _ = try $0.execute("INSERT INTO plain VALUES ('x', 'y')") }
      try await db.write { conn in
        try conn.executeScript(
          "ALTER TABLE plain ADD COLUMN c; ALTER TABLE plain RENAME COLUMN a TO first")
      }
      var feed = db.changes(since: start).makeAsyncIterator()
      #expect(try await feed.next()?.rows.first?.after?.named == ["first": "x", "b": "y"])
      try await db.write { _ = try $0.execute("ALTER TABLE plain DROP COLUMN c") }
      try await db.write { _ = try $0.execute("DROP TABLE w") }
      var again = db.changes(since: start).makeAsyncIterator()
      #expect(try await again.next()?.rows.first?.after?.columns == ["first", "b"])
    }
  }

  @Test func `rows of a table that is gone are called by their places`() async throws {
    try await withTestDatabase(
      configuration: Self.configuration(.full), migrations: plan(Self.schema)
    ) { db, _ in
      let start = try await db.currentToken()
      try await db.write { _ = try $0.execute("INSERT INTO plain VALUES ('x', 'y')") }
      try await db.write { _ = try $0.execute("DROP TABLE plain") }
      var feed = db.changes(since: start).makeAsyncIterator()
      #expect(
        try await feed.next()?.rows.first?.after?.named == ["column1": "x", "column2": "y"])
    }
  }

  @Test func `a feed of large rows is read in parts and misses nothing`() async throws {
    try await withTestDatabase(
      configuration: Self.configuration(.after), migrations: plan(Self.schema)
    ) { db, _ in
      let start = try await db.currentToken()
      for id in 100..<112 {
        try await db.write { conn in
          _ = try conn.execute("INSERT INTO t VALUES (?, NULL, zeroblob(3000000))", id)
        }
      }
      var feed = db.changes(since: start).makeAsyncIterator()
      for id in 100..<112 {
        let change = try #require(try await feed.next())
        #expect(!change.isEverything)
        #expect(change.rows.first?.after?["id"] == .integer(Int64(id)))
      }
    }
  }

  @Test func `images go with their commits when the log is pruned`() async throws {
    var configuration = Self.configuration(.full)
    configuration.cdcRetention = .init(rows: 20, age: .seconds(3600))
    try await withTestDatabase(configuration: configuration, migrations: plan(Self.schema)) {
      db, _ in
      for id in 100..<300 {
        try await db.write { _ = try $0.execute("INSERT INTO t VALUES (?, NULL, 0)", id) }
      }
      let (images, oldest, first) = try await db.read { conn in
        (
          try conn.query("SELECT count(*) FROM boutiquedb_image")[0].decode(0, as: Int.self),
          try conn.query("SELECT min(change_id) FROM boutiquedb_image")[0].decode(0, as: Int.self),
          try conn.query("SELECT min(first) FROM boutiquedb_cdc")[0].decode(0, as: Int.self)
        )
      }
      #expect((20..<40).contains(images))
      #expect(oldest == first)
    }
  }

  @Test func `erasing leaves no rows in the log`() async throws {
    try await withTestDatabase(
      configuration: Self.configuration(.full), migrations: plan(Self.schema)
    ) { db, _ in
      try await db.write { _ = try $0.execute("UPDATE t SET b = 'secret'") }
      #expect(try await db.count(of: "SELECT * FROM boutiquedb_image") == 2)
      try await db.erase()
      let kept = try await db.count(
        of: "SELECT * FROM boutiquedb_image WHERE change_id IS NOT NULL")
      #expect(kept == 0)
    }
  }

  @Test func `a log made anew has no rows of the former one`() async throws {
    try await withTestDatabase(
      configuration: Self.configuration(.full), migrations: plan(Self.schema)
    ) { db, _ in
      try await db.write { _ = try $0.execute("UPDATE t SET b = 5") }
      let foreign = try Connection(path: db.path)
      try foreign.execute("DROP TABLE boutiquedb_cdc")
      foreign.close()
      try await db.write { _ = try $0.execute("UPDATE plain SET b = 5") }
      let images = try await db.read { conn in
        try conn.query("SELECT change_id FROM boutiquedb_image").map { $0[0] }
      }
      #expect(images.count == 1)
    }
  }
}
