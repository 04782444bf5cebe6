import SQLiteConnection
import Testing

@Suite struct CustomFunctionTests {
  struct Refusal: Error, CustomStringConvertible {
    var description: String { "not today" }
  }

  let directory: TemporaryDirectory
  let connection: Connection

  init() throws {
    directory = try TemporaryDirectory()
    connection = try directory.open()
  }

  @Test(arguments: StatementTests.values)
  func `a function is given and gives every kind of value`(value: SQLiteValue) throws {
    try connection.register(
      function: CustomFunction(name: "echo", argumentCount: 1) { $0[0] })
    let statement = try connection.prepare("SELECT echo(?)")
    try statement.bind(value, at: 1)
    #expect(try statement.step())
    #expect(statement.value(0) == value)
    statement.reset()
  }

  @Test func `a function may take any number of arguments`() throws {
    try connection.register(function: CustomFunction(name: "n") { .integer(Int64($0.count)) })
    #expect(
      try connection.rows("SELECT n(), n(1), n(1, 2)") == [[.integer(0), .integer(1), .integer(2)]])
    try connection.register(function: CustomFunction(name: "n", argumentCount: 1) { _ in .null })
    #expect(try connection.rows("SELECT n(1), n(1, 2)") == [[.null, .integer(2)]])
  }

  @Test func `an error of a function is the error of the statement`() throws {
    try connection.register(
      function: CustomFunction(name: "refuse", argumentCount: 0) { _ in throw Refusal() })
    let error = sqliteError { try connection.execute("SELECT refuse()") }
    #expect(error?.code == .error)
    #expect(error?.message == "not today")
    try connection.register(
      function: CustomFunction(name: "constrain", argumentCount: 0) { _ in
        throw SQLiteError(code: .constraintCheck, message: "too small", path: "")
      })
    let coded = sqliteError { try connection.execute("SELECT constrain()") }
    #expect(coded?.code == .constraintCheck)
    #expect(coded?.message == "too small")
    #expect(try connection.queryInt64("SELECT 1") == 1)
  }

  @Test func `only a deterministic function may be in an index`() throws {
    try connection.execute("CREATE TABLE t (a)")
    for isDeterministic in [false, true] {
      try connection.register(
        function: CustomFunction(
          name: "f", argumentCount: 1, isDeterministic: isDeterministic, isInnocuous: true
        ) { $0[0] })
      let error = sqliteError { try connection.execute("CREATE INDEX i ON t (f(a))") }
      #expect((error == nil) == isDeterministic)
    }
  }

  @Test func `a function for direct use only is refused in a view`() throws {
    try connection.register(
      function: CustomFunction(name: "f", argumentCount: 0, isDirectOnly: true) { _ in .null })
    try connection.script("CREATE VIEW v AS SELECT f() AS a; SELECT f()")
    #expect(
      sqliteError { try connection.execute("SELECT a FROM v") }?.message.contains("unsafe") == true)
  }

  @Test func `a name or count that cannot be is an error`() throws {
    for function in [
      CustomFunction(name: String(repeating: "x", count: 300)) { _ in .null },
      CustomFunction(name: "f", argumentCount: 1000) { _ in .null },
    ] {
      #expect(sqliteError { try connection.register(function: function) }?.code == .misuse)
    }
  }

  @Test func `a collation orders and compares`() throws {
    try connection.register(
      collation: CustomCollation(name: "backwards") { left, right in
        left == right ? 0 : left < right ? 1000 : -1000
      })
    try connection.script(
      "CREATE TABLE t (a COLLATE backwards); INSERT INTO t VALUES ('a'), ('c'), ('b')")
    #expect(
      try connection.rows("SELECT a FROM t ORDER BY a").map { $0[0] } == [
        .text("c"), .text("b"), .text("a"),
      ])
    #expect(try connection.queryText("SELECT a FROM t WHERE a < 'b'") == "c")
    #expect(
      sqliteError { try connection.execute("SELECT 'a' = 'b' COLLATE missing") }?.message
        == "no such collation sequence: missing")
  }

  @Test func `what a function holds is released with the connection`() throws {
    final class Token: Sendable {}
    weak var weakToken: Token?
    do {
      let token = Token()
      weakToken = token
      let connection = try directory.open()
      try connection.register(
        function: CustomFunction(name: "f") { _ in
          _ = token
          return .null
        })
      try connection.register(
        collation: CustomCollation(name: "c") { _, _ in
          _ = token
          return 0
        })
      #expect(
        sqliteError {
          try connection.register(
            function: CustomFunction(name: "f", argumentCount: 1000) { _ in
              _ = token
              return .null
            })
        } != nil)
      connection.close()
    }
    #expect(weakToken == nil)
  }
}
