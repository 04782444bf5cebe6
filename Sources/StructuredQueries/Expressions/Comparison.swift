// Each comparison takes a value or another expression, nothing else, so that the compiler has two ways to
// look at and not twenty. A column that allows NULL compares with one that does not.

extension QueryExpression where QueryValue: QueryRepresentable {
  /// `=`; never true for NULL.
  public func eq(_ value: QueryValue.Output) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: binary(" = ", bound(value)))
  }
  /// `=` with an expression; never true for NULL.
  public func eq<E: QueryExpression>(_ other: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    SQLQueryExpression(fragment: binary(" = ", other.queryFragment))
  }
  /// `<>`; never true for NULL.
  public func neq(_ value: QueryValue.Output) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: binary(" <> ", bound(value)))
  }
  /// `<>` with an expression; never true for NULL.
  public func neq<E: QueryExpression>(_ other: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    SQLQueryExpression(fragment: binary(" <> ", other.queryFragment))
  }
  /// `<`.
  public func lt(_ value: QueryValue.Output) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: binary(" < ", bound(value)))
  }
  /// `<` with an expression.
  public func lt<E: QueryExpression>(_ other: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    SQLQueryExpression(fragment: binary(" < ", other.queryFragment))
  }
  /// `<=`.
  public func lte(_ value: QueryValue.Output) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: binary(" <= ", bound(value)))
  }
  /// `<=` with an expression.
  public func lte<E: QueryExpression>(_ other: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    SQLQueryExpression(fragment: binary(" <= ", other.queryFragment))
  }
  /// `>`.
  public func gt(_ value: QueryValue.Output) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: binary(" > ", bound(value)))
  }
  /// `>` with an expression.
  public func gt<E: QueryExpression>(_ other: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    SQLQueryExpression(fragment: binary(" > ", other.queryFragment))
  }
  /// `>=`.
  public func gte(_ value: QueryValue.Output) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: binary(" >= ", bound(value)))
  }
  /// `>=` with an expression.
  public func gte<E: QueryExpression>(_ other: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    SQLQueryExpression(fragment: binary(" >= ", other.queryFragment))
  }

  /// `IS`: true when both are equal or both are NULL.
  public func `is`(_ value: QueryValue.Unwrapped.Output?) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: binary(" IS ", Self.orNull(value)))
  }
  /// `IS` with an expression.
  public func `is`<E: QueryExpression>(_ other: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    SQLQueryExpression(fragment: binary(" IS ", other.queryFragment))
  }
  /// `IS NOT`: true when they differ, NULL being a value like others.
  public func isNot(_ value: QueryValue.Unwrapped.Output?) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: binary(" IS NOT ", Self.orNull(value)))
  }
  /// `IS NOT` with an expression.
  public func isNot<E: QueryExpression>(_ other: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    SQLQueryExpression(fragment: binary(" IS NOT ", other.queryFragment))
  }

  /// NULL is written out, which lets SQLite use partial indexes.
  private static func orNull(_ value: QueryValue.Unwrapped.Output?) -> SQLFragment {
    guard let value else { return "NULL" }
    return SQLFragment(value, as: QueryValue.Unwrapped.self)
  }
}

// The operators mean what Swift's do. Of a column that allows NULL, `==` is therefore IS and `!=` is
// IS NOT: `$0.pinnedAt == nil` finds the rows without a value.

extension QueryExpression where QueryValue: QueryRepresentable {
  /// Whether the column has the value.
  public static func == (left: Self, right: QueryValue.Output) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: left.equality(right, " = ", " IS ", "IS NULL"))
  }
  /// Whether both are equal.
  public static func == <E: QueryExpression>(left: Self, right: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    let isNullable = QueryValue.isNullable || E.QueryValue.isNullable
    return SQLQueryExpression(
      fragment: left.binary(isNullable ? " IS " : " = ", right.queryFragment))
  }
  /// Whether the column has another value.
  public static func != (left: Self, right: QueryValue.Output) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: left.equality(right, " <> ", " IS NOT ", "IS NOT NULL"))
  }
  /// Whether both differ.
  public static func != <E: QueryExpression>(left: Self, right: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    let isNullable = QueryValue.isNullable || E.QueryValue.isNullable
    return SQLQueryExpression(
      fragment: left.binary(isNullable ? " IS NOT " : " <> ", right.queryFragment))
  }
  /// `<`.
  public static func < (left: Self, right: QueryValue.Output) -> SQLQueryExpression<Bool> {
    left.lt(right)
  }
  /// `<` with an expression.
  public static func < <E: QueryExpression>(left: Self, right: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    left.lt(right)
  }
  /// `<=`.
  public static func <= (left: Self, right: QueryValue.Output) -> SQLQueryExpression<Bool> {
    left.lte(right)
  }
  /// `<=` with an expression.
  public static func <= <E: QueryExpression>(left: Self, right: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    left.lte(right)
  }
  /// `>`.
  public static func > (left: Self, right: QueryValue.Output) -> SQLQueryExpression<Bool> {
    left.gt(right)
  }
  /// `>` with an expression.
  public static func > <E: QueryExpression>(left: Self, right: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    left.gt(right)
  }
  /// `>=`.
  public static func >= (left: Self, right: QueryValue.Output) -> SQLQueryExpression<Bool> {
    left.gte(right)
  }
  /// `>=` with an expression.
  public static func >= <E: QueryExpression>(left: Self, right: E) -> SQLQueryExpression<Bool>
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    left.gte(right)
  }

  /// Whether the column has the value; the same as with the value on the right.
  public static func == (left: QueryValue.Output, right: Self) -> SQLQueryExpression<Bool> {
    right == left
  }
  /// Whether the column has another value; the same as with the value on the right.
  public static func != (left: QueryValue.Output, right: Self) -> SQLQueryExpression<Bool> {
    right != left
  }
  /// `<` with the value first.
  public static func < (left: QueryValue.Output, right: Self) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: right.binary(" < ", after: left))
  }
  /// `<=` with the value first.
  public static func <= (left: QueryValue.Output, right: Self) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: right.binary(" <= ", after: left))
  }
  /// `>` with the value first.
  public static func > (left: QueryValue.Output, right: Self) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: right.binary(" > ", after: left))
  }
  /// `>=` with the value first.
  public static func >= (left: QueryValue.Output, right: Self) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: right.binary(" >= ", after: left))
  }

  private func equality(
    _ value: QueryValue.Output, _ plain: StaticString, _ nullable: StaticString,
    _ null: StaticString
  ) -> SQLFragment {
    guard QueryValue.isNullable else { return binary(plain, bound(value)) }
    let right = bound(value)
    if right.isNullValue {
      return "(\(queryFragment) \(raw: null.description))"
    }
    return binary(nullable, right)
  }
}
