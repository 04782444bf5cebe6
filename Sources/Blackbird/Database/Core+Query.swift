import BoutiqueDB

extension Blackbird.Database.Core {
  /// Runs one statement and returns its rows.
  ///
  /// - Parameters:
  ///   - query: one statement, with `?` for each value.
  ///   - arguments: the values, in order; nil is NULL.
  /// - Returns: the rows; none for a statement that yields none. Of columns with one name the last counts.
  /// - Throws: ``Blackbird/Database/Error``.
  @discardableResult
  public func query(
    _ query: String, _ arguments: (any Sendable)?...
  ) throws -> [Blackbird.Row] {
    try self.query(query, arguments: arguments)
  }

  /// Runs one statement with a list of values and returns its rows.
  @discardableResult
  public func query(
    _ query: String, arguments: [(any Sendable)?]
  ) throws -> [Blackbird.Row] {
    let values = try Blackbird.Value.list(of: arguments, for: query)
    database.log(query, .list(values))
    return try Blackbird.Database.Error.translating(query) {
      try connection().query(query, arguments: values.map(\.sqlValue)).map(\.blackbirdRow)
    }
  }

  /// Runs one statement with named values and returns its rows.
  ///
  /// - Parameter arguments: by parameter name, `:name`, `@name` or `$name`; the sign may be left out.
  @discardableResult
  public func query(
    _ query: String, arguments: [String: (any Sendable)?]
  ) throws -> [Blackbird.Row] {
    let values = try Blackbird.Value.dictionary(of: arguments, for: query)
    database.log(query, .dictionary(values))
    return try Blackbird.Database.Error.translating(query) {
      try connection().query(query, named: values.mapValues(\.sqlValue)).map(\.blackbirdRow)
    }
  }

  /// Runs statements, separated by semicolons, in order.
  ///
  /// - Throws: ``Blackbird/Database/Error`` of the first one that fails.
  public func execute(_ query: String) throws {
    database.log(query, .list([]))
    try Blackbird.Database.Error.translating(query) { try connection().executeScript(query) }
  }
}

extension Row {
  /// The values by column name.
  var blackbirdRow: Blackbird.Row {
    var row = Blackbird.Row(minimumCapacity: columns.count)
    for (name, value) in zip(columns, values) { row[name] = Blackbird.Value(value) }
    return row
  }
}

extension Blackbird.Value {
  /// Returns the values of a statement.
  ///
  /// - Throws: ``Blackbird/Database/Error/queryArgumentValueError(query:description:)``.
  static func list(of arguments: [(any Sendable)?], for query: String) throws -> [Blackbird.Value] {
    try arguments.enumerated().map { try value(of: $1, named: "argument \($0 + 1)", for: query) }
  }

  /// Returns the named values of a statement.
  ///
  /// - Throws: ``Blackbird/Database/Error/queryArgumentValueError(query:description:)``.
  static func dictionary(
    of arguments: [String: (any Sendable)?], for query: String
  ) throws -> [String: Blackbird.Value] {
    var values: [String: Blackbird.Value] = [:]
    for (name, argument) in arguments {
      values[name] = try value(of: argument, named: name, for: query)
    }
    return values
  }

  private static func value(
    of argument: (any Sendable)?, named name: String, for query: String
  ) throws -> Blackbird.Value {
    let value: Blackbird.Value
    do {
      value = try fromAny(argument)
    } catch {
      let type = argument.map { String(describing: Swift.type(of: $0)) } ?? "nil"
      throw Blackbird.Database.Error.queryArgumentValueError(
        query: query, description: "\(name) is a \(type), which SQLite has no place for")
    }
    // SQLite would store NULL without a word.
    if case .double(let number) = value, number.isNaN {
      throw Blackbird.Database.Error.queryArgumentValueError(
        query: query, description: "\(name) is not a number (NaN)")
    }
    return value
  }
}
