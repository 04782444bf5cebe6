// An enum with a raw value is stored as that value: `enum Kind: String, QueryBindable`.

extension QueryBindable where Self: RawRepresentable, RawValue: QueryBindable {
  /// As the raw value.
  public static var sqlType: SQLType { RawValue.sqlType }

  /// Returns what the raw value gives.
  public func sqlValue() throws(BindingFailure) -> SQLValue { try rawValue.sqlValue() }
}

extension QueryDecodable where Self: RawRepresentable, RawValue: QueryDecodable {
  /// Creates the case of the stored raw value; an unknown one is an error.
  public init(sqlValue: SQLValue) throws(DecodingFailure) {
    guard let value = Self(rawValue: try RawValue(sqlValue: sqlValue)) else {
      throw DecodingFailure(expected: Self.self, found: sqlValue)
    }
    self = value
  }
}
