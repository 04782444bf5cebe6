/// A function over many rows, which may also look at a window of rows around each.
public struct AggregateExpression<QueryValue: QueryRow>: QueryExpression {
  /// The call.
  public let queryFragment: SQLFragment

  init(
    _ name: StaticString, _ arguments: SQLFragment..., distinct: Bool = false,
    filter: (any QueryExpression<Bool>)? = nil
  ) {
    var fragment = SQLFragment()
    fragment.append(sql: name)
    fragment.append(sql: distinct ? "(DISTINCT " : "(")
    fragment.append(arguments.joined(", "))
    fragment.append(sql: ")")
    if let filter { fragment.append(" FILTER (WHERE \(filter.queryFragment))") }
    queryFragment = fragment
  }
}

extension QueryExpression where QueryValue: QueryRepresentable {
  /// `count`: how many values are not NULL.
  public func count(
    distinct: Bool = false, filter: (any QueryExpression<Bool>)? = nil
  ) -> AggregateExpression<Int> {
    AggregateExpression("count", queryFragment, distinct: distinct, filter: filter)
  }
  /// `min`; NULL of no rows.
  public func min(
    filter: (any QueryExpression<Bool>)? = nil
  ) -> AggregateExpression<QueryValue.Unwrapped?> {
    AggregateExpression("min", queryFragment, filter: filter)
  }
  /// `max`; NULL of no rows.
  public func max(
    filter: (any QueryExpression<Bool>)? = nil
  ) -> AggregateExpression<QueryValue.Unwrapped?> {
    AggregateExpression("max", queryFragment, filter: filter)
  }
  /// `group_concat`: the values as one text; NULL of no rows.
  ///
  /// SQLite decides on their order.
  public func groupConcat(
    _ separator: String = ",", filter: (any QueryExpression<Bool>)? = nil
  ) -> AggregateExpression<String?> {
    AggregateExpression("group_concat", queryFragment, "\(separator)", filter: filter)
  }
  /// `group_concat` of the different values, with commas: SQLite takes no separator here.
  public func groupConcatDistinct(
    filter: (any QueryExpression<Bool>)? = nil
  ) -> AggregateExpression<String?> {
    AggregateExpression("group_concat", queryFragment, distinct: true, filter: filter)
  }
  /// `json_group_array`: the values as a JSON array.
  public func jsonGroupArray(
    filter: (any QueryExpression<Bool>)? = nil
  ) -> AggregateExpression<String> {
    AggregateExpression("json_group_array", queryFragment, filter: filter)
  }
}

extension QueryExpression
where
  QueryValue: QueryRepresentable, QueryValue.Unwrapped: QueryAddable,
  QueryValue.Unwrapped.Output: Numeric
{
  /// `sum`; NULL of no rows.
  ///
  /// Of integers, an overflow is an error.
  public func sum(
    distinct: Bool = false, filter: (any QueryExpression<Bool>)? = nil
  ) -> AggregateExpression<QueryValue.Unwrapped?> {
    AggregateExpression("sum", queryFragment, distinct: distinct, filter: filter)
  }
  /// `total`: the sum as a floating-point number, 0 of no rows.
  public func total(
    distinct: Bool = false, filter: (any QueryExpression<Bool>)? = nil
  ) -> AggregateExpression<Double> {
    AggregateExpression("total", queryFragment, distinct: distinct, filter: filter)
  }
  /// `avg`; NULL of no rows.
  public func avg(
    distinct: Bool = false, filter: (any QueryExpression<Bool>)? = nil
  ) -> AggregateExpression<Double?> {
    AggregateExpression("avg", queryFragment, distinct: distinct, filter: filter)
  }
}

extension TableColumnSet {
  /// `count(*)`: how many rows there are.
  public func count(filter: (any QueryExpression<Bool>)? = nil) -> AggregateExpression<Int> {
    AggregateExpression("count", "*", filter: filter)
  }
}
