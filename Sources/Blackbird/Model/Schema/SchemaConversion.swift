/// The conversion of a column's values to another type, and which values survive it.
enum SchemaConversion {
  static func converted(_ column: String, to type: Blackbird.ColumnType) -> String {
    "CAST(\(column) AS \(type == .double ? "REAL" : type.rawValue))"
  }

  /// A condition that holds for values that can be converted back.
  static func isExact(_ column: String, to type: Blackbird.ColumnType) -> String {
    let integer = "CAST(\(column) AS INTEGER)"
    let real = "CAST(\(column) AS REAL)"
    let text = "CAST(\(column) AS TEXT)"
    let cases =
      switch type {
      case .integer:
        "WHEN 'integer' THEN 1 WHEN 'real' THEN \(column) = \(integer) "
          + "WHEN 'text' THEN \(column) = CAST(\(integer) AS TEXT)"
      case .double:
        "WHEN 'real' THEN 1 WHEN 'integer' THEN \(column) = CAST(\(real) AS INTEGER) "
          + "WHEN 'text' THEN \(column) IN (CAST(\(real) AS TEXT), CAST(\(integer) AS TEXT))"
      case .text:
        "WHEN 'text' THEN 1 WHEN 'integer' THEN 1 WHEN 'real' THEN \(column) = CAST(\(text) AS REAL)"
      case .data: "WHEN 'blob' THEN 1 WHEN 'text' THEN 1"
      }
    // A blob is no text, even where its bytes are: an empty one is.
    let blob =
      type == .data ? "" : " WHEN 'blob' THEN length(\(column)) = 0 AND \(type == .text ? 1 : 0)"
    return "CASE typeof(\(column)) \(cases)\(blob) ELSE 0 END"
  }
}
