/// The functions that exist for windows alone; aggregates can be used with ``AggregateExpression/over(partitionBy:orderBy:frame:)`` too.
public enum Window {
  /// `row_number()`: 1, 2, 3.
  public static func rowNumber() -> AggregateExpression<Int> { AggregateExpression("row_number") }
  /// `rank()`: equal rows get the same number, with gaps after them.
  public static func rank() -> AggregateExpression<Int> { AggregateExpression("rank") }
  /// `dense_rank()`: as ``rank()`` without gaps.
  public static func denseRank() -> AggregateExpression<Int> { AggregateExpression("dense_rank") }
  /// `percent_rank()`.
  public static func percentRank() -> AggregateExpression<Double> {
    AggregateExpression("percent_rank")
  }
  /// `cume_dist()`.
  public static func cumeDist() -> AggregateExpression<Double> { AggregateExpression("cume_dist") }
  /// `ntile(n)`: the rows in n parts.
  public static func ntile(_ parts: Int) -> AggregateExpression<Int> {
    AggregateExpression("ntile", "\(parts)")
  }
  /// `lag`: the value some rows before; NULL before the first.
  public static func lag<E: QueryExpression>(
    _ expression: E, _ offset: Int = 1
  ) -> AggregateExpression<E.QueryValue.Unwrapped?> where E.QueryValue: QueryRepresentable {
    AggregateExpression("lag", expression.queryFragment, "\(offset)")
  }
  /// `lead`: the value some rows after; NULL after the last.
  public static func lead<E: QueryExpression>(
    _ expression: E, _ offset: Int = 1
  ) -> AggregateExpression<E.QueryValue.Unwrapped?> where E.QueryValue: QueryRepresentable {
    AggregateExpression("lead", expression.queryFragment, "\(offset)")
  }
  /// `first_value` of the frame.
  public static func firstValue<E: QueryExpression>(
    _ expression: E
  ) -> AggregateExpression<E.QueryValue.Unwrapped?> where E.QueryValue: QueryRepresentable {
    AggregateExpression("first_value", expression.queryFragment)
  }
  /// `last_value` of the frame, which by default ends at the current row.
  public static func lastValue<E: QueryExpression>(
    _ expression: E
  ) -> AggregateExpression<E.QueryValue.Unwrapped?> where E.QueryValue: QueryRepresentable {
    AggregateExpression("last_value", expression.queryFragment)
  }
  /// `nth_value` of the frame, counted from 1.
  public static func nthValue<E: QueryExpression>(
    _ expression: E, _ position: Int
  ) -> AggregateExpression<E.QueryValue.Unwrapped?> where E.QueryValue: QueryRepresentable {
    AggregateExpression("nth_value", expression.queryFragment, "\(position)")
  }
}

/// Which rows around the current one a window function looks at.
public struct WindowFrame: Sendable {
  /// An end of a frame.
  public enum Bound: Sendable {
    case unboundedPreceding
    case preceding(Int)
    case currentRow
    case following(Int)
    case unboundedFollowing

    var fragment: SQLFragment {
      switch self {
      case .unboundedPreceding: "UNBOUNDED PRECEDING"
      case .preceding(let rows): "\(rows) PRECEDING"
      case .currentRow: "CURRENT ROW"
      case .following(let rows): "\(rows) FOLLOWING"
      case .unboundedFollowing: "UNBOUNDED FOLLOWING"
      }
    }
  }

  let fragment: SQLFragment

  /// Counts rows.
  public static func rows(_ start: Bound, _ end: Bound) -> WindowFrame {
    WindowFrame(fragment: "ROWS BETWEEN \(start.fragment) AND \(end.fragment)")
  }
  /// Compares values of the order.
  public static func range(_ start: Bound, _ end: Bound) -> WindowFrame {
    WindowFrame(fragment: "RANGE BETWEEN \(start.fragment) AND \(end.fragment)")
  }
  /// Counts groups of rows that are equal in the order.
  public static func groups(_ start: Bound, _ end: Bound) -> WindowFrame {
    WindowFrame(fragment: "GROUPS BETWEEN \(start.fragment) AND \(end.fragment)")
  }
}

extension AggregateExpression {
  /// `OVER`: computes the function for each row, over the rows of its window.
  public func over(
    partitionBy partitions: any QueryExpression..., orderBy orders: any QueryExpression...,
    frame: WindowFrame? = nil
  ) -> SQLQueryExpression<QueryValue> {
    var parts: [SQLFragment] = []
    if !partitions.isEmpty {
      parts.append("PARTITION BY \(partitions.map(\.queryFragment).joined(", "))")
    }
    if !orders.isEmpty { parts.append("ORDER BY \(orders.map(\.queryFragment).joined(", "))") }
    if let frame { parts.append(frame.fragment) }
    return SQLQueryExpression(fragment: "\(queryFragment) OVER (\(parts.joined(" ")))")
  }
}
