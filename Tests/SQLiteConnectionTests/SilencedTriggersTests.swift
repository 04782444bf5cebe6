import SQLiteConnection
import Testing

/// Triggers that note something for other programs and do nothing here.
@Suite struct SilencedTriggersTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    let connection = try directory.open()
    try connection.executeScript(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, v UNIQUE);
      CREATE TABLE note (what, id);
      CREATE TABLE log (id);
      CREATE TRIGGER our_insert AFTER INSERT ON t WHEN EXISTS (SELECT 1 FROM t WHERE v = new.v)
        BEGIN INSERT INTO note SELECT v, id FROM t WHERE id = new.id; END;
      CREATE TRIGGER their_insert AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.id); END;
      """)
    connection.close()
  }

  private func open() throws -> Connection {
    let connection = try directory.open()
    connection.silenceTriggers(named: "our_", insertingInto: "note")
    return connection
  }

  @Test func `they insert nothing, and other triggers go on`() throws {
    let connection = try open()
    try connection.execute("INSERT INTO t VALUES (1, 'a')")
    #expect(try connection.queryInt64("SELECT count(*) FROM note") == 0)
    #expect(try connection.queryInt64("SELECT id FROM log") == 1)
    let other = try directory.open()
    try other.execute("INSERT INTO t VALUES (2, 'b')")
    #expect(try connection.queryText("SELECT what FROM note") == "b")
  }

  @Test func `a statement that is compiled again stays silent`() throws {
    let connection = try open()
    let insert = try connection.prepare("INSERT INTO t (v) VALUES (?1)")
    for value in ["a", "b"] {
      try insert.bind(value, at: 1)
      try insert.run()
      try connection.executeScript("CREATE TABLE another_\(value) (x)")
    }
    try connection.execute("INSERT INTO t VALUES (9, 'c')")
    #expect(try connection.queryInt64("SELECT count(*) FROM note") == 0)
    #expect(try connection.queryInt64("SELECT count(*) FROM log") == 3)
  }

  @Test func `what they would read and write is no effect of the statement`() throws {
    let connection = try open()
    let insert = try connection.prepare("INSERT INTO t VALUES (1, 'a')")
    #expect(insert.effects.writtenTables == ["t", "log"])
    #expect(insert.readSet.tables["t"]?.contains("v") != true)
    insert.reset()
  }

  @Test func `a copy made by VACUUM keeps what others noted`() throws {
    let other = try directory.open()
    try other.execute("INSERT INTO t VALUES (2, 'b')")
    let connection = try open()
    try connection.execute("VACUUM")
    #expect(try connection.queryText("SELECT what FROM note") == "b")
  }
}
