extension String: QueryBindable, QueryDecodable {
  /// TEXT.
  public static var sqlType: SQLType { .text }

  /// Returns the text of the next column.
  @inlinable public static func decode(
    from decoder: inout RowDecoder
  ) throws(DecodingFailure) -> String { try decoder.decodeText() }

  /// Returns the text, embedded NULs included.
  @inlinable public func sqlValue() throws(BindingFailure) -> SQLValue { .text(self) }

  /// Creates the text from TEXT.
  @inlinable public init(sqlValue: SQLValue) throws(DecodingFailure) {
    guard case .text(let value) = sqlValue else {
      throw DecodingFailure(expected: String.self, found: sqlValue)
    }
    self = value
  }
}

extension Substring: QueryBindable {
  /// TEXT.
  public static var sqlType: SQLType { .text }

  /// Returns the text of the slice.
  public func sqlValue() throws(BindingFailure) -> SQLValue { .text(String(self)) }

  /// Creates the text from TEXT.
  public init(sqlValue: SQLValue) throws(DecodingFailure) {
    self = Substring(try String(sqlValue: sqlValue))
  }
}
