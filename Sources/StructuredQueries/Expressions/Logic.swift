extension QueryExpression where QueryValue: QueryRepresentable, QueryValue.Unwrapped == Bool {
  /// `AND`.
  public func and<E: QueryExpression>(_ other: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == Bool {
    SQLQueryExpression(fragment: binary(" AND ", other.queryFragment))
  }
  /// `OR`.
  public func or<E: QueryExpression>(_ other: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == Bool {
    SQLQueryExpression(fragment: binary(" OR ", other.queryFragment))
  }
  /// `NOT`.
  public func not() -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: "(NOT \(queryFragment))")
  }

  /// `AND`.
  public static func && <E: QueryExpression>(left: Self, right: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == Bool { left.and(right) }
  /// `OR`.
  public static func || <E: QueryExpression>(left: Self, right: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == Bool { left.or(right) }
  /// `NOT`.
  public static prefix func ! (expression: Self) -> SQLQueryExpression<Bool> { expression.not() }
}

// A bare `#sql("…")` has no type of its own; beside a condition or a column it is told to be a Bool by these. They are
// functions of concrete types: as members for every expression they take the compiler beyond its bounds.

/// `AND`.
public func && (
  left: SQLQueryExpression<Bool>, right: SQLQueryExpression<Bool>
) -> SQLQueryExpression<Bool> { left.and(right) }
/// `AND` of a column and a condition.
public func && <Root>(
  left: TableColumn<Root, Bool>, right: SQLQueryExpression<Bool>
) -> SQLQueryExpression<Bool> { left.and(right) }
/// `AND` of a condition and a column.
public func && <Root>(
  left: SQLQueryExpression<Bool>, right: TableColumn<Root, Bool>
) -> SQLQueryExpression<Bool> { left.and(right) }
/// `OR`.
public func || (
  left: SQLQueryExpression<Bool>, right: SQLQueryExpression<Bool>
) -> SQLQueryExpression<Bool> { left.or(right) }
/// `OR` of a column and a condition.
public func || <Root>(
  left: TableColumn<Root, Bool>, right: SQLQueryExpression<Bool>
) -> SQLQueryExpression<Bool> { left.or(right) }
/// `OR` of a condition and a column.
public func || <Root>(
  left: SQLQueryExpression<Bool>, right: TableColumn<Root, Bool>
) -> SQLQueryExpression<Bool> { left.or(right) }
/// `NOT`.
public prefix func ! (expression: SQLQueryExpression<Bool>) -> SQLQueryExpression<Bool> {
  expression.not()
}

/// Returns `iif`: one of two values by a condition.
public func iif<Value: QueryBindable>(
  _ condition: some QueryExpression<Bool>, _ value: Value, _ otherwise: Value
) -> SQLQueryExpression<Value> {
  call("iif", condition.queryFragment, bind(value).queryFragment, bind(otherwise).queryFragment)
}

/// Returns `iif`: one of two expressions by a condition.
public func iif<Value: QueryRow>(
  _ condition: some QueryExpression<Bool>, _ value: some QueryExpression<Value>,
  _ otherwise: some QueryExpression<Value>
) -> SQLQueryExpression<Value> {
  call("iif", condition.queryFragment, value.queryFragment, otherwise.queryFragment)
}
