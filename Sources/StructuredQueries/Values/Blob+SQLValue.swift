public import Foundation

// Bytes are stored as BLOB. An empty blob is not NULL.

extension [UInt8]: QueryRow, QueryRepresentable, QueryBindable, QueryDecodable {
  /// The value in Swift.
  public typealias Output = [UInt8]

  /// BLOB.
  public static var sqlType: SQLType { .blob }

  /// Returns the bytes.
  public func sqlValue() throws(BindingFailure) -> SQLValue { .blob(self) }

  /// Creates the bytes from BLOB.
  public init(sqlValue: SQLValue) throws(DecodingFailure) {
    guard case .blob(let bytes) = sqlValue else {
      throw DecodingFailure(expected: [UInt8].self, found: sqlValue)
    }
    self = bytes
  }
}

extension Data: QueryBindable, QueryDecodable {
  /// BLOB.
  public static var sqlType: SQLType { .blob }

  /// Returns the bytes.
  public func sqlValue() throws(BindingFailure) -> SQLValue { .blob([UInt8](self)) }

  /// Creates the data from BLOB.
  public init(sqlValue: SQLValue) throws(DecodingFailure) {
    guard case .blob(let bytes) = sqlValue else {
      throw DecodingFailure(expected: Data.self, found: sqlValue)
    }
    self = Data(bytes)
  }
}
