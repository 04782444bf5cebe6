import Blackbird
import BoutiqueDB
import TestDatabase
import Testing

@Suite struct DatabaseErrorTests {
  private func withTables(_ body: (Blackbird.Database) async throws -> Void) async throws {
    let db = try Blackbird.Database.inMemoryDatabase()
    try await db.execute(
      """
      CREATE TABLE person (id INTEGER PRIMARY KEY, mail TEXT UNIQUE, first TEXT, last TEXT,
        age INTEGER NOT NULL CHECK (age >= 0));
      CREATE UNIQUE INDEX whole ON person (first, last);
      CREATE TABLE word (w TEXT);
      CREATE UNIQUE INDEX folded ON word (lower(w));
      CREATE TABLE pair (a TEXT, b TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
      CREATE TABLE owned (person INTEGER REFERENCES person);
      INSERT INTO person VALUES (1, 'a@example.org', 'Ada', 'King', 36);
      INSERT INTO pair VALUES ('x', 'y');
      INSERT INTO word VALUES ('a');
      """)
    try await body(db)
    await db.close()
  }

  @Test(arguments: [
    ("INSERT INTO person VALUES (1, 'b', 'B', 'B', 1)", "person", ["id"]),
    ("INSERT INTO person VALUES (2, 'a@example.org', 'B', 'B', 1)", "person", ["mail"]),
    ("INSERT INTO person VALUES (2, 'b', 'Ada', 'King', 1)", "person", ["first", "last"]),
    ("INSERT INTO pair VALUES ('x', 'y')", "pair", ["a", "b"]),
  ])
  func `a unique violation names the table and the columns`(
    sql: String, table: String, columns: [String]
  ) async throws {
    try await withTables { db in
      let error = try await databaseError { try await db.query(sql) }
      guard case .uniqueConstraintFailed(let details) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(details.uniqueTable == table)
      #expect(details.uniqueColumns == columns)
      #expect(details.code == 19)
      #expect("\(details)".contains(columns[0]))
    }
  }

  @Test func `a unique index over an expression is named instead`() async throws {
    try await withTables { db in
      let error = try await databaseError {
        try await db.query("INSERT INTO word VALUES ('A')")
      }
      guard case .uniqueConstraintFailed(let details) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(details.uniqueTable == nil && details.uniqueColumns.isEmpty)
      #expect(details.message.contains("folded"))
    }
  }

  @Test(arguments: [
    ("INSERT INTO person VALUES (2, 'b', 'B', 'B', NULL)", 1299),
    ("INSERT INTO person VALUES (2, 'b', 'B', 'B', -1)", 275),
    ("INSERT INTO owned VALUES (99)", 787),
  ])
  func `other constraints are not taken for unique ones`(sql: String, code: Int32) async throws {
    try await withTables { db in
      let error = try await databaseError { try await db.query(sql) }
      guard case .queryExecutionError(_, let details) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(details.extendedCode == code)
      #expect(details.code == 19)
    }
  }

  @Test func `a statement that is not understood tells where`() async throws {
    try await withTables { db in
      let error = try await databaseError { try await db.query("SELECT 1 FRMO person") }
      guard case .queryError(let query, let details) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(query == "SELECT 1 FRMO person")
      #expect(details.code == 1 && details.offset == 14)
      let table = try await databaseError { try await db.query("SELECT 1 FROM nosuch") }
      guard case .queryError = table else {
        Issue.record("\(String(describing: table))")
        return
      }
      #expect(table?.description.contains("nosuch") == true)
    }
  }
}
