import SQLiteConnection
import Testing

@Suite struct StatementCacheTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test func `an idle statement is handed out again`() throws {
    let connection = try directory.open()
    let first = try connection.prepare("SELECT 1")
    first.reset()
    #expect(try connection.prepare("SELECT 1") === first)
  }

  @Test func `a statement in use is not shared`() throws {
    let connection = try directory.open()
    let sql = "SELECT 1 UNION ALL SELECT 2"
    let first = try connection.prepare(sql)
    let second = try connection.prepare(sql)
    #expect(first !== second)
    #expect(try first.step() && first.step())
    #expect(try second.step())
    #expect(first.int64(0) == 2 && second.int64(0) == 1)
    second.reset()
    first.reset()
    #expect(try connection.prepare(sql) === first)
  }

  @Test func `a statement dropped without a reset is taken back`() throws {
    let connection = try directory.open()
    let sql = "SELECT 1 UNION ALL SELECT 2"
    var dropped: PreparedStatement? = try connection.prepare(sql)
    #expect(try dropped?.step() == true)
    let identity = dropped.map(ObjectIdentifier.init)
    dropped = nil
    let again = try connection.prepare(sql)
    #expect(ObjectIdentifier(again) == identity)
    #expect(!again.isBusy)
  }

  @Test func `the least recently used statement goes first`() throws {
    let connection = try directory.open { $0.statementCacheCapacity = 2 }
    func use(_ sql: String) throws -> ObjectIdentifier {
      let statement = try connection.prepare(sql)
      statement.reset()
      return ObjectIdentifier(statement)
    }
    // Held, so that no new statement can have the address of one that is gone.
    let one = try connection.prepare("SELECT 1")
    one.reset()
    let two = try connection.prepare("SELECT 2")
    two.reset()
    #expect(try use("SELECT 1") == ObjectIdentifier(one))
    _ = try use("SELECT 3")
    #expect(try use("SELECT 1") == ObjectIdentifier(one))
    #expect(try use("SELECT 2") != ObjectIdentifier(two))
  }

  @Test func `a full cache of statements in use makes more that are not kept`() throws {
    let connection = try directory.open { $0.statementCacheCapacity = 1 }
    connection.flushStatementCache()
    let one = try connection.prepare("SELECT 1")
    let two = try connection.prepare("SELECT 2")
    two.reset()
    let again = try connection.prepare("SELECT 2")
    #expect(again !== two)
    one.reset()
    #expect(try connection.prepare("SELECT 1") === one)
  }

  @Test func `a cache of no capacity keeps nothing`() throws {
    let connection = try directory.open { $0.statementCacheCapacity = 0 }
    let one = try connection.prepare("SELECT 1")
    one.reset()
    #expect(try connection.prepare("SELECT 1") !== one)
  }

  @Test func `an error leaves the statement idle and its parameters clear`() throws {
    let connection = try directory.open()
    try connection.execute("CREATE TABLE t (a UNIQUE)")
    let sql = "INSERT INTO t VALUES (?)"
    for round in 0..<2 {
      let statement = try connection.prepare(sql)
      try statement.bind("x", at: 1)
      let error = sqliteError { try statement.run() }
      #expect(error?.code == (round == 0 ? nil : .constraintUnique))
      #expect(!statement.isInUse)
    }
    try connection.prepare(sql).run()
    #expect(try connection.queryInt64("SELECT count(*) FROM t WHERE a IS NULL") == 1)
  }

  @Test func `a flush finalizes idle statements and keeps those in use alive`() throws {
    let connection = try directory.open()
    let used = try connection.prepare("SELECT 1 UNION ALL SELECT 2")
    #expect(try used.step())
    connection.flushStatementCache()
    #expect(try used.step())
    #expect(used.int64(0) == 2)
  }

  @Test func `texts that only Unicode holds equal are two statements`() throws {
    let connection = try directory.open()
    #expect("\u{e9}" == "e\u{301}")
    for text in ["\u{e9}", "e\u{301}"] {
      let bytes = try connection.rows("SELECT hex('\(text)')")
      #expect(bytes == [[.text(text == "\u{e9}" && text.utf8.count == 2 ? "C3A9" : "65CC81")]])
    }
  }

  @Test func `a number stands for the text`() throws {
    let connection = try directory.open()
    let sql = "SELECT 1 UNION ALL SELECT 2"
    #expect(connection.cached(sql, number: 7) == nil)
    let first = try connection.prepare(sql)
    first.reset()
    for _ in 0..<2 {
      let again = connection.cached(sql, number: 7)
      #expect(again === first)
      // While it is in use nobody else gets it, by number or by text.
      #expect(connection.cached(sql, number: 7) == nil)
      #expect(connection.cached(sql) == nil)
      again?.reset()
    }
    // A number in the same place.
    #expect(connection.cached("SELECT 3", number: 7 + 128) == nil)
    let other = try connection.prepare("SELECT 3")
    other.reset()
    #expect(connection.cached("SELECT 3", number: 7 + 128) === other)
    other.reset()
    #expect(connection.cached(sql, number: 7) === first)
    first.reset()
    connection.flushStatementCache()
    #expect(connection.cached(sql, number: 7) == nil)
  }

  @Test func `a statement found by its number and dropped without a reset is taken back`() throws {
    let connection = try directory.open()
    let sql = "SELECT 1 UNION ALL SELECT 2"
    try connection.prepare(sql).reset()
    var dropped = connection.cached(sql, number: 9)
    #expect(try dropped?.step() == true)
    let identity = dropped.map(ObjectIdentifier.init)
    dropped = nil
    let again = connection.cached(sql, number: 9)
    #expect(again.map(ObjectIdentifier.init) == identity)
    #expect(again?.isBusy == false)
  }

  @Test func `the columns of a row are gone with it`() throws {
    let connection = try directory.open()
    let statement = try connection.prepare("SELECT 1, 'two', NULL UNION ALL SELECT 3, x'04', 5.5")
    #expect(statement.currentRow == nil)
    #expect(try statement.step())
    let row = try #require(statement.readRow())
    #expect([row[0], row[1], row[2], row[4], row[6], row[7]] == [3, 1, 1, 3, 3, 5])
    #expect(try statement.step())
    #expect(row[0] == 0)
    #expect(statement.readRow() == row)
    #expect([row[0], row[1], row[2], row[4], row[6]] == [3, 1, 3, 4, 1])
    #expect(row[8] == 5.5.bitPattern)
    #expect(try !statement.step())
    #expect(row[0] == 0)
    statement.reset()
    #expect(row[0] == 0)
  }
}
