extension QueryExpression where QueryValue: QueryRepresentable {
  /// `IN` a list of values.
  ///
  /// The empty list holds nothing.
  public func `in`(_ values: some Sequence<QueryValue.Output>) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: binary(" IN ", "(\(values.map(bound).joined(", ")))"))
  }

  /// `IN` the rows of a statement with one column.
  public func `in`<S: Statement>(_ rows: S) -> SQLQueryExpression<Bool>
  where S.QueryValue: QueryRepresentable, S.QueryValue.Unwrapped == QueryValue.Unwrapped {
    SQLQueryExpression(fragment: binary(" IN ", rows.subquery))
  }

  /// `NOT IN` a list of values.
  public func notIn(_ values: some Sequence<QueryValue.Output>) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: binary(" NOT IN ", "(\(values.map(bound).joined(", ")))"))
  }

  /// `NOT IN` the rows of a statement with one column.
  ///
  /// A NULL among them makes it NULL.
  public func notIn<S: Statement>(_ rows: S) -> SQLQueryExpression<Bool>
  where S.QueryValue: QueryRepresentable, S.QueryValue.Unwrapped == QueryValue.Unwrapped {
    SQLQueryExpression(fragment: binary(" NOT IN ", rows.subquery))
  }

  /// `BETWEEN` two values, both included.
  public func between(
    _ low: QueryValue.Output, and high: QueryValue.Output
  ) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: "(\(queryFragment) BETWEEN \(bound(low)) AND \(bound(high)))")
  }

  /// `BETWEEN` two expressions, both included.
  public func between<Low: QueryExpression, High: QueryExpression>(
    _ low: Low, and high: High
  ) -> SQLQueryExpression<Bool>
  where
    Low.QueryValue: QueryRepresentable, Low.QueryValue.Unwrapped == QueryValue.Unwrapped,
    High.QueryValue: QueryRepresentable, High.QueryValue.Unwrapped == QueryValue.Unwrapped
  {
    SQLQueryExpression(
      fragment: "(\(queryFragment) BETWEEN \(low.queryFragment) AND \(high.queryFragment))")
  }
}

extension Statement {
  /// The statement in parentheses; of no statement, a query without rows.
  var subquery: SQLFragment { query.isEmpty ? "(SELECT NULL WHERE 0)" : "(\(query))" }

  /// `EXISTS`: whether the statement has a row.
  public func exists() -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: "EXISTS \(subquery)")
  }
}
