import SQLiteConnection
import Testing

/// Cached statements when another connection changes the schema under them.
@Suite struct SchemaChangeTests {
  let directory: TemporaryDirectory
  let connection: Connection
  let other: Connection

  init() throws {
    directory = try TemporaryDirectory()
    connection = try directory.open()
    other = try directory.open()
    try other.script("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
  }

  @Test func `a column added by another connection appears in the cached statement`() throws {
    let statement = try connection.prepare("SELECT * FROM t")
    #expect(statement.columnNames == ["a"])
    #expect(statement.readSet.tables == ["t": ["a"]])
    try statement.run()
    try other.execute("ALTER TABLE t ADD COLUMN b DEFAULT 7")
    let again = try connection.prepare("SELECT * FROM t")
    #expect(again === statement)
    #expect(try again.step())
    #expect(again.columnNames == ["a", "b"])
    #expect(again.columnCount == 2)
    #expect(again.int64(1) == 7)
    #expect(again.readSet.tables == ["t": ["a", "b"]])
    again.reset()
  }

  @Test func `a dropped table is an error until it is back`() throws {
    let sql = "SELECT a FROM t"
    try connection.execute(sql)
    try other.execute("DROP TABLE t")
    #expect(sqliteError { try connection.execute(sql) }?.message == "no such table: t")
    #expect(!connection.hasBusyStatement())
    try other.script("CREATE TABLE t (x, a); INSERT INTO t VALUES (1, 5)")
    #expect(try connection.queryInt64(sql) == 5)
  }

  @Test func `a view redefined by another connection changes the read set`() throws {
    try other.script("CREATE TABLE u (c); CREATE VIEW v AS SELECT a AS x FROM t")
    let sql = "SELECT x FROM v"
    try connection.execute(sql)
    try other.script("DROP VIEW v; CREATE VIEW v AS SELECT c AS x FROM u")
    let statement = try connection.prepare(sql)
    try statement.run()
    #expect(statement.readSet.tables == ["v": ["x"], "u": ["c"]])
  }

  @Test func `a trigger made by another connection changes what a statement writes`() throws {
    let sql = "INSERT INTO t VALUES (2)"
    let statement = try connection.prepare(sql)
    #expect(statement.effects.writtenTables == ["t"])
    statement.reset()
    try other.script(
      """
      CREATE TABLE log (a);
      CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END
      """)
    try connection.execute(sql)
    #expect(statement.effects.writtenTables == ["t", "log"])
    #expect(statement.effects.isPlain)
  }
}
