/// The beginning of a CASE: of conditions, or of the values of an expression.
///
/// ```swift
/// Case($0.priority).when(1, then: "low").when(3, then: "high").else("none")
/// Case().when($0.isArchived, then: 0).else(1)
/// ```
public struct Case<Base: QueryRepresentable>: Sendable {
  let base: SQLFragment?

  /// Begins a CASE that compares an expression with values.
  public init(_ expression: some QueryExpression<Base>) { base = expression.queryFragment }

  /// Begins a CASE of conditions.
  public init() where Base == Bool { base = nil }

  /// Adds the value for when the expression has a value; of conditions, when one is true.
  public func when<Value: QueryBindable>(
    _ value: Base.Output, then result: Value
  ) -> CaseWhen<Base, Value> {
    when(bind(value, as: Base.self), then: bind(result))
  }

  /// Adds the expression for when the expression equals another; of conditions, when one is true.
  public func when<Value: QueryRepresentable>(
    _ condition: some QueryExpression<Base>, then result: some QueryExpression<Value>
  ) -> CaseWhen<Base, Value> {
    var fragment: SQLFragment = "CASE"
    if let base { fragment.append(" \(base)") }
    fragment.append(" WHEN \(condition.queryFragment) THEN \(result.queryFragment)")
    return CaseWhen(fragment: fragment)
  }

  /// Adds the value for when a condition is true.
  public func when<Value: QueryBindable>(
    _ condition: some QueryExpression<Base>, then result: Value
  ) -> CaseWhen<Base, Value> {
    when(condition, then: bind(result))
  }
}

/// A CASE with at least one arm; NULL when none applies.
public struct CaseWhen<Base: QueryRepresentable, Value: QueryRepresentable>: QueryExpression {
  /// What a row, or the expression, is decoded to.
  public typealias QueryValue = Value.Unwrapped?
  let fragment: SQLFragment

  /// The CASE.
  public var queryFragment: SQLFragment { "\(fragment) END" }

  /// Adds an arm for a value.
  public func when(_ value: Base.Output, then result: Value.Output) -> CaseWhen<Base, Value> {
    when(bind(value, as: Base.self), then: bind(result, as: Value.self))
  }

  /// Adds an arm for an expression or a condition, with a value.
  public func when(
    _ condition: some QueryExpression<Base>, then result: Value.Output
  ) -> CaseWhen<Base, Value> {
    when(condition, then: bind(result, as: Value.self))
  }

  /// Adds an arm for an expression or a condition.
  public func when(
    _ condition: some QueryExpression<Base>, then result: some QueryExpression<Value>
  ) -> CaseWhen<Base, Value> {
    CaseWhen(
      fragment: "\(fragment) WHEN \(condition.queryFragment) THEN \(result.queryFragment)")
  }

  /// Ends with the value for when no arm applies.
  public func `else`(_ result: Value.Output) -> SQLQueryExpression<Value> {
    self.else(bind(result, as: Value.self))
  }

  /// Ends with the expression for when no arm applies.
  public func `else`(_ result: some QueryExpression<Value>) -> SQLQueryExpression<Value> {
    SQLQueryExpression(fragment: "\(fragment) ELSE \(result.queryFragment) END")
  }
}
