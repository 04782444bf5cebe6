/// The clauses of a SELECT, without types.
struct SelectBody: Sendable {
  /// A statement that is never run and has no rows.
  var isNone = false
  var isDistinct = false
  /// What is selected; nil means all columns of all sides.
  var selection: SQLFragment?
  var from: SQLFragment
  /// The name of each side, by which its columns are qualified.
  var scopes: [String]
  var sideColumns: [SQLFragment]
  var joins: [SQLFragment] = []
  var predicates: [SQLFragment] = []
  var groups: [SQLFragment] = []
  var having: [SQLFragment] = []
  var orders: [SQLFragment] = []
  var limit: SQLFragment?
  var offset: SQLFragment?

  init(_ schema: TableSchema, alias: String?) {
    let scope = alias ?? schema.name
    from = SelectBody.source(schema.name, alias: alias)
    scopes = [scope]
    sideColumns = [SQLFragment(columnsOf: scope, schema)]
  }

  /// Creates the clauses of reading the row of a key.
  init(_ schema: TableSchema, key: [SQLBinding]) {
    self.init(schema, alias: nil)
    predicates = [Self.keyCondition(schema, scope: schema.name, key)]
  }

  /// The condition that a row has a key.
  static func keyCondition(
    _ schema: TableSchema, scope: String, _ key: [SQLBinding]
  ) -> SQLFragment {
    "(\(keyColumns(schema, scope: scope)) = \(keyTuple(key)))"
  }

  /// The columns of the key: one, or a tuple.
  static func keyColumns(_ schema: TableSchema, scope: String) -> SQLFragment {
    tuple(schema.keyColumns.map { SQLFragment(column: $0.name, of: scope) })
  }

  /// A key: one value, or a tuple.
  static func keyTuple(_ key: [SQLBinding]) -> SQLFragment { tuple(key.map { SQLFragment($0) }) }

  private static func tuple(_ parts: [SQLFragment]) -> SQLFragment {
    parts.count == 1 ? parts[0] : "(\(parts.joined(", ")))"
  }

  static func source(_ name: String, alias: String?) -> SQLFragment {
    guard let alias, alias != name else { return "\(quote: name)" }
    return "\(quote: name) AS \(quote: alias)"
  }

  var fragment: SQLFragment {
    if isNone { return SQLFragment() }
    var result: SQLFragment = isDistinct ? "SELECT DISTINCT " : "SELECT "
    result.append(selection ?? sideColumns.joined(", "))
    result.append(sql: " FROM ")
    result.append(from)
    for join in joins {
      result.append(sql: " ")
      result.append(join)
    }
    appendWhere(to: &result)
    if !groups.isEmpty {
      result.append(sql: " GROUP BY ")
      result.append(groups.joined(", "))
    }
    if !having.isEmpty {
      result.append(sql: " HAVING ")
      result.append(having.conjunction)
    }
    appendOrder(to: &result)
    return result
  }

  /// The SQL of deleting the rows.
  var deletion: SQLFragment {
    if isNone { return SQLFragment() }
    var result: SQLFragment = "DELETE FROM \(from)"
    appendWhere(to: &result)
    return result
  }

  func appendWhere(to result: inout SQLFragment) {
    guard !predicates.isEmpty else { return }
    result.append(sql: " WHERE ")
    result.append(predicates.conjunction)
  }

  func appendOrder(to result: inout SQLFragment) {
    if !orders.isEmpty {
      result.append(sql: " ORDER BY ")
      result.append(orders.joined(", "))
    }
    if let limit {
      result.append(sql: " LIMIT ")
      result.append(limit)
    } else if offset != nil {
      // SQLite has no OFFSET without LIMIT; -1 is no limit.
      result.append(sql: " LIMIT -1")
    }
    if let offset {
      result.append(sql: " OFFSET ")
      result.append(offset)
    }
  }

  /// The SQL of the number of rows.
  ///
  /// Where rows are grouped or limited they are counted from outside.
  var countFragment: SQLFragment {
    if isNone { return SQLFragment() }
    var body = self
    body.orders = []
    guard
      isDistinct || !groups.isEmpty || !having.isEmpty || limit != nil || offset != nil
        || selection != nil
    else {
      body.selection = "count(*)"
      return body.fragment
    }
    body.orders = limit != nil || offset != nil ? orders : []
    return "SELECT count(*) FROM (\(body.fragment))"
  }
}
