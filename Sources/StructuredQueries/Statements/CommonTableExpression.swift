/// A statement that uses the rows of others by name.
///
/// The name is that of the table struct that the rows are decoded to. A statement that refers to its own
/// name is recursive.
///
/// ```swift
/// With {
///   Values { Counter.Columns(value: bind(1)) }
///     .union(all: true, Counter.where { $0.value < 100 }.select { Counter.Columns(value: $0.value + 1) })
/// } query: {
///   Counter.all
/// }
/// ```
public struct With<QueryValue: QueryRow>: Statement {
  /// The SQL.
  public let query: SQLFragment

  /// Creates a statement from the ones it uses, one a line, and itself.
  public init<S: Statement<QueryValue>>(
    @CommonTableBuilder _ tables: () -> [SQLFragment], query: () -> S
  ) {
    let query = query().query
    let tables = tables()
    self.query =
      query.isEmpty || tables.isEmpty ? query : "WITH \(tables.joined(", ")) \(query)"
  }
}

/// Adds up the statements that a ``With`` uses.
@resultBuilder public enum CommonTableBuilder {
  /// Takes a statement whose rows have a table's shape.
  public static func buildExpression<S: Statement>(_ statement: S) -> [SQLFragment]
  where S.QueryValue: Table {
    let schema = S.QueryValue.tableSchema
    let columns = schema.columnNames.map { SQLFragment(identifier: $0) }.joined(", ")
    let query = statement.query.isEmpty ? Self.noRows(schema) : statement.query
    return ["\(quote: schema.name) (\(columns)) AS (\(query))"]
  }
  /// Puts lines together.
  public static func buildBlock(_ parts: [SQLFragment]...) -> [SQLFragment] {
    parts.flatMap(\.self)
  }

  private static func noRows(_ schema: TableSchema) -> SQLFragment {
    "SELECT \(schema.columns.map { _ in "NULL" as SQLFragment }.joined(", ")) WHERE 0"
  }
}
