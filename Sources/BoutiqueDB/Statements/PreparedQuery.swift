import SQLiteConnection
public import StructuredQueries

/// A statement prepared once and run many times inside one closure.
///
/// It ends with the closure that prepared it.
public final class PreparedQuery {
  /// The text of the statement.
  public let sql: String
  private let statement: PreparedStatement
  private let owner: BoutiqueConnection
  private var names: ColumnNames?

  init(_ statement: PreparedStatement, on owner: BoutiqueConnection) {
    sql = statement.sql
    self.statement = statement
    self.owner = owner
  }

  deinit { statement.reset() }

  /// Runs the statement to its end; rows that it yields are passed over.
  ///
  /// - Returns: the number of rows changed.
  @discardableResult
  public func run(_ arguments: (any QueryBindable)?...) throws -> Int {
    try run(arguments: arguments)
  }

  /// Runs the statement to its end with a list of arguments.
  @discardableResult
  public func run(arguments: [(any QueryBindable)?]) throws -> Int {
    try bind(arguments)
    return try runBound()
  }

  /// Runs the statement to its end with named arguments.
  @discardableResult
  public func run(named arguments: [String: (any QueryBindable)?]) throws -> Int {
    try bind(named: arguments)
    return try runBound()
  }

  /// Returns all rows.
  public func rows(_ arguments: (any QueryBindable)?...) throws -> [Row] {
    try rows(arguments: arguments)
  }

  /// Returns all rows, with a list of arguments.
  public func rows(arguments: [(any QueryBindable)?]) throws -> [Row] {
    var rows: [Row] = []
    try forEachRow(arguments: arguments) { rows.append($0) }
    return rows
  }

  /// Returns the first row, or nil when there is none.
  public func first(arguments: [(any QueryBindable)?]) throws -> Row? {
    try bind(arguments)
    defer { statement.rewind() }
    guard try step(), let words = statement.readRow() else { return nil }
    var packer = RowPacker(currentNames())
    return packer.row(words)
  }

  /// Calls `body` with each row as it is read.
  public func forEachRow(
    arguments: [(any QueryBindable)?] = [], _ body: (Row) throws -> Void
  ) throws {
    try bind(arguments)
    try forEachBoundRow(body)
  }

  /// Calls `body` with each row as it is read, with named arguments.
  public func forEachRow(
    named arguments: [String: (any QueryBindable)?], _ body: (Row) throws -> Void
  ) throws {
    try bind(named: arguments)
    try forEachBoundRow(body)
  }

  // MARK: Steps

  private func runBound() throws -> Int {
    defer { statement.rewind() }
    let before = owner.sqlite.totalChanges
    while try step() {}
    // `changes()` keeps the number of the last writing statement; asked after one that writes nothing
    // it would report somebody else's rows.
    guard owner.sqlite.totalChanges != before else { return 0 }
    return Int(owner.sqlite.changes)
  }

  private func forEachBoundRow(_ body: (Row) throws -> Void) throws {
    // The statement must not stay busy on any way out: it would keep its snapshot.
    defer { statement.rewind() }
    guard try step() else { return }
    var packer = RowPacker(currentNames())
    repeat {
      guard let words = statement.readRow() else { return }
      try body(packer.row(words))
    } while try step()
  }

  private func step() throws -> Bool {
    do {
      return try statement.step()
    } catch {
      throw owner.failure(error)
    }
  }

  /// The names of the columns, known for certain after the first step: they can change while the statement
  /// lives, when another process altered a table.
  private func currentNames() -> ColumnNames {
    if let names, names.list == statement.columnNames { return names }
    let made = ColumnNames(statement.columnNames)
    names = made
    return made
  }

  // MARK: Binding

  private func bind(_ arguments: [(any QueryBindable)?]) throws {
    try owner.guardUse(of: sql)
    statement.rewind()
    guard arguments.count == statement.parameterCount else {
      throw BoutiqueError.argumentCount(arguments.count, statement)
    }
    var values: [SQLValue] = []
    var parameters = ParameterWriter(statement, values: arguments.count)
    for argument in arguments {
      let value = try Self.value(of: argument)
      parameters.append(value)
      if owner.recordsValues { values.append(value) }
    }
    do {
      try parameters.bind()
    } catch {
      throw owner.failure(error)
    }
    if owner.recordsValues { owner.willRun(statement, values: values) }
  }

  private func bind(named arguments: [String: (any QueryBindable)?]) throws {
    try owner.guardUse(of: sql)
    statement.rewind()
    var missing = Set(1...max(1, Int32(statement.parameterCount)))
    if statement.parameterCount == 0 { missing = [] }
    var values = [SQLValue](repeating: .null, count: statement.parameterCount)
    var unknown: [String] = []
    for (name, argument) in arguments {
      let index = statement.parameterIndex(named: name)
      guard index > 0 else {
        unknown.append(name)
        continue
      }
      values[Int(index) - 1] = try bind(argument, at: index)
      missing.remove(index)
    }
    guard unknown.isEmpty, missing.isEmpty else {
      // Both, since the one is often the other, misspelt.
      let wrong =
        unknown.sorted().map { "no parameter is named '\($0)'" }
        + missing.sorted().map {
          "no value given for \(statement.parameterName($0) ?? "parameter \($0)")"
        }
      throw BoutiqueError.invalidStatement(sql: sql, reason: wrong.joined(separator: "; "))
    }
    if owner.recordsValues { owner.willRun(statement, values: values) }
  }

  private func bind(_ argument: (any QueryBindable)?, at index: Int32) throws -> SQLValue {
    let value = try Self.value(of: argument)
    do {
      try statement.bind(value, at: index)
    } catch {
      throw owner.failure(error)
    }
    return value
  }

  private static func value(of argument: (any QueryBindable)?) throws -> SQLValue {
    do {
      return try argument?.sqlValue() ?? .null
    } catch {
      throw BoutiqueError.bindingFailed(error)
    }
  }
}
