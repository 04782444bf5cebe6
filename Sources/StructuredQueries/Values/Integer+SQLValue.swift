// Integers are stored as INTEGER. What does not fit, on either way, is an error and never a wrap.

extension QueryBindable where Self: FixedWidthInteger {
  /// INTEGER.
  public static var sqlType: SQLType { .integer }

  /// Returns the integer, or fails above `Int64.max`, SQLite's largest.
  public func sqlValue() throws(BindingFailure) -> SQLValue {
    guard let value = Int64(exactly: self) else {
      throw BindingFailure(
        value: String(self), type: String(describing: Self.self),
        reason: "SQLite's integers end at \(Int64.max)")
    }
    return .integer(value)
  }
}

extension QueryDecodable where Self: FixedWidthInteger {
  /// Creates the integer from INTEGER when it is in range.
  public init(sqlValue: SQLValue) throws(DecodingFailure) {
    guard case .integer(let stored) = sqlValue, let value = Self(exactly: stored) else {
      throw DecodingFailure(expected: Self.self, found: sqlValue)
    }
    self = value
  }
}

extension Int: QueryBindable, QueryDecodable {}
extension Int8: QueryBindable, QueryDecodable {}
extension Int16: QueryBindable, QueryDecodable {}
extension Int32: QueryBindable, QueryDecodable {}
extension Int64: QueryBindable, QueryDecodable {}
extension UInt: QueryBindable, QueryDecodable {}
extension UInt8: QueryBindable, QueryDecodable {}
extension UInt16: QueryBindable, QueryDecodable {}
extension UInt32: QueryBindable, QueryDecodable {}
extension UInt64: QueryBindable, QueryDecodable {}

extension Bool: QueryBindable, QueryDecodable {
  /// INTEGER.
  public static var sqlType: SQLType { .integer }

  /// Returns 1 for true and 0 for false.
  public func sqlValue() throws(BindingFailure) -> SQLValue { .integer(self ? 1 : 0) }

  /// Creates false from 0 and true from 1; any other value is an error.
  public init(sqlValue: SQLValue) throws(DecodingFailure) {
    switch sqlValue {
    case .integer(0): self = false
    case .integer(1): self = true
    default: throw DecodingFailure(expected: Bool.self, found: sqlValue)
    }
  }
}
