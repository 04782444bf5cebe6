/// A SELECT over one table or several.
///
/// Rows are decoded to what was selected, or to whole rows of each table; `State` says which of the two.
///
/// `Sides` is the tuple of the tables' sides. (A pack in its place would be simpler; with it the compiler does not
/// get through a chain of two joins.)
public struct Select<QueryValue: QueryRow, Sides, State>: SelectStatement, QueryExpression {
  var body: SelectBody

  /// The SQL.
  public var query: SQLFragment { body.fragment }
  /// The SQL of the number of rows.
  public var countQuery: SQLFragment { body.countFragment }
  /// The SQL as a subquery with one value.
  public var queryFragment: SQLFragment { subquery }

  /// The statement itself.
  public func asSelect() -> Self { self }

  /// Calls a closure with the columns of all sides.
  func evaluate<each Side: JoinSide, Result>(
    _ body: (repeat (each Side).Columns) -> Result
  ) -> Result where Sides == (repeat each Side) {
    let scopes = ScopeSequence(self.body.scopes)
    return body(repeat (each Side).columns(scopes.next()))
  }

  private func with(_ change: (inout SelectBody) -> Void) -> Self {
    var copy = self
    change(&copy.body)
    return copy
  }

  /// Adds conditions; all must hold.
  public func `where`<each Side: JoinSide>(
    @PredicateBuilder _ predicate: (repeat (each Side).Columns) -> [SQLFragment]
  ) -> Self where Sides == (repeat each Side) {
    with { $0.predicates += evaluate(predicate) }
  }

  /// Adds expressions to order by.
  public func order<each Side: JoinSide>(
    @ExpressionListBuilder _ terms: (repeat (each Side).Columns) -> [SQLFragment]
  ) -> Self where Sides == (repeat each Side) {
    with { $0.orders += evaluate(terms) }
  }

  /// Adds expressions to group by.
  public func group<each Side: JoinSide>(
    @ExpressionListBuilder _ terms: (repeat (each Side).Columns) -> [SQLFragment]
  ) -> Self where Sides == (repeat each Side) {
    with { $0.groups += evaluate(terms) }
  }

  /// Adds conditions on groups; all must hold.
  public func having<each Side: JoinSide>(
    @PredicateBuilder _ predicate: (repeat (each Side).Columns) -> [SQLFragment]
  ) -> Self where Sides == (repeat each Side) {
    with { $0.having += evaluate(predicate) }
  }

  /// Leaves out rows that are there already.
  public func distinct() -> Self { with { $0.isDistinct = true } }

  /// Limits the number of rows; nil changes nothing.
  public func limit(_ count: Int?, offset: Int? = nil) -> Self {
    with { body in
      if let count { body.limit = "\(count)" }
      if let offset { body.offset = "\(offset)" }
    }
  }

  /// Passes over rows; nil changes nothing.
  public func offset(_ count: Int?) -> Self { limit(nil, offset: count) }
}

/// Gives out the names of the sides one after the other.
private final class ScopeSequence {
  private let names: [String]
  private var index = 0

  init(_ names: [String]) { self.names = names }

  func next() -> ColumnScope {
    defer { index += 1 }
    return ColumnScope(names[index])
  }
}
