import SQLiteConnection
import Testing

@Suite struct StatementTests {
  let directory: TemporaryDirectory
  let connection: Connection

  init() throws {
    directory = try TemporaryDirectory()
    connection = try directory.open()
  }

  // MARK: Values

  static let values: [SQLiteValue] = [
    .null, .integer(0), .integer(-1), .integer(.min), .integer(.max),
    .real(0.1), .real(.infinity), .real(-.infinity), .real(.leastNonzeroMagnitude),
    .real(.greatestFiniteMagnitude), .text(""), .text("a\0b"), .text("\0"),
    .text("🧵 é e\u{301}"),
    .text(String(repeating: "long ", count: 100_000)), .blob([]), .blob([0]),
    .blob([UInt8](0...255)),
  ]

  @Test(arguments: values) func `a value comes back as it was bound`(value: SQLiteValue) throws {
    try connection.execute("CREATE TABLE t (a)")
    let insert = try connection.prepare("INSERT INTO t VALUES (?)")
    try insert.bind(value, at: 1)
    try insert.run()
    #expect(try connection.rows("SELECT a FROM t") == [[value]])
    #expect(try connection.rows("SELECT a IS NULL FROM t") == [[.integer(value == .null ? 1 : 0)]])
  }

  @Test func `minus zero keeps its sign as a parameter`() throws {
    // A table stores a whole number as an integer, which has no minus zero.
    let statement = try connection.prepare("SELECT ?")
    try statement.bind(-0.0, at: 1)
    #expect(try statement.step())
    #expect(statement.columnType(0) == .real)
    #expect(statement.double(0).sign == .minus)
    statement.reset()
  }

  @Test func `not a number is bound as NULL`() throws {
    let statement = try connection.prepare("SELECT ?")
    try statement.bind(Double.nan, at: 1)
    #expect(try statement.step())
    #expect(statement.columnType(0) == .null)
    statement.reset()
  }

  @Test func `bytes are bound from a buffer and read in place`() throws {
    let bytes: [UInt8] = [1, 0, 2]
    let statement = try connection.prepare("SELECT ?1, length(?1), ?2")
    try bytes.withUnsafeBytes { try statement.bind(blob: $0, at: 1) }
    try statement.bind(blob: UnsafeRawBufferPointer(start: nil, count: 0), at: 2)
    #expect(try statement.step())
    #expect(statement.withBlob(0) { [UInt8]($0) } == bytes)
    #expect(statement.int64(1) == 3)
    #expect(statement.columnType(2) == .blob)
    #expect(statement.withBlob(2) { $0.count } == 0)
    statement.reset()
  }

  @Test func `invalid UTF-8 is repaired and its bytes can still be read`() throws {
    let statement = try connection.prepare("SELECT CAST(x'61ff62' AS TEXT)")
    #expect(try statement.step())
    #expect(statement.text(0) == "a\u{fffd}b")
    #expect(statement.withText(0) { [UInt8]($0) } == [0x61, 0xff, 0x62])
    statement.reset()
  }

  @Test func `a column that is not there reads as NULL`() throws {
    let statement = try connection.prepare("SELECT 1")
    #expect(try statement.step())
    for index in [-1, 1, Int.max, 1 << 32] {
      #expect(statement.columnType(index) == .null)
      #expect(statement.int64(index) == 0)
      #expect(statement.blob(index) == [])
      #expect(statement.columnName(index) == "")
    }
    statement.reset()
  }

  // MARK: Parameters

  @Test func `parameters are found by name with and without prefix`() throws {
    let statement = try connection.prepare("SELECT :a, @b, $c, ?, ?9")
    #expect(statement.parameterCount == 9)
    for name in ["a", ":a"] { #expect(statement.parameterIndex(named: name) == 1) }
    for name in ["b", "@b"] { #expect(statement.parameterIndex(named: name) == 2) }
    for name in ["c", "$c"] { #expect(statement.parameterIndex(named: name) == 3) }
    for name in ["", "d", "@a", ":b", "A"] { #expect(statement.parameterIndex(named: name) == 0) }
    #expect(statement.parameterIndex(named: "?9") == 9)
    #expect(statement.parameterName(1) == ":a")
    #expect(statement.parameterName(4) == nil)
    #expect(statement.parameterName(0) == nil)
    #expect(statement.parameterName(99) == nil)
    statement.reset()
  }

  @Test(arguments: [0, -1, 3, Int32.max])
  func `a parameter that is not there is an error`(index: Int32) throws {
    let sql = "SELECT ?, ?"
    let statement = try connection.prepare(sql)
    for error in [
      sqliteError({ try statement.bind(.integer(1), at: index) }),
      sqliteError({ try statement.bind("a", at: index) }),
      sqliteError({ try statement.bind(blob: [], at: index) }),
      sqliteError({ try statement.bindNull(at: index) }),
    ] {
      #expect(error?.code == .range)
      #expect(error?.sql == sql)
      #expect(error?.message.contains("has 2") == true)
    }
    statement.reset()
  }

  @Test func `binding a statement under way is an error`() throws {
    let statement = try connection.prepare("SELECT ?")
    #expect(try statement.step())
    #expect(sqliteError { try statement.bind(.integer(1), at: 1) }?.code == .misuse)
    #expect(try !statement.step())
    #expect(sqliteError { try statement.bind(.integer(1), at: 1) }?.code == .misuse)
    statement.reset()
    try statement.bind(.integer(1), at: 1)
    statement.reset()
  }

  // MARK: Text

  @Test(arguments: [
    "", " ", ";", " ; ;\n", "-- comment", "/* comment */", "/* comment", "-- a\n/* b */;",
    "\u{feff}",
  ])
  func `text without a statement is an error`(sql: String) {
    let error = sqliteError { _ = try connection.prepare(sql) }
    #expect(error?.code == .misuse)
    #expect(error?.message == "the text contains no statement")
    #expect(error?.sql == sql)
  }

  @Test(arguments: [
    "SELECT 1;", "SELECT 1 ; ; ", ";SELECT 1", "SELECT 1 -- comment", "SELECT 1; -- comment",
    "SELECT 1 /* comment */;\n\t\u{c}\r/* open", "-- first\nSELECT 1", "\u{feff}SELECT 1",
    "/* ; */ SELECT 1; /* * / ; **/", "/*/ SELECT 2 */ SELECT 1 /**/",
  ])
  func `comments and semicolons around a statement are fine`(sql: String) throws {
    #expect(try connection.queryInt64(sql) == 1)
  }

  @Test(arguments: [
    ("SELECT 1; SELECT 2", "SELECT 2"), ("SELECT 1;-- a\n nonsense", "nonsense"),
    ("SELECT 1;/**/x", "x"), ("SELECT 1;/", "/"), ("SELECT 1;\0", "\0"), ("SELECT 1;-", "-"),
    ("SELECT 1\0SELECT 2", "\0SELECT 2"), ("SELECT 1;--a\0DROP TABLE t", "\0DROP TABLE t"),
  ])
  func `more than one statement is an error`(sql: String, trailing: String) throws {
    let error = sqliteError { _ = try connection.prepare(sql) }
    #expect(error?.code == .misuse)
    #expect(error?.message.hasSuffix(": \(trailing)") == true)
    #expect(error?.byteOffset == sql.utf8.count - trailing.utf8.count)
    #expect(!connection.hasBusyStatement())
  }

  @Test func `an error tells code, message, statement, file and place`() throws {
    try connection.execute("CREATE TABLE t (a UNIQUE NOT NULL)")
    let sql = "/* ö */ SELECT a, misspelt FROM t"
    let compilation = sqliteError { _ = try connection.prepare(sql) }
    #expect(compilation?.code == .error)
    #expect(compilation?.message == "no such column: misspelt")
    #expect(compilation?.sql == sql)
    #expect(compilation?.path == directory.file())
    #expect(compilation?.byteOffset == 19)

    let insert = try connection.prepare("INSERT INTO t VALUES (?)")
    let execution = sqliteError { try insert.run() }
    #expect(execution?.code == .constraintNotNull)
    #expect(execution?.code.primary == .constraint)
    #expect(execution?.message == "NOT NULL constraint failed: t.a")
    #expect(execution?.sql == "INSERT INTO t VALUES (?)")
    #expect(execution?.description.contains("SQLITE_CONSTRAINT_NOTNULL (1299)") == true)
    #expect(!insert.isInUse && !insert.isBusy)
  }

  @Test func `codes match their primary code as a pattern`() {
    func name(_ code: ResultCode) -> String {
      switch code {
      case .busySnapshot: "snapshot"
      case .busy: "busy"
      default: "other"
      }
    }
    #expect(name(.busy) == "busy")
    #expect(name(.busyRecovery) == "busy")
    #expect(name(.busySnapshot) == "snapshot")
    #expect(name(.locked) == "other")
    #expect(ResultCode(rawValue: 5 | 99 << 8).description == "SQLITE_BUSY (25349)")
  }

  // MARK: Steps

  @Test func `steps past the end do not run a statement again`() throws {
    try connection.execute("CREATE TABLE t (a)")
    let insert = try connection.prepare("INSERT INTO t VALUES (1)")
    for _ in 0..<3 { #expect(try !insert.step()) }
    #expect(try connection.queryInt64("SELECT count(*) FROM t") == 1)
    insert.reset()
    try insert.run()
    #expect(try connection.queryInt64("SELECT count(*) FROM t") == 2)
    let query = try connection.prepare("SELECT a FROM t")
    #expect(try query.step() && query.step())
    for _ in 0..<3 { #expect(try !query.step()) }
    query.reset()
  }

  @Test func `a reset clears the parameters and may be repeated`() throws {
    let statement = try connection.prepare("SELECT ?")
    try statement.bind("secret", at: 1)
    statement.reset()
    statement.reset()
    #expect(try statement.step())
    #expect(statement.columnType(0) == .null)
    statement.reset()
  }

  @Test func `busy statements are found and reset`() throws {
    try connection.script("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
    let statement = try connection.prepare("SELECT a FROM t")
    #expect(!connection.hasBusyStatement())
    #expect(try statement.step())
    #expect(connection.hasBusyStatement())
    #expect(statement.isBusy)
    connection.resetBusyStatements()
    #expect(!connection.hasBusyStatement())
    #expect(!statement.isInUse)
  }

  @Test func `columns tell their names, origins and declared types`() throws {
    try connection.execute("CREATE TABLE t (a VARCHAR(10), b)")
    let statement = try connection.prepare("SELECT a AS x, b, 1 + 1 FROM t")
    #expect(statement.columnNames == ["x", "b", "1 + 1"])
    #expect(statement.columnCount == 3)
    #expect(statement.columnOrigin(0)?.table == "t")
    #expect(statement.columnOrigin(0)?.column == "a")
    #expect(statement.columnOrigin(2) == nil)
    #expect(statement.declaredType(0) == "VARCHAR(10)")
    #expect(statement.declaredType(1) == nil)
    #expect(statement.isReadOnly)
    #expect(try !connection.prepare("DELETE FROM t").isReadOnly)
    statement.reset()
  }

  @Test func `a single value is asked for in one line`() throws {
    #expect(try connection.queryInt64("SELECT 3 UNION ALL SELECT 4") == 3)
    #expect(try connection.queryInt64("SELECT NULL") == nil)
    #expect(try connection.queryInt64("SELECT 1 WHERE 0") == nil)
    #expect(try connection.queryText("SELECT 'a'") == "a")
    #expect(try connection.queryText("SELECT NULL") == nil)
    #expect(!connection.hasBusyStatement())
  }
}
