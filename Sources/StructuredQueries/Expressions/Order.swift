/// Where NULL comes in an order.
public enum NullOrder: Sendable {
  case first
  case last
}

extension QueryExpression {
  /// From the smallest; NULL first unless told otherwise.
  public func asc(nulls: NullOrder? = nil) -> OrderTerm { OrderTerm(queryFragment, "ASC", nulls) }
  /// From the largest; NULL last unless told otherwise.
  public func desc(nulls: NullOrder? = nil) -> OrderTerm { OrderTerm(queryFragment, "DESC", nulls) }
}

/// An expression with the direction in which rows are ordered by it.
public struct OrderTerm: QueryExpression {
  /// What a row, or the expression, is decoded to.
  public typealias QueryValue = NoRow
  /// The expression and its direction.
  public let queryFragment: SQLFragment

  init(_ expression: SQLFragment, _ direction: StaticString, _ nulls: NullOrder?) {
    var fragment: SQLFragment = "\(expression) \(raw: direction.description)"
    switch nulls {
    case .first: fragment.append(sql: " NULLS FIRST")
    case .last: fragment.append(sql: " NULLS LAST")
    case nil: break
    }
    queryFragment = fragment
  }
}
