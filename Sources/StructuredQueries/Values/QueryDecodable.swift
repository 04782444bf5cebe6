/// A type that can be made from a value that SQLite returned.
public protocol QueryDecodable: Sendable {
  /// Creates an instance from a stored value.
  ///
  /// - Throws: ``DecodingFailure`` when the stored value is of another class or out of range; nothing
  ///   is converted silently.
  init(sqlValue: SQLValue) throws(DecodingFailure)
}

/// A stored value that does not fit the type that was asked for.
public struct DecodingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The table the column belongs to, where it is known.
  public var table: String?
  /// The column's name, or its position as text when it has none.
  public var column: String?
  /// The Swift type that was asked for.
  public let expected: String
  /// What was found instead.
  public let found: String

  /// Creates a failure.
  public init(table: String? = nil, column: String? = nil, expected: String, found: String) {
    self.table = table
    self.column = column
    self.expected = expected
    self.found = found
  }

  /// Creates a failure for a value of the wrong class or range.
  public init(expected: Any.Type, found: SQLValue) {
    let text =
      switch found {
      // These say what they are.
      case .null, .blob: found.description
      case .integer, .real, .text: "\(found.typeName) \(found)"
      }
    self.init(expected: String(describing: expected), found: text)
  }

  /// The failure as one sentence.
  public var description: String {
    let place = [table, column].compactMap(\.self).joined(separator: ".")
    return "\(place.isEmpty ? "value" : "column \(place)"): expected \(expected), found \(found)"
  }
}

extension SQLValue: QueryDecodable {
  /// Creates the value itself.
  public init(sqlValue: SQLValue) throws(DecodingFailure) { self = sqlValue }
}

extension Optional: QueryDecodable where Wrapped: QueryDecodable {
  /// Creates nil from NULL, else the wrapped value.
  public init(sqlValue: SQLValue) throws(DecodingFailure) {
    self = sqlValue.isNull ? nil : try Wrapped(sqlValue: sqlValue)
  }
}
