extension QueryExpression
where
  QueryValue: QueryRepresentable, QueryValue.Unwrapped: QueryAddable,
  QueryValue.Unwrapped.Output: Numeric
{
  /// `abs`.
  public func abs() -> SQLQueryExpression<QueryValue> { call("abs", queryFragment) }
  /// `sign`: -1, 0 or 1.
  public func sign() -> SQLQueryExpression<Int?> { call("sign", queryFragment) }
  /// `round` to a number of decimal places.
  public func round(_ places: Int = 0) -> SQLQueryExpression<Double?> {
    call("round", queryFragment, "\(places)")
  }
  /// `ceil`.
  public func ceil() -> SQLQueryExpression<QueryValue> { call("ceil", queryFragment) }
  /// `floor`.
  public func floor() -> SQLQueryExpression<QueryValue> { call("floor", queryFragment) }
  /// `sqrt`; NULL of a negative number.
  public func sqrt() -> SQLQueryExpression<Double?> { call("sqrt", queryFragment) }
  /// `exp`.
  public func exp() -> SQLQueryExpression<Double?> { call("exp", queryFragment) }
  /// `ln`; NULL of what is not above zero.
  public func ln() -> SQLQueryExpression<Double?> { call("ln", queryFragment) }
  /// `log` to a base.
  public func log(base: Double) -> SQLQueryExpression<Double?> {
    call("log", "\(base)", queryFragment)
  }
  /// `pow`.
  public func pow(_ exponent: Double) -> SQLQueryExpression<Double?> {
    call("pow", queryFragment, "\(exponent)")
  }
}

/// Returns `random()`: an integer from the whole range.
public func sqlRandom() -> SQLQueryExpression<Int64> { call("random") }
