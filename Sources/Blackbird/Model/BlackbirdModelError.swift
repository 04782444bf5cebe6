import BoutiqueDB
public import Foundation

/// What can go wrong with an instance or a value of a model.
public enum BlackbirdModelError: Error, Sendable, Hashable {
  /// No row has the primary key.
  case primaryKeyNotFound(value: [Blackbird.Value])
  /// A stored value does not fit the type of its column.
  case storedValueInvalid(StoredValue)
  /// A value cannot be stored.
  case valueNotStorable(Unstorable)
  /// A value was given for a column, or for the primary key, that is not of its type or number.
  case argumentInvalid(type: String, description: String)

  /// A stored value that does not fit.
  public struct StoredValue: Sendable, Hashable {
    /// The table.
    public let table: String
    /// The column.
    public let column: String
    /// The Swift type that was expected.
    public let expected: String
    /// What is stored.
    public let found: String

    init(table: String, column: String, expected: Any.Type, found: SQLValue) {
      let failure = DecodingFailure(expected: expected, found: found)
      self.table = table
      self.column = column
      self.expected = failure.expected
      self.found = failure.found
    }
  }

  /// A value that SQLite has no exact place for.
  public struct Unstorable: Sendable, Hashable {
    /// The table.
    public let table: String
    /// The column.
    public let column: String
    /// The value and the reason.
    public let failure: ColumnValueFailure
  }
}

extension BlackbirdModelError: CustomStringConvertible, LocalizedError {
  /// The same text as ``description``.
  public var errorDescription: String? { description }

  /// What happened, and to which column.
  public var description: String {
    switch self {
    case .primaryKeyNotFound(let value):
      "no row has the primary key (\(value.map { $0.sqlValue.description }.joined(separator: ", ")))"
    case .storedValueInvalid(let value):
      "column \(value.table).\(value.column): expected \(value.expected), found \(value.found)"
    case .valueNotStorable(let value): "column \(value.table).\(value.column): \(value.failure)"
    case .argumentInvalid(let type, let description): "\(type): \(description)"
    }
  }
}
