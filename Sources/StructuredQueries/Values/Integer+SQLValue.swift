// Integers are stored as INTEGER. What does not fit, on either way, is an error and never a wrap.

extension QueryBindable where Self: FixedWidthInteger {
  /// INTEGER.
  public static var sqlType: SQLType { .integer }

  /// Returns the integer, or fails above `Int64.max`, SQLite's largest.
  @inlinable public func sqlValue() throws(BindingFailure) -> SQLValue {
    guard let value = Int64(exactly: self) else { throw BindingFailure(tooLarge: self) }
    return .integer(value)
  }
}

extension BindingFailure {
  @usableFromInline
  init(tooLarge value: some FixedWidthInteger) {
    self.init(
      value: String(value), type: String(describing: Swift.type(of: value)),
      reason: "SQLite's integers end at \(Int64.max)")
  }
}

extension QueryDecodable where Self: FixedWidthInteger {
  /// Creates the integer from INTEGER when it is in range.
  @inlinable public init(sqlValue: SQLValue) throws(DecodingFailure) {
    guard case .integer(let stored) = sqlValue, let value = Self(exactly: stored) else {
      throw DecodingFailure(expected: Self.self, found: sqlValue)
    }
    self = value
  }
}

extension Int: QueryBindable, QueryDecodable {
  /// Returns the integer of the next column.
  @inlinable public static func decode(
    from decoder: inout RowDecoder
  ) throws(DecodingFailure) -> Int { try decoder.decodeInteger() }
}

extension Int8: QueryBindable, QueryDecodable {
  /// Returns the integer of the next column.
  @inlinable public static func decode(
    from decoder: inout RowDecoder
  ) throws(DecodingFailure) -> Int8 { try decoder.decodeInteger() }
}

extension Int16: QueryBindable, QueryDecodable {
  /// Returns the integer of the next column.
  @inlinable public static func decode(
    from decoder: inout RowDecoder
  ) throws(DecodingFailure) -> Int16 { try decoder.decodeInteger() }
}

extension Int32: QueryBindable, QueryDecodable {
  /// Returns the integer of the next column.
  @inlinable public static func decode(
    from decoder: inout RowDecoder
  ) throws(DecodingFailure) -> Int32 { try decoder.decodeInteger() }
}

extension Int64: QueryBindable, QueryDecodable {
  /// Returns the integer of the next column.
  @inlinable public static func decode(
    from decoder: inout RowDecoder
  ) throws(DecodingFailure) -> Int64 { try decoder.decodeInteger() }
}

extension UInt: QueryBindable, QueryDecodable {
  /// Returns the integer of the next column.
  @inlinable public static func decode(
    from decoder: inout RowDecoder
  ) throws(DecodingFailure) -> UInt { try decoder.decodeInteger() }
}

extension UInt8: QueryBindable, QueryDecodable {
  /// Returns the integer of the next column.
  @inlinable public static func decode(
    from decoder: inout RowDecoder
  ) throws(DecodingFailure) -> UInt8 { try decoder.decodeInteger() }
}

extension UInt16: QueryBindable, QueryDecodable {
  /// Returns the integer of the next column.
  @inlinable public static func decode(
    from decoder: inout RowDecoder
  ) throws(DecodingFailure) -> UInt16 { try decoder.decodeInteger() }
}

extension UInt32: QueryBindable, QueryDecodable {
  /// Returns the integer of the next column.
  @inlinable public static func decode(
    from decoder: inout RowDecoder
  ) throws(DecodingFailure) -> UInt32 { try decoder.decodeInteger() }
}

extension UInt64: QueryBindable, QueryDecodable {
  /// Returns the integer of the next column.
  @inlinable public static func decode(
    from decoder: inout RowDecoder
  ) throws(DecodingFailure) -> UInt64 { try decoder.decodeInteger() }
}

extension Bool: QueryBindable, QueryDecodable {
  /// INTEGER.
  public static var sqlType: SQLType { .integer }

  /// Returns 1 for true and 0 for false.
  @inlinable public func sqlValue() throws(BindingFailure) -> SQLValue {
    .integer(self ? 1 : 0)
  }

  /// Creates false from 0 and true from 1; any other value is an error.
  public init(sqlValue: SQLValue) throws(DecodingFailure) {
    switch sqlValue {
    case .integer(0): self = false
    case .integer(1): self = true
    default: throw DecodingFailure(expected: Bool.self, found: sqlValue)
    }
  }
}
