extension QueryExpression where QueryValue: QueryRepresentable {
  /// `ifnull`: a value in place of NULL.
  public func ifnull(
    _ value: QueryValue.Unwrapped.Output
  ) -> SQLQueryExpression<QueryValue.Unwrapped> {
    call("ifnull", queryFragment, SQLFragment(value, as: QueryValue.Unwrapped.self))
  }
  /// `ifnull`: an expression in place of NULL.
  public func ifnull<E: QueryExpression>(_ other: E) -> SQLQueryExpression<E.QueryValue>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    call("ifnull", queryFragment, other.queryFragment)
  }
  /// `nullif`: NULL in place of a value.
  public func nullif(
    _ value: QueryValue.Unwrapped.Output
  ) -> SQLQueryExpression<QueryValue.Unwrapped?> {
    call("nullif", queryFragment, SQLFragment(value, as: QueryValue.Unwrapped.self))
  }
  /// `coalesce`: a value in place of NULL.
  public static func ?? (
    left: Self, right: QueryValue.Unwrapped.Output
  ) -> SQLQueryExpression<QueryValue.Unwrapped> {
    call("coalesce", left.queryFragment, SQLFragment(right, as: QueryValue.Unwrapped.self))
  }
  /// `coalesce`: an expression in place of NULL.
  public static func ?? <E: QueryExpression>(
    left: Self, right: E
  ) -> SQLQueryExpression<E.QueryValue>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    call("coalesce", left.queryFragment, right.queryFragment)
  }
  /// `CAST`.
  public func cast<Value: QueryRepresentable>(
    as type: Value.Type
  ) -> SQLQueryExpression<Value> {
    let name = Value.sqlType == .any ? "NUMERIC" : Value.sqlType.rawValue
    return SQLQueryExpression(fragment: "CAST(\(queryFragment) AS \(raw: name))")
  }
}
