extension String: QueryBindable, QueryDecodable {
  /// Returns the text, embedded NULs included.
  public func sqlValue() throws(BindingFailure) -> SQLValue { .text(self) }

  /// Creates the text from TEXT.
  public init(sqlValue: SQLValue) throws(DecodingFailure) {
    guard case .text(let value) = sqlValue else {
      throw DecodingFailure(expected: String.self, found: sqlValue)
    }
    self = value
  }
}

extension Substring: QueryBindable {
  /// Returns the text of the slice.
  public func sqlValue() throws(BindingFailure) -> SQLValue { .text(String(self)) }
}
