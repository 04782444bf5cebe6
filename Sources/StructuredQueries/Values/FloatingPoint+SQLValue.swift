// Floating-point numbers are stored as REAL. SQLite turns NaN into NULL, so NaN is refused, except in an
// optional, where NULL has a place.

extension Double: QueryBindable, QueryDecodable {
  /// REAL.
  public static var sqlType: SQLType { .real }
  /// Whether the number is NaN.
  @inlinable public static func isNull(_ output: Double) -> Bool { output.isNaN }

  /// Returns the number of the next column.
  @inlinable public static func decode(
    from decoder: inout RowDecoder
  ) throws(DecodingFailure) -> Double { try decoder.decodeDouble() }

  /// Returns the number, or fails for NaN, which SQLite would store as NULL.
  @inlinable public func sqlValue() throws(BindingFailure) -> SQLValue {
    guard !isNaN else {
      throw BindingFailure(value: "nan", type: "Double", reason: "SQLite stores NaN as NULL")
    }
    return .real(self)
  }

  /// Creates the number from REAL, or from an INTEGER that a Double holds exactly.
  @inlinable public init(sqlValue: SQLValue) throws(DecodingFailure) {
    switch sqlValue {
    case .real(let value): self = value
    case .integer(let stored):
      guard let value = Double(exactly: stored) else { fallthrough }
      self = value
    default: throw DecodingFailure(expected: Double.self, found: sqlValue)
    }
  }
}

extension Float: QueryBindable, QueryDecodable {
  /// REAL.
  public static var sqlType: SQLType { .real }
  /// Whether the number is NaN.
  public static func isNull(_ output: Float) -> Bool { output.isNaN }

  /// Returns the number widened to a Double, or fails for NaN.
  public func sqlValue() throws(BindingFailure) -> SQLValue {
    guard !isNaN else {
      throw BindingFailure(value: "nan", type: "Float", reason: "SQLite stores NaN as NULL")
    }
    return .real(Double(self))
  }

  /// Creates the number from REAL or INTEGER, rounded to the nearest Float.
  public init(sqlValue: SQLValue) throws(DecodingFailure) {
    switch sqlValue {
    case .real(let value): self = Float(value)
    case .integer(let value): self = Float(value)
    default: throw DecodingFailure(expected: Float.self, found: sqlValue)
    }
  }
}
