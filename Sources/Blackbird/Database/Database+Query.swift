import BoutiqueDB

extension Blackbird.Database {
  /// Runs one statement and returns its rows.
  ///
  /// A statement that only reads runs on a connection of its own beside the others; one that writes waits for
  /// its turn.
  ///
  /// - Parameters:
  ///   - query: one statement, with `?` for each value.
  ///   - arguments: the values, in order; nil is NULL.
  /// - Returns: the rows; none for a statement that yields none. Of columns with one name the last counts.
  /// - Throws: ``Error``, or `CancellationError`.
  @discardableResult
  public func query(
    _ query: String, _ arguments: (any Sendable)?...
  ) async throws -> [Blackbird.Row] {
    try await self.query(query, arguments: arguments)
  }

  /// Runs one statement with a list of values and returns its rows.
  @discardableResult
  public func query(
    _ query: String, arguments: [(any Sendable)?]
  ) async throws -> [Blackbird.Row] {
    let values = try Blackbird.Value.list(of: arguments, for: query)
    return try await run(query) { core in try core.query(query, arguments: values) }
  }

  /// Runs one statement with named values and returns its rows.
  ///
  /// - Parameter arguments: by parameter name, `:name`, `@name` or `$name`; the sign may be left out.
  @discardableResult
  public func query(
    _ query: String, arguments: [String: (any Sendable)?]
  ) async throws -> [Blackbird.Row] {
    let values = try Blackbird.Value.dictionary(of: arguments, for: query)
    return try await run(query) { core in try core.query(query, arguments: values) }
  }

  /// Runs statements, separated by semicolons, in one transaction.
  ///
  /// `VACUUM` alone is run as the engine's own, outside of any.
  ///
  /// - Throws: ``Error`` of the first one that fails, after undoing the others; or `CancellationError`.
  public func execute(_ query: String) async throws {
    try await waitArtificially()
    guard !StatementKind.isVacuum(query) else {
      log(query, .list([]))
      let engine = try await engine()
      return try await Error.translating { try await engine.vacuum() }
    }
    try await write { core in try core.execute(query) }
  }

  /// Runs a closure with one statement on a reader where it can only read, on the writer otherwise.
  func run<R: Sendable>(
    _ query: String, _ action: @escaping @Sendable (_ core: isolated Core) throws -> R
  ) async throws -> R {
    try await waitArtificially()
    guard StatementKind.mayRead(query) else { return try await write(action) }
    do {
      return try await read(action)
    } catch Error.queryExecutionError(_, let error) where error.isWriteInRead {
      return try await write(action)
    }
  }
}

extension Blackbird.SQLiteError {
  /// Whether a statement that writes was tried on a reader.
  var isWriteInRead: Bool {
    if case .writeInRead = underlying { true } else { false }
  }
}

/// What a statement looks like, to know which connection to try first.
enum StatementKind {
  /// Whether a statement can be one that only reads; SQLite says in the end.
  static func mayRead(_ sql: String) -> Bool {
    ["SELECT", "WITH", "VALUES", "EXPLAIN", "PRAGMA"].contains(firstWord(of: sql))
  }

  static func isVacuum(_ sql: String) -> Bool {
    sql.drop { $0.isWhitespace }.prefix { $0.isLetter }.uppercased() == "VACUUM"
      && sql.allSatisfy { $0.isLetter || $0.isWhitespace || $0 == ";" }
      && sql.split(whereSeparator: { $0.isWhitespace || $0 == ";" }).count == 1
  }

  /// The first word behind space, parentheses and comments.
  private static func firstWord(of sql: String) -> String {
    var rest = sql.utf8[...]
    while let first = rest.first {
      if rest.starts(with: "--".utf8) {
        rest = rest.drop { $0 != UInt8(ascii: "\n") }
      } else if rest.starts(with: "/*".utf8) {
        rest = rest.dropFirst(2)
        while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest = rest.dropFirst() }
        rest = rest.dropFirst(2)
      } else if first <= UInt8(ascii: " ") || first == UInt8(ascii: ";") {
        rest = rest.dropFirst()
      } else {
        break
      }
    }
    let word = rest.prefix { (65...90).contains($0) || (97...122).contains($0) }
    return String(decoding: word, as: UTF8.self).uppercased()
  }
}
