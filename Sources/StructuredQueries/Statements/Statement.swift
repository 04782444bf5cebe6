/// One SQL statement with its values, and what its rows are decoded to.
public protocol Statement<QueryValue>: Sendable {
  /// What a row is decoded to; ``NoRow`` for statements without rows.
  associatedtype QueryValue: QueryRow
  /// The SQL. When it is empty there is nothing to run and the result has no rows.
  var query: SQLFragment { get }
}

/// A statement that reads; its rows can be counted without reading them.
public protocol SelectStatement: Statement {
  /// The SQL of the number of its rows.
  var countQuery: SQLFragment { get }
}

/// Adds expressions up to a list: one or a tuple a line, with `if` and `switch`.
@resultBuilder public enum ExpressionListBuilder {
  /// Takes one expression.
  public static func buildExpression<E: QueryExpression>(_ expression: E) -> [SQLFragment] {
    [expression.queryFragment]
  }
  /// Takes a tuple of expressions.
  public static func buildExpression<each E: QueryExpression>(
    _ expressions: (repeat each E)
  ) -> [SQLFragment] {
    fragments(repeat each expressions)
  }
  /// Takes SQL by hand, which may end in a direction; this is what gives a bare `#sql` a type.
  public static func buildExpression(_ sql: SQLQueryExpression<NoRow>) -> [SQLFragment] {
    [sql.query]
  }
  /// Puts lines together.
  public static func buildBlock(_ parts: [SQLFragment]...) -> [SQLFragment] {
    parts.flatMap(\.self)
  }
  /// Takes nothing from an `if` that is not entered.
  public static func buildOptional(_ part: [SQLFragment]?) -> [SQLFragment] { part ?? [] }
  /// Takes the first branch.
  public static func buildEither(first part: [SQLFragment]) -> [SQLFragment] { part }
  /// Takes the second branch.
  public static func buildEither(second part: [SQLFragment]) -> [SQLFragment] { part }
  /// Takes the lines of a loop.
  public static func buildArray(_ parts: [[SQLFragment]]) -> [SQLFragment] { parts.flatMap(\.self) }
}

/// Adds conditions up, all of which must hold: one a line, with `if` and `switch`.
@resultBuilder public enum PredicateBuilder {
  /// Takes one condition; this is what tells `#sql` that it stands for a Bool.
  public static func buildExpression(_ condition: SQLQueryExpression<Bool>) -> [SQLFragment] {
    [condition.queryFragment]
  }
  /// Takes one condition.
  public static func buildExpression<E: QueryExpression>(_ condition: E) -> [SQLFragment]
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == Bool {
    [condition.queryFragment]
  }
  /// Puts lines together.
  public static func buildBlock(_ parts: [SQLFragment]...) -> [SQLFragment] {
    parts.flatMap(\.self)
  }
  /// Takes nothing from an `if` that is not entered.
  public static func buildOptional(_ part: [SQLFragment]?) -> [SQLFragment] { part ?? [] }
  /// Takes the first branch.
  public static func buildEither(first part: [SQLFragment]) -> [SQLFragment] { part }
  /// Takes the second branch.
  public static func buildEither(second part: [SQLFragment]) -> [SQLFragment] { part }
  /// Takes the lines of a loop.
  public static func buildArray(_ parts: [[SQLFragment]]) -> [SQLFragment] { parts.flatMap(\.self) }
}

/// What a statement yields: one expression, or a tuple of them.
@resultBuilder public enum SelectionBuilder {
  /// Takes one expression: a column, a table's columns, a selection.
  public static func buildExpression<E: QueryExpression>(
    _ expression: E
  ) -> SelectedColumns<E.QueryValue> {
    SelectedColumns(fragment: expression.queryFragment)
  }
  /// Takes a tuple of expressions.
  public static func buildExpression<each E: QueryExpression>(
    _ expressions: (repeat each E)
  ) -> SelectedColumns<RowTuple<repeat (each E).QueryValue>> {
    SelectedColumns(fragment: fragments(repeat each expressions).joined(", "))
  }
  /// Takes the one line.
  public static func buildBlock<Value>(
    _ columns: SelectedColumns<Value>
  ) -> SelectedColumns<Value> { columns }
}

/// The columns that a statement yields.
public struct SelectedColumns<QueryValue: QueryRow>: Sendable {
  let fragment: SQLFragment
}

private func fragments<each E: QueryExpression>(_ expressions: repeat each E) -> [SQLFragment] {
  var result: [SQLFragment] = []
  for expression in repeat each expressions { result.append(expression.queryFragment) }
  return result
}

/// The columns of a `@Selection` struct as expressions, named after its properties.
public protocol SelectionColumns: QueryExpression {
  /// The expressions with their names.
  var selection: [SQLFragment] { get }
}

extension SelectionColumns {
  /// The expressions, separated by commas.
  public var queryFragment: SQLFragment { selection.joined(", ") }

  /// Returns an expression under a name; a whole row keeps the names of its columns.
  public static func column(_ expression: some QueryExpression, _ name: String) -> SQLFragment {
    selectionColumn(expression, name)
  }
}

private func selectionColumn<E: QueryExpression>(_ expression: E, _ name: String) -> SQLFragment {
  if case .group = E.QueryValue.columnStorage { return expression.queryFragment }
  return "\(expression.queryFragment) AS \(quote: name)"
}
