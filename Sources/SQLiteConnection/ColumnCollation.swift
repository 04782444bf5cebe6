internal import CSQLite

extension Connection {
  /// Returns the name of the collation that a column of a table of the main database is declared with, nil
  /// when there is no such column.
  package func collation(ofColumn column: String, in table: String) -> String? {
    guard let database = handle.database else { return nil }
    var collation: UnsafePointer<CChar>?
    let code = sqlite3_table_column_metadata(
      database, "main", table, column, nil, &collation, nil, nil, nil)
    guard code == SQLITE_OK, let collation else { return nil }
    return String(cString: collation)
  }
}
