import SQLiteConnection
public import StructuredQueries

// Where statements of StructuredQueries meet a connection. The SQL text of a statement is made once for each
// shape and the compiled statement is taken from the connection's cache; values are bound, and rows are
// decoded by position from the statement's current row, with nothing in between.

extension Statement {
  /// Runs the statement to its end; rows that it yields are passed over.
  ///
  /// - Returns: the number of rows that an INSERT, UPDATE or DELETE changed; 0 for others.
  @discardableResult
  public func execute(_ connection: BoutiqueConnection) throws -> Int {
    try connection.execute(self)
  }

  /// Returns all rows.
  public func fetchAll(_ connection: BoutiqueConnection) throws -> [QueryValue.Output] {
    var rows: [QueryValue.Output] = []
    try connection.run(query) { step in
      while let row = try step.next(QueryValue.self) { rows.append(row) }
    }
    return rows
  }

  /// Returns the first row, or nil when there is none.
  public func fetchOne(_ connection: BoutiqueConnection) throws -> QueryValue.Output? {
    var row: QueryValue.Output?
    // A statement that writes must reach its end: SQLite may do a part of its work there.
    try connection.run(query) { step in
      row = try step.next(QueryValue.self)
      if row != nil, !step.isReadOnly { try step.finish() }
    }
    return row
  }

  /// Calls `body` with each row as it is read; no list is made.
  ///
  /// `body` may run other statements. An error it throws ends the reading.
  public func forEach(
    _ connection: BoutiqueConnection, _ body: (QueryValue.Output) throws -> Void
  ) throws {
    try connection.run(query) { step in
      while let row = try step.next(QueryValue.self) { try body(row) }
    }
  }

  /// Returns a cursor over the rows.
  ///
  /// The statement stays busy until the cursor is at its end or is released; both happen in the closure
  /// that asked for it.
  public func fetchCursor(_ connection: BoutiqueConnection) throws -> QueryCursor<QueryValue> {
    try QueryCursor(query, on: connection)
  }
}

extension SelectStatement {
  /// Returns the number of rows, counted by SQLite.
  public func fetchCount(_ connection: BoutiqueConnection) throws -> Int {
    var count = 0
    try connection.run(countQuery) { step in count = try step.next(Int.self) ?? 0 }
    return count
  }
}

extension BoutiqueConnection {
  /// Runs a statement to its end; rows that it yields are passed over.
  ///
  /// ```swift
  /// try conn.execute(#sql("DELETE FROM \(Note.self) WHERE \(Note.columns.title) = \(title)"))
  /// ```
  ///
  /// - Returns: the number of rows that an INSERT, UPDATE or DELETE changed; 0 for others.
  @discardableResult
  public func execute(_ statement: some Statement) throws -> Int {
    let before = sqlite.totalChanges
    try run(statement.query) { try $0.finish() }
    guard sqlite.totalChanges != before else { return 0 }
    return Int(sqlite.changes)
  }

  /// Returns all rows of a statement.
  public func fetchAll<S: Statement>(_ statement: S) throws -> [S.QueryValue.Output] {
    try statement.fetchAll(self)
  }

  /// Returns the first row of a statement, or nil when there is none.
  public func fetchOne<S: Statement>(_ statement: S) throws -> S.QueryValue.Output? {
    try statement.fetchOne(self)
  }

  /// Returns all rows of SQL, by name and position: `conn.query(#sql("… \(value) …"))`.
  ///
  /// Without `#sql` a literal is a String, whose interpolations become SQL.
  public func query(_ sql: SQLFragment) throws -> [Row] {
    try query(sql.cachedSQL, arguments: bindings(of: sql))
  }

  private func bindings(of fragment: SQLFragment) throws -> [(any QueryBindable)?] {
    do {
      return try fragment.bindings
    } catch {
      throw BoutiqueError.bindingFailed(error)
    }
  }

  /// Prepares and binds a statement and gives it to `body`; an empty one is not run.
  func run(_ fragment: SQLFragment, _ body: (inout StatementSteps) throws -> Void) throws {
    if fragment.isEmpty {
      try guardUse(of: "")
      return
    }
    let statement = try statement(fragment.cachedSQL)
    // The statement must not stay busy on any way out: it would keep its snapshot.
    defer { statement.reset() }
    try bind(fragment, to: statement)
    var steps = StatementSteps(statement, on: self)
    try body(&steps)
  }

  func bind(_ fragment: SQLFragment, to statement: PreparedStatement) throws {
    var index: Int32 = 1
    var values: [SQLValue] = []
    do {
      try fragment.forEachBinding { value in
        try statement.bind(value, at: index)
        if recordsValues { values.append(value) }
        index += 1
      }
      if recordsValues { willRun(statement, values: values) }
    } catch let error as BindingFailure {
      throw BoutiqueError.bindingFailed(error)
    } catch {
      throw failure(error)
    }
  }
}

/// The rows of a statement that has been bound, one after the other.
struct StatementSteps {
  let statement: PreparedStatement
  private let owner: BoutiqueConnection
  private var decoder: RowDecoder?

  init(_ statement: PreparedStatement, on owner: BoutiqueConnection) {
    self.statement = statement
    self.owner = owner
  }

  var isReadOnly: Bool { statement.isReadOnly }

  /// Returns the next row, or nil at the end.
  mutating func next<Value: QueryRow>(_ type: Value.Type) throws -> Value.Output? {
    guard try step() else { return nil }
    if decoder == nil {
      decoder = RowDecoder(statement)
    }
    decoder?.rewind()
    do {
      return try decoder?.decode(Value.self)
    } catch {
      throw BoutiqueError.decodingFailed(error)
    }
  }

  /// Goes to the end.
  mutating func finish() throws {
    while try step() {}
  }

  func step() throws -> Bool {
    try owner.run { () throws(SQLiteError) in try statement.step() }
  }
}

extension PreparedStatement: ColumnSource {
  package func sqlValue(at index: Int) -> SQLValue { value(index) as SQLValue }
  package func isNull(at index: Int) -> Bool { isNull(index) }
  package func place(of index: Int) -> (table: String?, column: String) {
    let origin = columnOrigin(index)
    return (origin?.table, origin?.column ?? columnName(index))
  }
}
