public import Foundation

extension UUID: QueryBindable, QueryDecodable {
  /// TEXT.
  public static var sqlType: SQLType { .text }

  /// Returns the identifier as lower-case text.
  public func sqlValue() throws(BindingFailure) -> SQLValue { .text(uuidString.lowercased()) }

  /// Creates the identifier from text in either letter case.
  public init(sqlValue: SQLValue) throws(DecodingFailure) {
    guard case .text(let text) = sqlValue, let value = UUID(uuidString: text) else {
      throw DecodingFailure(expected: UUID.self, found: sqlValue)
    }
    self = value
  }
}

extension URL: QueryBindable, QueryDecodable {
  /// TEXT.
  public static var sqlType: SQLType { .text }

  /// Returns the absolute string.
  public func sqlValue() throws(BindingFailure) -> SQLValue { .text(absoluteString) }

  /// Creates the URL from text.
  public init(sqlValue: SQLValue) throws(DecodingFailure) {
    guard case .text(let text) = sqlValue, let value = URL(string: text) else {
      throw DecodingFailure(expected: URL.self, found: sqlValue)
    }
    self = value
  }
}
