import BoutiqueDB
import TestDatabase
import Testing

/// Statements about the schema that do something else each time they run.
///
/// Found by the workload `schema-changes`: a statement that had found nothing to drop was kept, and dropped what
/// another process had made meanwhile; the commit told of its rows and not of the table.
@Suite struct CaptureDefinitionTests {
  private struct Undo: Error {}

  private func withTwo(_ body: (BoutiqueDB, BoutiqueDB) async throws -> Void) async throws {
    try await withTestDatabase { db, directory in
      try await db.write { try $0.execute("CREATE TABLE beside (n)") }
      let other = try await BoutiqueDB.open(path: directory.file("test.db"))
      try await body(db, other)
      await other.close()
    }
  }

  /// Returns the tables that a write, which changes a row beside, tells to have changed as a whole.
  private func told(
    by db: BoutiqueDB, _ body: @escaping @Sendable (BoutiqueConnection) throws -> Void
  ) async throws -> [String] {
    let start = try await db.currentToken()
    try await db.write {
      try body($0)
      try $0.execute("INSERT INTO beside VALUES (1)")
    }
    var tables: [String] = []
    for try await change in db.changes(since: start, following: false) {
      tables += change.wholeTables
    }
    return tables
  }

  @Test(arguments: ["DROP TABLE IF EXISTS t", "  /* gone */ drop table if exists t;"])
  func `a table that another process has made is dropped with a trace`(_ drop: String) async throws
  {
    try await withTwo { db, other in
      // Finds nothing to do.
      try await db.write { try $0.execute(drop) }
      try await other.write {
        try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
        try $0.execute("INSERT INTO t VALUES (1, 'a')")
      }
      let tables = try await told(by: db) { try $0.execute(drop) }
      #expect(tables.contains("t"))
    }
  }

  @Test func `what was undone is dropped with a trace the second time`() async throws {
    try await withTwo { db, _ in
      let drop = "DROP TABLE IF EXISTS t"
      try await db.write { try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v)") }
      let tables = try await told(by: db) { connection in
        try? connection.savepoint {
          try connection.execute(drop)
          // Finds nothing to do.
          try connection.execute(drop)
          throw Undo()
        }
        try connection.execute(drop)
      }
      #expect(tables.contains("t"))
    }
  }

  @Test func `what is made only if it is not there leaves a trace`() async throws {
    try await withTwo { db, other in
      let make = [
        "CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, v)",
        "CREATE INDEX IF NOT EXISTS i ON t (v)", "CREATE VIEW IF NOT EXISTS w AS SELECT v FROM t",
      ]
      for _ in 0..<2 { for sql in make { try await db.write { try $0.execute(sql) } } }
      try await other.write { try $0.executeScript("DROP VIEW w; DROP TABLE t") }
      for (sql, name) in zip(make, ["t", "t", "w"]) {
        let tables = try await told(by: db) { try $0.execute(sql) }
        #expect(tables.contains(name), "\(sql)")
      }
    }
  }
}
