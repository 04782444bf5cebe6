import Foundation
import SQLiteConnection
import Testing

@Suite struct ConnectionTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test func `a missing file is an error that names the file`() throws {
    let path = directory.file("none.db")
    let error = sqliteError { _ = try Connection(path: path, options: ConnectionOptions()) }
    #expect(error?.code == .cantOpen)
    #expect(error?.path == path)
    #expect(error?.systemError == ENOENT)
    #expect(error?.description.contains(path) == true)
    #expect(directory.names == [])
  }

  @Test func `an empty path and a path with a NUL are refused`() {
    for path in ["", "a\0b"] {
      let error = sqliteError { _ = try Connection(path: path) }
      #expect(error?.code == .cantOpen)
    }
  }

  @Test func `a name that begins with file and a colon is a name`() throws {
    // Only a relative path can begin so, and the current directory is everybody's: the file is
    // made there under a name of its own, and removed.
    let name = "file:\(UUID().uuidString).db?mode=memory"
    defer { try? FileManager.default.removeItem(atPath: "./\(name)") }
    var options = ConnectionOptions()
    options.access = .readWriteCreate
    let connection = try Connection(path: name, options: options)
    try connection.execute("CREATE TABLE t (a)")
    #expect(connection.path == name)
    #expect(FileManager.default.fileExists(atPath: "./\(name)"))
  }

  @Test func `a database in memory leaves no file`() throws {
    var options = ConnectionOptions()
    options.access = .readWriteCreate
    let connection = try Connection(path: ":memory:", options: options)
    try connection.execute("CREATE TABLE t (a)")
    #expect(try connection.queryInt64("SELECT count(*) FROM t") == 0)
    #expect(connection.walIndexHeader() == nil)
  }

  @Test func `a read-only connection and a query-only one cannot write`() throws {
    let writer = try directory.open()
    try writer.execute("CREATE TABLE t (a)")
    let reader = try directory.open { $0.access = .readOnly }
    #expect(sqliteError { try reader.execute("INSERT INTO t VALUES (1)") }?.code == .readOnly)
    let query = try directory.open {
      $0.access = .readWrite
      $0.queryOnly = true
    }
    #expect(sqliteError { try query.execute("INSERT INTO t VALUES (1)") }?.code == .readOnly)
    #expect(try query.queryInt64("SELECT count(*) FROM t") == 0)
  }

  @Test func `the schema cannot be written by hand`() throws {
    let connection = try directory.open()
    try connection.script("CREATE TABLE t (a); PRAGMA writable_schema = ON")
    let error = sqliteError { try connection.execute("DELETE FROM sqlite_master") }
    #expect(error?.message.contains("may not be modified") == true)
    _ = try connection.queryText("PRAGMA journal_mode = OFF")
    #expect(try connection.queryText("PRAGMA journal_mode") == "wal")
  }

  @Test func `a schema is not trusted with functions that are not innocuous`() throws {
    let connection = try directory.open()
    for isInnocuous in [true, false] {
      try connection.register(
        function: CustomFunction(
          name: "answer", argumentCount: 0, isInnocuous: isInnocuous
        ) { _ in .integer(42) })
      try connection.script("DROP VIEW IF EXISTS v; CREATE VIEW v AS SELECT answer() AS a")
      let error = sqliteError { try connection.execute("SELECT a FROM v") }
      #expect(error?.message == (isInnocuous ? nil : "unsafe use of answer()"))
    }
  }

  @Test func `a name in double quotes that is no column is an error`() throws {
    let connection = try directory.open()
    try connection.execute("CREATE TABLE t (a)")
    let error = sqliteError { try connection.execute(#"SELECT * FROM t WHERE a = "misspelt""#) }
    #expect(error?.message == "no such column: misspelt")
    #expect(
      sqliteError { try connection.execute(#"CREATE INDEX i ON t (a) WHERE a = "misspelt""#) }
        != nil)
  }

  @Test func `foreign keys are enforced as told`() throws {
    let sql = """
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      CREATE TABLE c (p REFERENCES p(id));
      """
    for enforced in [true, false] {
      let connection = try directory.open("\(enforced).db") { $0.foreignKeys = enforced }
      try connection.script(sql)
      let error = sqliteError { try connection.execute("INSERT INTO c VALUES (7)") }
      #expect(error?.code == (enforced ? .constraintForeignKey : nil))
    }
  }

  @Test func `neither extensions nor a memory map nor automatic checkpoints are on`() throws {
    let connection = try directory.open()
    #expect(
      sqliteError { try connection.execute("SELECT load_extension('x')") }?.message
        == "not authorized")
    #expect(try connection.queryInt64("PRAGMA mmap_size") ?? 0 == 0)
    #expect(try connection.queryInt64("PRAGMA wal_autocheckpoint") == 0)
  }

  @Test(arguments: [true, false])
  func `the last close checkpoints only when told`(told: Bool) throws {
    let connection = try directory.open()
    #expect(!connection.checkpointsOnClose)
    connection.checkpointsOnClose = told
    #expect(connection.checkpointsOnClose == told)
    try connection.execute("CREATE TABLE t (a)")
    connection.close()
    #expect(directory.names.contains("test.db-wal") == !told)
  }

  @Test func `a closed connection answers with errors`() throws {
    let connection = try directory.open()
    try connection.script("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    let statement = try connection.prepare("SELECT a FROM t WHERE a = ?")
    try statement.bind(.integer(1), at: 1)
    #expect(try statement.step())
    #expect(connection.isOpen)
    connection.close()
    connection.close()
    #expect(!connection.isOpen)
    #expect(sqliteError { _ = try statement.step() }?.message == "the connection is closed")
    #expect(sqliteError { try statement.bind(.integer(1), at: 1) }?.code == .misuse)
    #expect(sqliteError { try connection.execute("SELECT 1") }?.code == .misuse)
    #expect(sqliteError { _ = try connection.checkpoint(.passive) }?.code == .misuse)
    #expect(statement.columnType(0) == .null)
    #expect(statement.text(0) == "")
    #expect(statement.columnCount == 0)
    #expect(statement.columnName(0) == "")
    #expect(statement.parameterIndex(named: "a") == 0)
    #expect(!statement.isBusy)
    statement.reset()
    #expect(!connection.interruption.interrupt())
    connection.setBusyHandler(nil)
    #expect(!connection.isInTransaction && !connection.hasBusyStatement())
  }

  @Test func `closing really closes whatever statements are under way`() throws {
    let path = directory.file()
    func descriptors() -> Int {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      return names.filter {
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        return link?.hasPrefix(path) == true
      }.count
    }
    for _ in 0..<20 {
      let connection = try directory.open()
      try connection.script(
        """
        CREATE VIRTUAL TABLE IF NOT EXISTS f USING fts5(a);
        INSERT INTO f VALUES ('one two'), ('two three');
        """)
      let first = try connection.prepare("SELECT * FROM f WHERE f MATCH 'two'")
      let second = try connection.prepare("SELECT * FROM f WHERE f MATCH 'two'")
      #expect(try first.step() && second.step())
      #expect(connection.hasBusyStatement())
      #expect(descriptors() > 0)
      connection.close()
    }
    #expect(descriptors() == 0)
  }

  @Test func `an abandoned connection is never touched again`() throws {
    let other = try directory.open()
    try other.script("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
    var connection: Connection? = try directory.open()
    // A reader in the middle of its rows holds a snapshot that only SQLite calls could give up.
    var statement = try connection?.prepare("SELECT a FROM t")
    #expect(try statement?.step() == true)
    statement = nil
    connection?.abandon()
    #expect(connection?.isOpen == false)
    #expect(sqliteError { try connection?.execute("SELECT 1") }?.code == .misuse)
    #expect(connection?.interruption.interrupt() == false)
    connection = nil
    try other.execute("INSERT INTO t VALUES (3)")
    #expect(try other.checkpoint(.truncate).busy)
  }

  @Test func `changes and row ids are told`() throws {
    let connection = try directory.open()
    try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    try connection.execute("INSERT INTO t VALUES (7, 1), (8, 2)")
    #expect(connection.changes == 2)
    #expect(connection.lastInsertedRowID == 8)
    try connection.execute("DELETE FROM t WHERE id = 7")
    #expect(connection.changes == 1)
    #expect(connection.totalChanges == 3)
  }

  @Test func `the library tells its version and what it was compiled with`() {
    #expect(SQLiteLibrary.versionNumber > 3_037_000)
    #expect(SQLiteLibrary.version.hasPrefix("3."))
    #expect(!SQLiteLibrary.sourceID.isEmpty)
    #expect(SQLiteLibrary.compileOption("ENABLE_PREUPDATE_HOOK"))
    #expect(!SQLiteLibrary.compileOption("NO_SUCH_OPTION"))
    #expect(SQLiteLibrary.isInWALResetRange(3_007_000))
    #expect(SQLiteLibrary.isInWALResetRange(3_051_002))
    #expect(!SQLiteLibrary.isInWALResetRange(3_051_003))
    #expect(!SQLiteLibrary.isInWALResetRange(3_006_023))
  }
}
