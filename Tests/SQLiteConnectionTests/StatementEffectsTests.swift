import SQLiteConnection
import Testing

@Suite struct StatementEffectsTests {
  typealias Effects = StatementEffects

  let directory: TemporaryDirectory
  let connection: Connection

  init() throws {
    directory = try TemporaryDirectory()
    connection = try directory.open()
    try connection.script(
      """
      CREATE TABLE t (a, b);
      CREATE INDEX i ON t (a);
      CREATE VIEW v AS SELECT a FROM t;
      CREATE TRIGGER g AFTER DELETE ON t BEGIN SELECT 1; END;
      """)
  }

  func effects(_ sql: String) throws -> Effects {
    let statement = try connection.prepare(sql)
    defer { statement.reset() }
    return statement.effects
  }

  @Test(
    arguments: [
      ("SELECT * FROM t", []), ("INSERT INTO t VALUES (1, 2)", ["t"]),
      ("UPDATE t SET a = 1", ["t"]), ("DELETE FROM t", ["t"]),
      ("REPLACE INTO t VALUES (1, 2)", ["t"]),
      ("WITH c AS (SELECT 1) INSERT INTO t SELECT 1, 2 FROM c RETURNING a", ["t"]),
      ("EXPLAIN SELECT 1", []),
    ] as [(String, Set<String>)])
  func `reading and writing rows is plain`(sql: String, tables: Set<String>) throws {
    let effects = try effects(sql)
    #expect(effects.isPlain)
    #expect(effects.writtenTables == tables)
  }

  @Test(
    arguments: [
      ("BEGIN", .begin), ("BEGIN IMMEDIATE", .begin), ("COMMIT", .commit), ("END", .commit),
      ("ROLLBACK", .rollback),
    ] as [(String, Effects.TransactionControl)])
  func `transaction control is told`(sql: String, control: Effects.TransactionControl) throws {
    let effects = try effects(sql)
    #expect(effects.transactionControl == control)
    #expect(!effects.isPlain)
  }

  @Test(
    arguments: [
      ("SAVEPOINT s", .begin), ("RELEASE s", .release), ("ROLLBACK TO s", .rollback),
    ] as [(String, Effects.SavepointControl.Operation)])
  func `savepoints are told`(sql: String, operation: Effects.SavepointControl.Operation) throws {
    let effects = try effects(sql)
    #expect(effects.savepoint == .init(operation: operation, name: "s"))
    #expect(!effects.isPlain)
  }

  @Test(
    arguments: [
      ("CREATE TABLE x (a)", .createTable, "x", "x", "main"),
      ("CREATE TEMP TABLE x (a)", .createTable, "x", "x", "temp"),
      ("CREATE INDEX x ON t (b)", .createIndex, "x", "t", "main"),
      ("CREATE VIEW x AS SELECT 1", .createView, "x", nil, "main"),
      ("CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END", .createTrigger, "x", "t", "main"),
      ("CREATE VIRTUAL TABLE x USING fts5(a)", .createVirtualTable, "x", "x", "main"),
      ("DROP TABLE t", .dropTable, "t", "t", "main"),
      ("DROP INDEX i", .dropIndex, "i", "t", "main"),
      ("DROP VIEW v", .dropView, "v", nil, "main"),
      ("DROP TRIGGER g", .dropTrigger, "g", "t", "main"),
      ("ALTER TABLE t RENAME TO x", .alterTable, "t", "t", "main"),
      ("ALTER TABLE t ADD COLUMN c", .alterTable, "t", "t", "main"),
      ("ALTER TABLE t DROP COLUMN b", .alterTable, "t", "t", "main"),
      ("ALTER TABLE t RENAME COLUMN b TO c", .alterTable, "t", "t", "main"),
      ("REINDEX i", .reindex, "i", nil, "main"),
      ("ANALYZE t", .analyze, "t", "t", "main"),
    ] as [(String, Effects.SchemaChange.Kind, String, String?, String)])
  func `schema changes are told`(
    sql: String, kind: Effects.SchemaChange.Kind, object: String, table: String?, database: String
  ) throws {
    let effects = try effects(sql)
    #expect(
      effects.schemaChanges.contains(
        .init(kind: kind, objectName: object, tableName: table, databaseName: database)))
    #expect(!effects.isPlain)
    #expect(!effects.writtenTables.contains("sqlite_master"))
  }

  @Test func `pragmas are told with their argument`() throws {
    let query = try effects("PRAGMA User_Version")
    #expect(query.pragma == .init(name: "user_version", argument: nil))
    let change = try effects("PRAGMA user_version = 7")
    #expect(change.pragma == .init(name: "user_version", argument: "7"))
    #expect(!query.isPlain && !change.isPlain)
  }

  @Test(arguments: ["VACUUM", "vacuum", ";/**/ Vacuum INTO '/nowhere/x'"])
  func `a vacuum is told`(sql: String) throws {
    let effects = try effects(sql)
    #expect(effects.isVacuum)
    #expect(!effects.isPlain)
  }

  @Test func `attached and detached databases are told`() throws {
    let attach = try effects("ATTACH '/nowhere/x' AS y")
    #expect(attach.attachedFile == "/nowhere/x")
    #expect(try effects("ATTACH '/nowhere' || '/x' AS y").attachedFile == "")
    #expect(try effects("DETACH y").detachedDatabase == "y")
    #expect(!attach.isPlain)
  }

  @Test func `a refused pragma does not take effect`() throws {
    connection.setPragmaPolicy { name, argument in name != "foreign_keys" || argument == nil }
    for prefix in ["", "EXPLAIN ", "explain /* x */ query plan ", " -- x\n"] {
      let error = sqliteError { try connection.execute("\(prefix)PRAGMA Foreign_Keys = OFF") }
      #expect(error?.code == .auth)
    }
    #expect(try connection.queryInt64("PRAGMA foreign_keys") == 1)
    // Compiling alone would have been enough, which is why the policy exists.
    connection.setPragmaPolicy(nil)
    try connection.prepare("PRAGMA foreign_keys = OFF").reset()
    #expect(try connection.queryInt64("PRAGMA foreign_keys") == 0)
  }
}
