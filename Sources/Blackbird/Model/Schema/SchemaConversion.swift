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
    // Between whole numbers and their nearest Double; a cast back stops at the largest whole number.
    func survivesReal(_ number: String) -> String {
      "(CAST(\(number) AS REAL) < 9.2233720368547758e18 "
        + "AND CAST(CAST(\(number) AS REAL) AS INTEGER) = \(number))"
    }
    let cases =
      switch type {
      case .integer:
        "WHEN 'integer' THEN 1 WHEN 'real' THEN \(column) = \(integer) "
          + "WHEN 'text' THEN \(column) = CAST(\(integer) AS TEXT)"
      case .double:
        "WHEN 'real' THEN 1 WHEN 'integer' THEN \(survivesReal(column)) "
          + "WHEN 'text' THEN (\(column) = CAST(\(real) AS TEXT) "
          + "AND NOT (\(real) = 0 AND \(column) LIKE '-%')) "
          + "OR (\(column) = CAST(\(integer) AS TEXT) AND \(survivesReal(integer)))"
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
