import SQLiteConnection
import Testing

@Suite struct TransactionTests {
  let directory: TemporaryDirectory
  let connection: Connection

  init() throws {
    directory = try TemporaryDirectory()
    connection = try directory.open()
    try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
  }

  func count() throws -> Int64? { try connection.queryInt64("SELECT count(*) FROM t") }

  func insert() throws { try connection.execute("INSERT INTO t (a) VALUES (1)") }

  @Test func `a transaction is committed or rolled back`() throws {
    try ImmediateTransaction.begin(on: connection)
    #expect(connection.isInTransaction)
    try insert()
    try ImmediateTransaction.commit(on: connection)
    #expect(!connection.isInTransaction)
    try ImmediateTransaction.begin(on: connection)
    try insert()
    ImmediateTransaction.rollback(on: connection)
    #expect(!connection.isInTransaction)
    #expect(try count() == 1)
    ImmediateTransaction.rollback(on: connection)
  }

  @Test func `a rollback is not stopped by statements under way`() throws {
    try connection.script("INSERT INTO t VALUES (1, 1), (2, 2)")
    try ImmediateTransaction.begin(on: connection)
    let statement = try connection.prepare("UPDATE t SET a = 3 RETURNING id")
    let query = try connection.prepare("SELECT id FROM t")
    #expect(try statement.step() && query.step())
    ImmediateTransaction.rollback(on: connection)
    #expect(!connection.isInTransaction)
    #expect(!connection.hasBusyStatement())
    #expect(try connection.queryInt64("SELECT sum(a) FROM t") == 3)
  }

  @Test func `a rollback is not stopped by a cancellation`() throws {
    try connection.execute("CREATE VIRTUAL TABLE f USING fts5(a)")
    try ImmediateTransaction.begin(on: connection)
    try connection.execute(
      """
      INSERT INTO f
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) SELECT 'x' || i FROM n
      """
    )
    try insert()
    connection.setProgressHandler(everyOpcodes: 1) { true }
    #expect(
      sqliteError { try connection.execute("SELECT count(*) FROM f WHERE f MATCH 'x*'") }?.code
        == .interrupt)
    connection.interruption.interrupt()
    ImmediateTransaction.rollback(on: connection)
    #expect(!connection.isInTransaction)
    // The handler is there again afterwards.
    #expect(sqliteError { try connection.execute(HookTests.endless) }?.code == .interrupt)
    connection.setProgressHandler(everyOpcodes: 1, nil)
    #expect(try count() == 0)
    #expect(try connection.queryInt64("SELECT count(*) FROM f") == 0)
    #expect(!connection.hasBusyStatement())
  }

  @Test func `a failed commit leaves the transaction as SQLite has it`() throws {
    try connection.execute("CREATE TABLE c (t REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED)")
    try ImmediateTransaction.begin(on: connection)
    try connection.execute("INSERT INTO c VALUES (7)")
    #expect(
      sqliteError { try ImmediateTransaction.commit(on: connection) }?.code == .constraintForeignKey
    )
    #expect(connection.isInTransaction)
    try connection.execute("INSERT INTO t VALUES (7, 0)")
    try ImmediateTransaction.commit(on: connection)
    #expect(!connection.isInTransaction)
  }

  @Test func `a full database ends the transaction and says so`() throws {
    try connection.execute("INSERT INTO t VALUES (1, 'kept')")
    let pages = try #require(try connection.queryInt64("PRAGMA page_count"))
    _ = try connection.queryInt64("PRAGMA max_page_count = \(pages + 5)")
    try ImmediateTransaction.begin(on: connection)
    try insert()
    let error = sqliteError {
      for _ in 0..<100 { try connection.execute("INSERT INTO t (a) VALUES (zeroblob(4000))") }
    }
    #expect(error?.code == .full)
    ImmediateTransaction.rollback(on: connection)
    #expect(!connection.isInTransaction)
    #expect(try count() == 1)
    try insert()
  }

  @Test func `a transaction that SQLite rolled back needs no second rollback`() throws {
    try ImmediateTransaction.begin(on: connection)
    try connection.execute("INSERT INTO t VALUES (1, 1)")
    #expect(
      sqliteError { try connection.execute("INSERT OR ROLLBACK INTO t VALUES (1, 2)") }?.code
        == .constraintPrimaryKey)
    #expect(!connection.isInTransaction)
    ImmediateTransaction.rollback(on: connection)
    try Savepoint.rollback("s", on: connection)
    #expect(try count() == 0)
  }

  @Test(arguments: ["s", "with \"quotes\"", "", "ö", "select"])
  func `a savepoint is released or undone alone`(name: String) throws {
    try ImmediateTransaction.begin(on: connection)
    try insert()
    try Savepoint.begin(name, on: connection)
    try insert()
    try Savepoint.rollback(name, on: connection)
    #expect(connection.isInTransaction)
    #expect(sqliteError { try Savepoint.release(name, on: connection) } != nil)
    try Savepoint.begin(name, on: connection)
    try insert()
    try Savepoint.release(name, on: connection)
    try ImmediateTransaction.commit(on: connection)
    #expect(try count() == 2)
  }

  @Test func `savepoints nest by depth`() throws {
    try ImmediateTransaction.begin(on: connection)
    for depth in 0..<4 {
      try Savepoint.begin(depth: depth, on: connection)
      try insert()
    }
    try Savepoint.release(depth: 3, on: connection)
    try Savepoint.rollback(depth: 2, on: connection)
    try Savepoint.release(depth: 1, on: connection)
    try Savepoint.release(depth: 0, on: connection)
    try ImmediateTransaction.commit(on: connection)
    #expect(try count() == 2)
  }

  @Test func `an outermost savepoint that is undone leaves no transaction open`() throws {
    try Savepoint.begin(depth: 0, on: connection)
    try insert()
    let statement = try connection.prepare("SELECT id FROM t")
    #expect(try statement.step())
    try Savepoint.rollback(depth: 0, on: connection)
    #expect(!connection.isInTransaction)
    #expect(!connection.hasBusyStatement())
    #expect(try count() == 0)
  }

  @Test func `a deferred transaction that reads and then writes is told by its code`() throws {
    let other = try directory.open()
    try connection.execute("BEGIN")
    #expect(try count() == 0)
    try other.execute("INSERT INTO t VALUES (1, 1)")
    let error = sqliteError { try insert() }
    #expect(error?.code == .busySnapshot)
    #expect(error?.description.contains("IMMEDIATE") == true)
    ImmediateTransaction.rollback(on: connection)
  }
}
