internal import CSQLite

extension PreparedStatement {
  /// Returns the name of a parameter with its prefix, or `nil` for `?` and for a wrong index.
  package func parameterName(_ index: Int32) -> String? {
    guard let pointer, let name = sqlite3_bind_parameter_name(pointer, index) else { return nil }
    return String(cString: name)
  }

  /// Returns the index of a named parameter, counted from one, or zero when there is none.
  ///
  /// The name may come with its prefix (`:id`) or without (`id`).
  package func parameterIndex(named name: String) -> Int32 {
    guard let pointer else { return 0 }
    switch name.utf8.first {
    case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "?"):
      return sqlite3_bind_parameter_index(pointer, name)
    default:
      for prefix in [":", "@", "$"] {
        let index = sqlite3_bind_parameter_index(pointer, prefix + name)
        if index != 0 { return index }
      }
      return 0
    }
  }

  /// Binds NULL to a parameter.
  package func bindNull(at index: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_null(pointer, index), index)
  }

  /// Binds an integer to a parameter.
  package func bind(_ value: Int64, at index: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_int64(pointer, index, value), index)
  }

  /// Binds a number to a parameter; SQLite binds NaN as NULL.
  package func bind(_ value: Double, at index: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_double(pointer, index, value), index)
  }

  /// Binds text to a parameter, embedded NULs included.
  package func bind(_ value: String, at index: Int32) throws(SQLiteError) {
    var value = value
    let code = value.withUTF8 { utf8 in
      boutique_sqlite_bind_text(pointer, index, utf8.baseAddress, UInt64(utf8.count))
    }
    try check(code, index)
  }

  /// Binds bytes that are UTF-8 as text to a parameter.
  package func bind(utf8 bytes: [UInt8], at index: Int32) throws(SQLiteError) {
    let code = bytes.withUnsafeBytes { bytes in
      boutique_sqlite_bind_text(pointer, index, bytes.baseAddress, UInt64(bytes.count))
    }
    try check(code, index)
  }

  /// Binds bytes to a parameter; no bytes are an empty blob and not NULL.
  package func bind(blob: [UInt8], at index: Int32) throws(SQLiteError) {
    let code = blob.withUnsafeBytes { bytes in
      boutique_sqlite_bind_blob(pointer, index, bytes.baseAddress, UInt64(bytes.count))
    }
    try check(code, index)
  }

  /// Binds a copy of bytes to a parameter; no bytes are an empty blob and not NULL.
  package func bind(blob: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteError) {
    try check(
      boutique_sqlite_bind_blob(pointer, index, blob.baseAddress, UInt64(blob.count)), index)
  }

  /// Binds a value of any storage class to a parameter.
  package func bind(_ value: SQLiteValue, at index: Int32) throws(SQLiteError) {
    switch value {
    case .null: try bindNull(at: index)
    case .integer(let value): try bind(value, at: index)
    case .real(let value): try bind(value, at: index)
    case .text(let value): try bind(value, at: index)
    case .blob(let value): try bind(blob: value, at: index)
    }
  }

  func check(_ code: Int32, _ index: Int32) throws(SQLiteError) {
    guard code == SQLITE_OK else { throw bindingError(code, index) }
    markInUse()
  }

  func bindingError(_ code: Int32, _ index: Int32) -> SQLiteError {
    guard pointer != nil else { return .closed(path: handle.path, sql: sql) }
    let message =
      switch code {
      case SQLITE_RANGE: "there is no parameter \(index); the statement has \(parameterCount)"
      case SQLITE_MISUSE: "parameter \(index) was bound before the statement was reset"
      default: "parameter \(index): \(String(cString: sqlite3_errstr(code)))"
      }
    return SQLiteError(
      code: ResultCode(rawValue: code), message: message, sql: sql, path: handle.path)
  }
}
