/// Rows of two statements together: UNION, INTERSECT, EXCEPT.
public struct Compound<QueryValue: QueryRow>: SelectStatement, QueryExpression {
  private var fragment: SQLFragment
  private var orders: [SQLFragment] = []
  private var limit: SQLFragment?
  private var offset: SQLFragment?

  init(_ left: SQLFragment, _ symbol: StaticString, _ right: SQLFragment) {
    // What is not run has no rows.
    if left.isEmpty && right.isEmpty {
      fragment = SQLFragment()
      return
    }
    fragment = left.isEmpty ? Self.noRows(like: right) : left
    fragment.append(sql: symbol)
    fragment.append(right.isEmpty ? Self.noRows(like: left) : right)
  }

  private static func noRows(like query: SQLFragment) -> SQLFragment {
    "SELECT * FROM (\(query)) WHERE 0"
  }

  /// The SQL.
  public var query: SQLFragment {
    if fragment.isEmpty { return fragment }
    var result = fragment
    if !orders.isEmpty { result.append(" ORDER BY \(orders.joined(", "))") }
    if limit != nil || offset != nil { result.append(" LIMIT \(limit ?? "-1")") }
    if let offset { result.append(" OFFSET \(offset)") }
    return result
  }

  /// The SQL of the number of rows.
  public var countQuery: SQLFragment {
    query.isEmpty ? query : "SELECT count(*) FROM (\(query))"
  }

  /// The SQL as a subquery with one value.
  public var queryFragment: SQLFragment { subquery }

  /// Orders the rows by a column, counted from 1.
  public func order(byColumn number: Int, descending: Bool = false) -> Self {
    var copy = self
    copy.orders.append("\(raw: String(number))\(raw: descending ? " DESC" : " ASC")")
    return copy
  }

  /// Limits the number of rows; nil changes nothing.
  public func limit(_ count: Int?, offset: Int? = nil) -> Self {
    var copy = self
    if let count { copy.limit = "\(count)" }
    if let offset { copy.offset = "\(offset)" }
    return copy
  }
}

extension Compound where QueryValue: Table {
  /// Orders the rows by columns of the result.
  public func order(
    @ExpressionListBuilder _ terms: (QueryValue.TableColumns) -> [SQLFragment]
  ) -> Self {
    var copy = self
    copy.orders += terms(QueryValue.bareColumns)
    return copy
  }
}

extension SelectStatement {
  /// The rows of either statement, each once, or with `all` as often as it is there.
  public func union<S: SelectStatement>(
    all: Bool = false, _ other: S
  ) -> Compound<QueryValue> where S.QueryValue == QueryValue {
    Compound(term, all ? " UNION ALL " : " UNION ", other.term)
  }

  /// The rows that are in both.
  public func intersect<S: SelectStatement>(
    _ other: S
  ) -> Compound<QueryValue> where S.QueryValue == QueryValue {
    Compound(term, " INTERSECT ", other.term)
  }

  /// The rows that are not in the other.
  public func except<S: SelectStatement>(
    _ other: S
  ) -> Compound<QueryValue> where S.QueryValue == QueryValue {
    Compound(term, " EXCEPT ", other.term)
  }

  /// The statement as a part of a compound, where SQLite allows neither ORDER BY nor LIMIT, and where a
  /// compound on the right would be taken apart.
  fileprivate var term: SQLFragment {
    let query = query
    guard !query.isEmpty, needsWrapping else { return query }
    return "SELECT * FROM (\(query))"
  }

  private var needsWrapping: Bool {
    switch self {
    case let select as any OrderedSelect: select.isOrderedOrLimited
    case is Values<QueryValue>: false
    default: true
    }
  }
}

private protocol OrderedSelect {
  var isOrderedOrLimited: Bool { get }
}

extension Select: OrderedSelect {
  fileprivate var isOrderedOrLimited: Bool {
    !body.orders.isEmpty || body.limit != nil || body.offset != nil
  }
}

extension Where: OrderedSelect {
  fileprivate var isOrderedOrLimited: Bool { false }
}

/// One row made of expressions, without a table.
public struct Values<QueryValue: QueryRow>: SelectStatement {
  private let fragment: SQLFragment

  /// Creates a row: `Values { (bind(1), bind("a")) }`, or of a selection's columns.
  public init(@SelectionBuilder _ row: () -> SelectedColumns<QueryValue>) {
    fragment = row().fragment
  }

  /// The SQL.
  public var query: SQLFragment { "SELECT \(fragment)" }
  /// The SQL of the number of rows.
  public var countQuery: SQLFragment { "SELECT 1" }
}
