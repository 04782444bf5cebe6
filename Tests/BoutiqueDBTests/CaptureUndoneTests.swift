import BoutiqueDB
import TestDatabase
import Testing

/// What a failed statement, a failed savepoint and their mixtures leave in the log.
@Suite(.serialized) struct CaptureUndoneTests {
  static let schema = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, u UNIQUE);
    CREATE TABLE c (id INTEGER PRIMARY KEY, t REFERENCES t (id));
    CREATE TABLE log (id INTEGER PRIMARY KEY, what);
    INSERT INTO t VALUES (1, 'one');
    """

  static func configuration(_ mode: CaptureMode) -> BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    configuration.captureModes = ["t": mode, "c": mode, "log": mode]
    return configuration
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var what: String
    /// Added to the schema.
    var trigger = ""
    /// Fails, in a transaction that goes on.
    var sql: String
    /// The rows that are captured, as `table id`.
    var rows: [String] = []
    var whole: Set<String> = []
    var testDescription: String { what }
  }

  static let cases: [Case] = [
    Case(what: "an aborted insert", sql: "INSERT INTO t VALUES (2, 'two'), (3, 'one')"),
    Case(what: "an aborted update", sql: "UPDATE t SET u = 'same'; "),
    Case(
      what: "OR FAIL keeps the rows before", sql: "INSERT OR FAIL INTO t VALUES (2, 'x'), (3, 'x')",
      rows: ["t 2"]),
    Case(
      what: "OR FAIL without a row before", sql: "INSERT OR FAIL INTO t VALUES (2, 'one'), (3, 'x')"
    ),
    Case(
      what: "RAISE(ABORT) after a trigger's own change",
      trigger: """
        CREATE TRIGGER r BEFORE INSERT ON t BEGIN
          INSERT INTO log (what) VALUES (new.id);
          SELECT RAISE(ABORT, 'no') WHERE new.id = 3;
        END;
        """,
      sql: "INSERT INTO t VALUES (2, 'two'), (3, 'three')"),
    Case(
      what: "RAISE(FAIL) after a row",
      trigger: """
        CREATE TRIGGER r BEFORE INSERT ON t BEGIN
          INSERT INTO log (what) VALUES (new.id);
          SELECT RAISE(FAIL, 'no') WHERE new.id = 3;
        END;
        """,
      sql: "INSERT INTO t VALUES (2, 'two'), (3, 'three')", rows: ["log 1", "t 2", "log 2"]),
    // SQLite counts no row here, so what stayed cannot be told from what was undone.
    Case(
      what: "RAISE(FAIL) when only a trigger has changed something",
      trigger: """
        CREATE TRIGGER r BEFORE INSERT ON t BEGIN
          INSERT INTO log (what) VALUES (new.id);
          SELECT RAISE(FAIL, 'no');
        END;
        """,
      sql: "INSERT INTO t VALUES (2, 'two')", whole: ["log"]),
    Case(
      what: "an aborted statement in a schema that knows FAIL",
      trigger: "CREATE TABLE other (a UNIQUE ON CONFLICT FAIL);",
      sql: "INSERT INTO t VALUES (2, 'two'), (3, 'one')", whole: ["t"]),
    Case(
      what: "ON CONFLICT FAIL of a table",
      trigger: "CREATE TABLE other (id INTEGER PRIMARY KEY, a UNIQUE ON CONFLICT FAIL);",
      sql: "INSERT INTO other VALUES (1, 'a'), (2, 'a')", rows: ["other 1"]),
    Case(what: "a foreign key at the statement's end", sql: "INSERT INTO c VALUES (1, 1), (2, 99)"),
    Case(
      what: "a foreign key of OR FAIL", sql: "INSERT OR FAIL INTO c VALUES (1, 1), (2, 99)",
      whole: ["c"]),
    Case(
      what: "a displaced row", sql: "INSERT OR REPLACE INTO t VALUES (5, 'one'), (6, abs(-1 << 63))"
    ),
  ]

  @Test(arguments: cases, [CaptureMode.id, .full])
  func `a failed statement leaves`(what example: Case, mode: CaptureMode) async throws {
    try await withTestDatabase(
      configuration: Self.configuration(mode), migrations: plan(Self.schema + example.trigger)
    ) { db, _ in
      if example.sql.hasPrefix("UPDATE") {
        try await db.write { _ = try $0.execute("INSERT INTO t VALUES (8, 'eight')") }
      }
      let change = try await db.captured { conn in
        try conn.execute("INSERT INTO log VALUES (100, 'before')")
        #expect(throws: BoutiqueError.self) { try conn.execute(example.sql) }
        try conn.execute("INSERT INTO log VALUES (200, 'after')")
      }
      let rows = change.rows.map { "\($0.table) \($0.key[0])" }
      let expected = ["log 100"] + example.rows.map { $0 } + ["log 200"]
      if example.whole.contains("log") {
        #expect(rows == [])
      } else {
        #expect(rows.count == expected.count)
        for row in example.rows where !row.hasPrefix("log") { #expect(rows.contains(row)) }
      }
      #expect(change.wholeTables == example.whole)
      // What the log says is there, is there.
      for row in change.rows {
        let count = try await db.count(of: "SELECT 1 FROM \(row.table) WHERE id = \(row.key[0])")
        #expect(count == (row.kind == .delete ? 0 : 1), "\(row)")
        if mode == .full, row.table != "other" { #expect(row.after?["id"] == row.key[0]) }
      }
    }
  }

  @Test func `rows of a failed statement are not counted towards the limit`() async throws {
    var configuration = Self.configuration(.id)
    configuration.captureRowLimit = 5
    try await withTestDatabase(configuration: configuration, migrations: plan(Self.schema)) {
      db, _ in
      let change = try await db.captured { conn in
        for _ in 0..<10 {
          #expect(throws: BoutiqueError.self) {
            try conn.execute("INSERT INTO t VALUES (2, 'two'), (3, 'three'), (4, 'one')")
          }
        }
        // Past the limit and undone: not whole.
        #expect(throws: BoutiqueError.self) {
          try conn.execute(
            "INSERT INTO t VALUES (2,2), (3,3), (4,4), (5,5), (6,6), (7,7), (8,'one')")
        }
        for id in 10..<15 { try conn.execute("INSERT INTO t VALUES (?, NULL)", id) }
      }
      #expect(change.wholeTables == [])
      #expect(change.rows.map(\.key) == (10..<15).map { [.integer($0)] })
    }
  }

  @Test func `savepoints and failed statements nest`() async throws {
    struct Stop: Error {}
    try await withTestDatabase(
      configuration: Self.configuration(.full), migrations: plan(Self.schema)
    ) { db, _ in
      let change = try await db.captured { conn in
        try conn.execute("INSERT INTO t VALUES (10, 'a')")
        try? conn.savepoint {
          try conn.execute("INSERT INTO t VALUES (11, 'b')")
          try conn.savepoint {
            _ = try? conn.execute("INSERT INTO t VALUES (12, 'c'), (13, 'one')")
            try conn.execute("INSERT INTO t VALUES (14, 'd')")
          }
          throw Stop()
        }
        try conn.savepoint {
          _ = try? conn.execute("INSERT INTO t VALUES (15, 'e'), (16, 'one')")
          try conn.execute("INSERT INTO t VALUES (17, 'f')")
        }
        try? conn.savepoint {
          try conn.execute("DELETE FROM log")
          throw Stop()
        }
      }
      #expect(change.rows.map(\.key) == [[10], [17]])
      #expect(change.rows.map { $0.after?["u"] } == ["a", "f"])
      #expect(change.tables == ["t"])
    }
  }

  @Test func `a body that stops reading keeps what its statement did`() async throws {
    struct Stop: Error {}
    try await withTestDatabase(
      configuration: Self.configuration(.full), migrations: plan(Self.schema)
    ) { db, _ in
      let change = try await db.captured { conn in
        try? conn.forEachRow("INSERT INTO c VALUES (1, 1), (2, 1) RETURNING id") { _ in
          throw Stop()
        }
        // This one fails before it has a row.
        try? conn.forEachRow("INSERT INTO c VALUES (3, 1), (4, 99) RETURNING id") { _ in
          throw Stop()
        }
      }
      #expect(change.rows.map(\.key) == [[1], [2]])
      #expect(try await db.count(of: "SELECT * FROM c") == 2)
    }
  }

  @Test func `a rollback leaves nothing, and the next commit its own only`() async throws {
    struct Stop: Error {}
    try await withTestDatabase(
      configuration: Self.configuration(.full), migrations: plan(Self.schema)
    ) { db, _ in
      let start = try await db.currentToken()
      try? await db.write { conn in
        try conn.execute("INSERT INTO t VALUES (2, 'two')")
        throw Stop()
      }
      try? await db.write { conn in
        _ = try conn.execute("INSERT OR ROLLBACK INTO t VALUES (2, 'two'), (3, 'one')")
      }
      #expect(try await db.currentToken() == start)
      let change = try await db.captured("INSERT INTO t VALUES (4, 'four')")
      #expect(change.rows.map { $0.after?["id"] } == [4])
      #expect(try await db.count(of: "SELECT * FROM boutiquedb_image") == 1)
    }
  }
}
