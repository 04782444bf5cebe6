/// A table of SQLite's full-text search, version 5.
///
/// ```swift
/// @Table struct NoteText: FTS5 { var title: String; var body: String }
/// NoteText.where { $0.match("swift AND linux") }.order { $0.rank }
/// ```
public protocol FTS5: Table {}

extension FTS5 {
  /// Returns the statement that makes the table.
  ///
  /// - Parameter options: `"tokenize = 'porter'"` and the like, as FTS5 takes them.
  public static func createTable(ifNotExists: Bool = false, options: String...) -> SQLFragment {
    let arguments = tableSchema.columnNames.map(quoted(identifier:)) + options
    return SQLFragment(
      raw: "CREATE VIRTUAL TABLE \(ifNotExists ? "IF NOT EXISTS " : "")"
        + "\(quoted(identifier: tableName)) USING fts5(\(arguments.joined(separator: ", ")))")
  }
}

extension TableColumnSet where QueryValue: FTS5 {
  /// `MATCH`: whether the row matches a query in FTS5's language.
  public func match(_ query: String) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: "(\(table) MATCH \(query))")
  }

  /// How well the row matches; smaller is better.
  public var rank: SQLQueryExpression<Double> {
    SQLQueryExpression(fragment: SQLFragment(column: "rank", of: _scope.name))
  }

  /// `bm25`: as ``rank``, with a weight for each column in order.
  public func bm25(_ weights: Double...) -> SQLQueryExpression<Double> {
    SQLQueryExpression(fragment: "bm25(\(([table] + weights.map { "\($0)" }).joined(", ")))")
  }

  /// `highlight`: a column's text with marks around what matched.
  public func highlight<Root, Value>(
    _ column: KeyPath<Self, TableColumn<Root, Value>>, _ before: String, _ after: String
  ) -> SQLQueryExpression<String?> {
    call("highlight", table, index(of: column), "\(before)", "\(after)")
  }

  /// `snippet`: the part of a column's text around what matched.
  ///
  /// - Parameter tokens: how many words at most, up to 64.
  public func snippet<Root, Value>(
    _ column: KeyPath<Self, TableColumn<Root, Value>>, _ before: String, _ after: String,
    ellipsis: String = "…", tokens: Int = 16
  ) -> SQLQueryExpression<String?> {
    call(
      "snippet", table, index(of: column), "\(before)", "\(after)", "\(ellipsis)", "\(tokens)")
  }

  /// The hidden column that has the table's own name.
  private var table: SQLFragment { SQLFragment(identifier: QueryValue.tableName) }

  private func index<Root, Value>(
    of column: KeyPath<Self, TableColumn<Root, Value>>
  ) -> SQLFragment {
    let name = self[keyPath: column].name
    let index = QueryValue.tableSchema.columnNames.firstIndex(of: name) ?? 0
    return SQLFragment(raw: String(index))
  }
}

extension TableColumn where QueryValue == String {
  /// `MATCH` in one column of a full-text table.
  public func match(_ query: String) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: "(\(queryFragment) MATCH \(query))")
  }
}
