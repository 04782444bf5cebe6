internal import CSQLite

// The current row. A column that does not exist, and every column while there is no row, reads as
// NULL, as SQLite has it. Columns are counted from zero.
extension PreparedStatement {
  /// How many columns the result has; zero for a statement without a result.
  package var columnCount: Int { Int(sqlite3_column_count(pointer)) }

  /// The names of the columns, up to date after the first step.
  package var columnNames: [String] {
    if let cachedColumnNames { return cachedColumnNames }
    let names = (0..<columnCount).map(columnName)
    cachedColumnNames = names
    return names
  }

  /// Puts all columns of the current row into memory that belongs to the statement.
  ///
  /// First the number of columns, then three words for each: SQLite's number of its storage class, its bits or
  /// the address of its bytes, its length in bytes. Addresses are valid until the next step; the number
  /// is 0 from the end of the rows, or a reset, on.
  package func readRow() -> UnsafePointer<UInt64>? {
    guard let pointer else { return nil }
    let count = Int(sqlite3_data_count(pointer))
    if (row?.count ?? 0) < 1 + 3 * count {
      let buffer = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: 1 + 3 * count)
      buffer.initialize(repeating: 0)
      if let row {
        forgetRow()
        outgrownRows.append(row)
      }
      row = buffer
    }
    guard let words = row?.baseAddress else { return nil }
    boutique_sqlite_read_row(pointer, Int32(count), words)
    return UnsafePointer(words)
  }

  /// Where `readRow` has put the columns.
  package var currentRow: UnsafePointer<UInt64>? { row?.baseAddress.map { UnsafePointer($0) } }

  func forgetRow() {
    if let words = row?.baseAddress { words[0] = 0 }
  }

  /// Returns the name of a column, empty when there is none.
  package func columnName(_ index: Int) -> String {
    guard let pointer, let name = sqlite3_column_name(pointer, Int32(clamping: index)) else {
      return ""
    }
    return String(cString: name)
  }

  /// Returns the table column behind a result column, or `nil` for an expression.
  package func columnOrigin(_ index: Int) -> (table: String, column: String)? {
    guard let pointer,
      let table = sqlite3_column_table_name(pointer, Int32(clamping: index)),
      let column = sqlite3_column_origin_name(pointer, Int32(clamping: index))
    else { return nil }
    return (String(cString: table), String(cString: column))
  }

  /// Returns the type that the table declares for a column, or `nil` for an expression.
  package func declaredType(_ index: Int) -> String? {
    guard let pointer, let type = sqlite3_column_decltype(pointer, Int32(clamping: index)) else {
      return nil
    }
    return String(cString: type)
  }

  /// Returns the storage class of a value; ask before reading it as another type.
  package func columnType(_ index: Int) -> StorageClass {
    StorageClass(sqlite3_column_type(pointer, Int32(clamping: index)))
  }

  /// Returns whether a value is NULL.
  package func isNull(_ index: Int) -> Bool {
    sqlite3_column_type(pointer, Int32(clamping: index)) == SQLITE_NULL
  }

  /// Returns a value as an integer, converted by SQLite's rules.
  package func int64(_ index: Int) -> Int64 {
    sqlite3_column_int64(pointer, Int32(clamping: index))
  }

  /// Returns a value as a floating point number, converted by SQLite's rules.
  package func double(_ index: Int) -> Double {
    sqlite3_column_double(pointer, Int32(clamping: index))
  }

  /// Returns a value as text: embedded NULs kept, invalid UTF-8 repaired.
  package func text(_ index: Int) -> String {
    withText(index) { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns a value as bytes.
  package func blob(_ index: Int) -> [UInt8] {
    withBlob(index) { [UInt8]($0) }
  }

  /// Returns a value as it is stored.
  package func value(_ index: Int) -> SQLiteValue {
    switch columnType(index) {
    case .integer: .integer(int64(index))
    case .real: .real(double(index))
    case .text: .text(text(index))
    case .blob: .blob(blob(index))
    case .null: .null
    }
  }

  /// Calls `body` with the UTF-8 of a value, which is valid during the call only.
  package func withText<Result, Failure: Error>(
    _ index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let index = Int32(clamping: index)
    // The pointer is asked for before the count: a conversion changes the count.
    let bytes = sqlite3_column_text(pointer, index)
    let count = bytes == nil ? 0 : Int(sqlite3_column_bytes(pointer, index))
    return try body(UnsafeBufferPointer(start: bytes, count: count))
  }

  /// Calls `body` with the bytes of a value, which are valid during the call only.
  package func withBlob<Result, Failure: Error>(
    _ index: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let index = Int32(clamping: index)
    let bytes = sqlite3_column_blob(pointer, index)
    let count = bytes == nil ? 0 : Int(sqlite3_column_bytes(pointer, index))
    return try body(UnsafeRawBufferPointer(start: bytes, count: count))
  }
}
