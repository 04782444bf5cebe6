/// A type whose values can be joined with `+`: numbers are added, texts are put together.
public protocol QueryAddable: QueryRepresentable {}

extension Int: QueryAddable {}
extension Int8: QueryAddable {}
extension Int16: QueryAddable {}
extension Int32: QueryAddable {}
extension Int64: QueryAddable {}
extension UInt: QueryAddable {}
extension UInt8: QueryAddable {}
extension UInt16: QueryAddable {}
extension UInt32: QueryAddable {}
extension UInt64: QueryAddable {}
extension Double: QueryAddable {}
extension Float: QueryAddable {}
extension String: QueryAddable {}

extension QueryExpression where QueryValue: QueryRepresentable, QueryValue.Unwrapped: QueryAddable {
  /// `+` for numbers, `||` for texts.
  public static func + (
    left: Self, right: QueryValue.Output
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: left.binary(plus(QueryValue.self), left.bound(right)))
  }
  /// `+` for numbers, `||` for texts.
  public static func + (
    left: Self, right: some QueryExpression<QueryValue>
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: left.binary(plus(QueryValue.self), right.queryFragment))
  }
  /// `+` for numbers, `||` for texts; the value comes first.
  public static func + (
    left: QueryValue.Output, right: Self
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: right.binary(plus(QueryValue.self), after: left))
  }
}

func plus<Value: QueryRepresentable>(_ type: Value.Type) -> StaticString {
  Value.sqlType == .text ? " || " : " + "
}

extension QueryExpression
where
  QueryValue: QueryRepresentable, QueryValue.Unwrapped: QueryAddable,
  QueryValue.Unwrapped.Output: Numeric
{
  /// `-`.
  public static func - (
    left: Self, right: QueryValue.Output
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: left.binary(" - ", left.bound(right)))
  }
  /// `-`.
  public static func - (
    left: Self, right: some QueryExpression<QueryValue>
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: left.binary(" - ", right.queryFragment))
  }
  /// `*`.
  public static func * (
    left: Self, right: QueryValue.Output
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: left.binary(" * ", left.bound(right)))
  }
  /// `*`.
  public static func * (
    left: Self, right: some QueryExpression<QueryValue>
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: left.binary(" * ", right.queryFragment))
  }
  /// `/`; of integers, without the fraction.
  ///
  /// Division by zero gives NULL.
  public static func / (
    left: Self, right: QueryValue.Output
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: left.binary(" / ", left.bound(right)))
  }
  /// `/`; of integers, without the fraction.
  ///
  /// Division by zero gives NULL.
  public static func / (
    left: Self, right: some QueryExpression<QueryValue>
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: left.binary(" / ", right.queryFragment))
  }
  /// `-` with the value first.
  public static func - (
    left: QueryValue.Output, right: Self
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: right.binary(" - ", after: left))
  }
  /// `*` with the value first.
  public static func * (
    left: QueryValue.Output, right: Self
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: right.binary(" * ", after: left))
  }
  /// `/` with the value first.
  public static func / (
    left: QueryValue.Output, right: Self
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: right.binary(" / ", after: left))
  }
  /// `-` before an expression.
  public static prefix func - (expression: Self) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: "(-\(expression.queryFragment))")
  }
}

extension QueryExpression
where QueryValue: QueryRepresentable, QueryValue.Unwrapped.Output: FixedWidthInteger {
  /// `%`.
  public static func % (
    left: Self, right: QueryValue.Output
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: left.binary(" % ", left.bound(right)))
  }
  /// `&`.
  public static func & (
    left: Self, right: QueryValue.Output
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: left.binary(" & ", left.bound(right)))
  }
  /// `|`.
  public static func | (
    left: Self, right: QueryValue.Output
  ) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: left.binary(" | ", left.bound(right)))
  }
  /// `<<`.
  public static func << (left: Self, right: Int) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: left.binary(" << ", "\(right)"))
  }
  /// `>>`.
  public static func >> (left: Self, right: Int) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: left.binary(" >> ", "\(right)"))
  }
  /// `~`.
  public static prefix func ~ (expression: Self) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: "(~\(expression.queryFragment))")
  }
}
