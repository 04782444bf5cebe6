extension SQLFragment: ExpressibleByStringInterpolation {
  /// Creates a fragment from SQL in source code.
  public init(stringLiteral value: String) { self.init(raw: value) }

  /// Creates a fragment from SQL in source code and what is interpolated in it.
  public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.fragment }

  /// Takes up the parts of an interpolated literal: its text is SQL, whatever is interpolated is bound or
  /// quoted.
  public struct StringInterpolation: StringInterpolationProtocol {
    var fragment = SQLFragment()

    /// Creates an interpolation without parts.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// Adds SQL text of the source code.
    public mutating func appendLiteral(_ literal: String) { fragment.append(text: literal) }

    /// Binds a value.
    public mutating func appendInterpolation<Value: QueryBindable>(_ value: Value) {
      fragment.append(SQLBinding { () throws(BindingFailure) in try Value.bind(value) })
    }

    /// Binds a value in the way of a representation.
    public mutating func appendInterpolation<Value: QueryRepresentable>(
      bind value: Value.Output, as type: Value.Type
    ) {
      fragment.append(SQLBinding { () throws(BindingFailure) in try Value.bind(value) })
    }

    /// Binds a value.
    public mutating func appendInterpolation<Value: QueryBindable>(bind value: Value) {
      appendInterpolation(value)
    }

    /// Adds an expression: a column, a table's columns, a function's result.
    public mutating func appendInterpolation(_ expression: some QueryExpression) {
      fragment.append(expression.queryFragment)
    }

    /// Adds another fragment.
    public mutating func appendInterpolation(_ other: SQLFragment) { fragment.append(other) }

    /// Adds a table's quoted name.
    public mutating func appendInterpolation<T: Table>(_ table: T.Type) {
      fragment.append(identifier: T.tableName)
    }

    /// Adds a quoted identifier.
    public mutating func appendInterpolation(quote name: String) {
      fragment.append(identifier: name)
    }

    /// Adds text that is SQL already and did not come from outside of the program.
    public mutating func appendInterpolation(raw sql: String) { fragment.append(text: sql) }
  }
}

extension SQLFragment: Statement {
  /// What a row, or the expression, is decoded to.
  public typealias QueryValue = NoRow
  /// The fragment itself.
  public var query: SQLFragment { self }
}
