import SQLiteConnection
import Testing

@Suite struct ScriptTests {
  let directory: TemporaryDirectory
  let connection: Connection

  init() throws {
    directory = try TemporaryDirectory()
    connection = try directory.open()
  }

  @Test func `a script runs its statements in order`() throws {
    try connection.script(
      """
      ;; -- a table; with a semicolon in the comment
      CREATE TABLE t (a TEXT);
      CREATE TRIGGER g AFTER INSERT ON t BEGIN
        UPDATE t SET a = a || ';' WHERE rowid = new.rowid;
      END;
      /* rows */ INSERT INTO t VALUES ('ö;');
      SELECT a FROM t;
      -- the end
      """)
    #expect(try connection.rows("SELECT a FROM t") == [[.text("ö;;")]])
    #expect(!connection.hasBusyStatement())
  }

  @Test(arguments: ["", " ", "-- nothing", ";;"])
  func `a script without a statement does nothing`(sql: String) throws {
    var count = 0
    try connection.executeScript(sql) { _ in count += 1 }
    #expect(count == 0)
  }

  @Test func `each statement is shown before it is run`() throws {
    struct Refused: Error {}
    var texts: [String] = []
    #expect(throws: Refused.self) {
      try connection.executeScript("CREATE TABLE t (a); DROP TABLE t; SELECT 1") { statement in
        texts.append(statement.sql)
        if statement.effects.schemaChanges.contains(where: { $0.kind == .dropTable }) {
          throw Refused()
        }
      }
    }
    #expect(texts == ["CREATE TABLE t (a);", "DROP TABLE t;"])
    #expect(try connection.queryInt64("SELECT count(*) FROM t") == 0)
  }

  @Test(
    arguments: [
      ("SELECT 1; SELECT nonsense, 2; SELECT 2", 2, 7, "no such column: nonsense"),
      ("CREATE TABLE t (a NOT NULL); SELECT 1; INSERT INTO t VALUES (NULL)", 3, nil, nil),
      ("SELECT 1; SELEC 2", 2, 0, nil),
    ] as [(String, Int, Int?, String?)])
  func `an error says which statement it was`(
    sql: String, number: Int, offset: Int?, message: String?
  ) {
    let error = sqliteError { try connection.script(sql) }
    #expect(error?.statementNumber == number)
    let text = String(sql.split(separator: ";")[number - 1].drop { $0 == " " })
    #expect(error?.sql == text || error?.sql == text + ";")
    #expect(error?.byteOffset == offset)
    if let message { #expect(error?.message == message) }
    #expect(error?.description.contains("statement \(number) of the script") == true)
  }

  @Test func `what one statement of a script does is not told of the next`() throws {
    var effects: [StatementEffects] = []
    try connection.executeScript(
      """
      CREATE VIRTUAL TABLE f USING fts5(a);
      INSERT INTO f VALUES ('a');
      SELECT 1;
      """
    ) { effects.append($0.effects) }
    #expect(effects.count == 3)
    #expect(effects[0].schemaChanges.contains { $0.kind == .createVirtualTable })
    #expect(effects[1].isPlain)
    #expect(effects[2] == StatementEffects())
  }
}
