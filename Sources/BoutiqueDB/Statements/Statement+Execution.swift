import SQLiteConnection
public import StructuredQueries

// Where statements of StructuredQueries meet a connection. The compiled statement is taken from the connection's
// cache, for the common shapes without making its text; values are bound, and rows are decoded by position from
// the statement's current row, with nothing in between.
//
// What is `@inlinable` here is compiled into the program that uses it, because only there the types of the
// rows are known.

extension Statement {
  /// Runs the statement to its end; rows that it yields are passed over.
  ///
  /// - Returns: the number of rows that an INSERT, UPDATE or DELETE changed; 0 for others.
  @discardableResult
  @inlinable public func execute(_ connection: BoutiqueConnection) throws -> Int {
    try connection.runToEnd(query)
  }

  /// Returns all rows.
  @inlinable public func fetchAll(
    _ connection: BoutiqueConnection
  ) throws -> [QueryValue.Output] {
    var rows: [QueryValue.Output] = []
    guard var steps = try StatementSteps(query, on: connection) else { return rows }
    defer { steps.end() }
    while let row = try steps.next(QueryValue.self) { rows.append(row) }
    return rows
  }

  /// Returns the first row, or nil when there is none.
  @inlinable public func fetchOne(
    _ connection: BoutiqueConnection
  ) throws -> QueryValue.Output? {
    guard var steps = try StatementSteps(query, on: connection) else { return nil }
    defer { steps.end() }
    let row = try steps.next(QueryValue.self)
    // A statement that writes must reach its end: SQLite may do a part of its work there.
    if row != nil, !steps.isReadOnly { try steps.finish() }
    return row
  }

  /// Calls `body` with each row as it is read; no list is made.
  ///
  /// `body` may run other statements. An error it throws ends the reading.
  @inlinable public func forEach(
    _ connection: BoutiqueConnection, _ body: (QueryValue.Output) throws -> Void
  ) throws {
    guard var steps = try StatementSteps(query, on: connection) else { return }
    defer { steps.end() }
    while let row = try steps.next(QueryValue.self) { try body(row) }
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
    guard var steps = try StatementSteps(countQuery, on: connection) else { return 0 }
    defer { steps.end() }
    return try steps.next(Int.self) ?? 0
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
  @inlinable public func execute(_ statement: some Statement) throws -> Int {
    try runToEnd(statement.query)
  }

  @usableFromInline
  func runToEnd(_ query: SQLFragment) throws -> Int {
    let before = sqlite.totalChanges
    guard let statement = try bound(query) else { return 0 }
    defer { statement.reset() }
    do {
      while try statement.step() {}
    } catch {
      throw failure(error)
    }
    guard sqlite.totalChanges != before else { return 0 }
    return Int(sqlite.changes)
  }

  /// Returns all rows of a statement.
  @inlinable public func fetchAll<S: Statement>(_ statement: S) throws -> [S.QueryValue.Output] {
    try statement.fetchAll(self)
  }

  /// Returns the first row of a statement, or nil when there is none.
  @inlinable public func fetchOne<S: Statement>(_ statement: S) throws -> S.QueryValue.Output? {
    try statement.fetchOne(self)
  }

  /// Returns all rows of SQL, by name and position: `conn.query(#sql("… \(value) …"))`.
  ///
  /// Without `#sql` a literal is a String, whose interpolations become SQL.
  public func query(_ sql: SQLFragment) throws -> [Row] {
    try query(sql.sql, arguments: bindings(of: sql))
  }

  private func bindings(of fragment: SQLFragment) throws -> [(any QueryBindable)?] {
    do {
      return try fragment.bindings
    } catch {
      throw BoutiqueError.bindingFailed(error)
    }
  }

  func statement(_ query: SQLFragment) throws -> PreparedStatement {
    if let template = query.template {
      return try statement(template.text, number: template.number)
    }
    return try statement(query.sql)
  }

  /// Prepares and binds a statement; nil for an empty one, which is not run.
  ///
  /// Who gets one resets it on every way out: a statement that stayed busy would keep its snapshot.
  func bound(_ query: SQLFragment) throws -> PreparedStatement? {
    if query.isEmpty {
      try guardUse(of: "")
      return nil
    }
    let statement = try statement(query)
    do {
      try bind(query, to: statement)
    } catch {
      statement.reset()
      throw error
    }
    return statement
  }

  func bind(_ fragment: SQLFragment, to statement: PreparedStatement) throws {
    var parameters = ParameterWriter(statement, values: fragment.values.count)
    for value in fragment.values {
      switch value {
      case .value(let value): parameters.append(value)
      case .failure(let failure): throw BoutiqueError.bindingFailed(failure)
      }
    }
    do {
      try parameters.bind()
    } catch {
      throw failure(error)
    }
    if recordsValues { willRun(statement, values: try fragment.bindings) }
  }
}

/// The rows of a statement that has been bound, one after the other.
@usableFromInline
struct StatementSteps {
  let statement: PreparedStatement
  private let owner: BoutiqueConnection
  @usableFromInline var decoder: RowDecoder
  private var isOnRow = false

  /// Starts with a statement that was bound already.
  init(_ statement: PreparedStatement, on owner: BoutiqueConnection) {
    self.statement = statement
    self.owner = owner
    decoder = RowDecoder(statement)
  }

  /// Prepares and binds a statement; nil for an empty one, which is not run.
  ///
  /// Who gets one calls `end` on every way out: a statement that stayed busy would keep its snapshot.
  @usableFromInline
  init?(_ query: SQLFragment, on owner: BoutiqueConnection) throws {
    guard let statement = try owner.bound(query) else { return nil }
    self.init(statement, on: owner)
  }

  @usableFromInline var isReadOnly: Bool { statement.isReadOnly }

  /// Gives the statement back.
  @usableFromInline
  func end() { statement.reset() }

  /// Returns the next row, or nil at the end.
  @inlinable mutating func next<Value: QueryRow>(_ type: Value.Type) throws -> Value.Output? {
    guard try readNext() else { return nil }
    do {
      return try decoder.decode(Value.self)
    } catch {
      throw BoutiqueError.decodingFailed(error)
    }
  }

  /// Goes to the next row and gets ready to decode it.
  @usableFromInline
  mutating func readNext() throws -> Bool {
    guard try step() else { return false }
    _ = statement.readRow()
    if isOnRow {
      decoder.rewind()
    } else {
      // The first step may have compiled the statement anew.
      decoder = RowDecoder(statement)
      isOnRow = true
    }
    return true
  }

  /// Goes to the end.
  @usableFromInline
  mutating func finish() throws {
    while try step() {}
  }

  func step() throws -> Bool {
    do {
      return try statement.step()
    } catch {
      throw owner.failure(error)
    }
  }
}

extension PreparedStatement: ColumnSource {
  package func sqlValue(at index: Int) -> SQLValue { value(index) as SQLValue }
  package func isNull(at index: Int) -> Bool { isNull(index) }
  package var cells: UnsafePointer<UInt64>? { currentRow }
  package func place(of index: Int) -> (table: String?, column: String) {
    let origin = columnOrigin(index)
    return (origin?.table, origin?.column ?? columnName(index))
  }
}
