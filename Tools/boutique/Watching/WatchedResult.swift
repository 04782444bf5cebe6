import BoutiqueDB

/// A result as `boutique watch` shows it.
///
/// Two equal ones look the same, so the second is not shown.
struct WatchedResult: Sendable, Equatable {
  var columns: [String] = []

  /// The rows, at most as many as are shown.
  var rows: [[SQLValue]] = []

  /// The number of all rows.
  var total = 0

  static func fetch(
    _ sql: String, _ arguments: StatementArguments, limit: Int?, on connection: BoutiqueConnection
  ) throws -> WatchedResult {
    var result = WatchedResult()
    let statement = try connection.prepare(sql)
    try arguments.forEachRow(of: statement) { row in
      if result.total == 0 { result.columns = row.columns }
      result.total += 1
      if result.rows.count < limit ?? .max { result.rows.append(row.values) }
    }
    if result.total == 0 { result.columns = try connection.columnNames(of: sql) }
    return result
  }
}
