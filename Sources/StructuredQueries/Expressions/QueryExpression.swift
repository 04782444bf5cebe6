/// Something with a value in SQL: a column, a function's result, a comparison, a subquery.
public protocol QueryExpression<QueryValue>: Sendable {
  /// What its value is decoded to.
  associatedtype QueryValue: QueryRow
  /// The SQL, ready to stand beside an operator.
  var queryFragment: SQLFragment { get }
}

/// An expression made of others, or of SQL.
///
/// Of SQL (`#sql("…", as: Int.self)`), it can also be run as a statement of its own.
public struct SQLQueryExpression<QueryValue: QueryRow>: QueryExpression, Statement {
  /// The SQL as given.
  public let query: SQLFragment
  private let isRaw: Bool

  /// Creates an expression from SQL.
  public init(_ sql: SQLFragment, as type: QueryValue.Type = QueryValue.self) {
    query = sql
    isRaw = true
  }

  init(fragment: SQLFragment) {
    query = fragment
    isRaw = false
  }

  /// The SQL, in parentheses when nothing is known about it.
  public var queryFragment: SQLFragment { isRaw ? "(\(query))" : query }
}

/// Returns an expression that is a bound value, where only an expression fits.
public func bind<Value: QueryBindable>(_ value: Value) -> SQLQueryExpression<Value> {
  SQLQueryExpression(fragment: SQLFragment(value, as: Value.self))
}

/// Returns an expression that is a value bound in the way of a representation.
public func bind<Value: QueryRepresentable>(
  _ value: Value.Output, as type: Value.Type
) -> SQLQueryExpression<Value> {
  SQLQueryExpression(fragment: SQLFragment(value, as: Value.self))
}

extension QueryExpression where QueryValue: QueryRepresentable {
  func bound(_ value: QueryValue.Output) -> SQLFragment {
    SQLFragment(value, as: QueryValue.self)
  }

  func binary(_ symbol: StaticString, _ right: SQLFragment) -> SQLFragment {
    var fragment: SQLFragment = "("
    fragment.append(queryFragment)
    fragment.append(sql: symbol)
    fragment.append(right)
    fragment.append(sql: ")")
    return fragment
  }

  /// As ``binary(_:_:)``, with the expression on the right.
  func binary(_ symbol: StaticString, after left: QueryValue.Output) -> SQLFragment {
    SQLQueryExpression<QueryValue>(fragment: bound(left)).binary(symbol, queryFragment)
  }

  /// The same expression with NULL allowed, to combine it with one that allows it.
  public var optional: SQLQueryExpression<QueryValue.Unwrapped?> {
    SQLQueryExpression(fragment: queryFragment)
  }
}

/// Returns the call of an SQL function, of SQLite's or registered in the configuration.
///
/// ```swift
/// sqlFunction("soundex", $0.name, as: String.self)      // soundex("person"."name")
/// ```
public func sqlFunction<Value: QueryRow>(
  _ name: String, _ arguments: any QueryExpression..., as type: Value.Type
) -> SQLQueryExpression<Value> {
  var fragment = SQLFragment(identifier: name)
  fragment.append(sql: "(")
  fragment.append(arguments.map(\.queryFragment).joined(", "))
  fragment.append(sql: ")")
  return SQLQueryExpression(fragment: fragment)
}

func call<Value: QueryRow>(
  _ name: StaticString, _ arguments: SQLFragment...
) -> SQLQueryExpression<Value> {
  var fragment = SQLFragment()
  fragment.append(sql: name)
  fragment.append(sql: "(")
  fragment.append(arguments.joined(", "))
  fragment.append(sql: ")")
  return SQLQueryExpression(fragment: fragment)
}
