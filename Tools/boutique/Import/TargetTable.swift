import BoutiqueDB
import CommandLineSupport

/// The table that rows go into: its columns and the statements that fill it.
struct TargetTable {
  let name: String

  /// The columns that can be filled: neither generated nor hidden.
  let columns: [String]

  /// Looks a table up; nil when there is none.
  static func find(_ name: String, on connection: BoutiqueConnection) throws -> TargetTable? {
    let rows = try connection.query(
      "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid", name)
    if rows.isEmpty { return nil }
    return TargetTable(name: name, columns: try rows.map { try $0.decode(0, as: String.self) })
  }

  /// Makes a table.
  static func create(
    _ name: String, columns: [(name: String, type: String)], on connection: BoutiqueConnection
  ) throws -> TargetTable {
    if columns.isEmpty {
      throw CommandFailure("table \(name) cannot be made: the file names no column")
    }
    let definitions = columns.map { column in
      column.type.isEmpty ? quoted(column.name) : "\(quoted(column.name)) \(column.type)"
    }
    try connection.execute("CREATE TABLE \(quoted(name)) (\(definitions.joined(separator: ", ")))")
    return TargetTable(name: name, columns: columns.map(\.name))
  }

  /// The statement that inserts a row with these columns.
  func insertion(of names: [String]) -> String {
    if names.isEmpty { return "INSERT INTO \(Self.quoted(name)) DEFAULT VALUES" }
    let list = names.map { Self.quoted($0) }.joined(separator: ", ")
    let marks = names.map { _ in "?" }.joined(separator: ", ")
    return "INSERT INTO \(Self.quoted(name)) (\(list)) VALUES (\(marks))"
  }

  /// Returns what is wrong with a column's name, nil when the table has it.
  func complaint(about column: String) -> String? {
    let word = column.lowercased()
    if columns.contains(where: { $0.lowercased() == word }) { return nil }
    let suggestion = Suggestion.nearest(to: column, among: columns)
    return "table \(name) has no column “\(column)” that can be filled"
      + (suggestion.map { "; did you mean “\($0)”?" } ?? "")
  }

  private static func quoted(_ identifier: String) -> String {
    // By scalars: a quote with a combining mark is another character, and the same quote for SQLite.
    let doubled = identifier.unicodeScalars.flatMap { $0 == "\"" ? [$0, $0] : [$0] }
    return "\"" + String(String.UnicodeScalarView(doubled)) + "\""
  }
}
