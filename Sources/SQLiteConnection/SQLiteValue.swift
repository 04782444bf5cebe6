internal import CSQLite

/// The storage classes of SQLite.
package enum StorageClass: Sendable {
  /// A signed 64-bit integer.
  case integer
  /// A 64-bit floating point number.
  case real
  /// A string.
  case text
  /// Bytes.
  case blob
  /// The absence of a value.
  case null

  init(_ type: Int32) {
    switch type {
    case SQLITE_INTEGER: self = .integer
    case SQLITE_FLOAT: self = .real
    case SQLITE_TEXT: self = .text
    case SQLITE_BLOB: self = .blob
    default: self = .null
    }
  }
}

/// A value as SQLite stores it.
package enum SQLiteValue: Sendable, Hashable {
  /// The absence of a value.
  case null
  /// A signed 64-bit integer.
  case integer(Int64)
  /// A 64-bit floating point number.
  case real(Double)
  /// A string; invalid UTF-8 has been repaired.
  case text(String)
  /// Bytes.
  case blob([UInt8])

  /// Copies an SQLite value; `nil` is the null pointer and reads as NULL.
  init(_ value: OpaquePointer?) {
    // SQLite itself would follow the null pointer.
    guard let value else {
      self = .null
      return
    }
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER:
      self = .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT:
      self = .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      // The pointer is asked for before the count: a conversion changes the count.
      let bytes = sqlite3_value_text(value)
      let count = Int(sqlite3_value_bytes(value))
      self = .text(String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self))
    case SQLITE_BLOB:
      let bytes = sqlite3_value_blob(value)
      let count = Int(sqlite3_value_bytes(value))
      self = .blob([UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
    default:
      self = .null
    }
  }
}
