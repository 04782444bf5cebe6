// Rows by their primary key, in a SELECT as in an UPDATE or DELETE, before or after its other clauses.

/// A statement on the rows of one table, which can be limited to the rows of some keys.
public protocol KeyedStatement<Model>: Sendable {
  /// The table.
  associatedtype Model: Table
  /// Adds a condition in SQL.
  func limited(by condition: (_ scope: ColumnScope) -> SQLFragment) -> Self
}

extension KeyedStatement where Model: PrimaryKeyedTable {
  /// Limits the statement to the row of a key.
  public func find(_ key: Model.PrimaryKey) -> Self {
    limited { SelectBody.keyCondition(Model.tableSchema, scope: $0.name, Model.keyValues(key)) }
  }

  /// Limits the statement to the rows of some keys.
  public func find(_ keys: some Sequence<Model.PrimaryKey>) -> Self {
    let keys = keys.map { SelectBody.keyTuple(Model.keyValues($0)) }
    // A list of tuples is written as VALUES; SQLite takes no other.
    let width = Model.tableSchema.keyColumns.count
    let list: SQLFragment
    if width == 1 {
      list = keys.joined(", ")
    } else if keys.isEmpty {
      list = "SELECT \(Array(repeating: "NULL" as SQLFragment, count: width).joined(", ")) WHERE 0"
    } else {
      list = "VALUES \(keys.joined(", "))"
    }
    return limited {
      "(\(SelectBody.keyColumns(Model.tableSchema, scope: $0.name)) IN (\(list)))"
    }
  }

  /// Limits the statement to the rows whose keys another statement yields.
  public func find<S: Statement>(_ keys: S) -> Self where S.QueryValue.Output == Model.PrimaryKey {
    limited {
      "(\(SelectBody.keyColumns(Model.tableSchema, scope: $0.name)) IN \(keys.subquery))"
    }
  }
}

extension Where: KeyedStatement {
  /// The table.
  public typealias Model = T
  /// Adds a condition in SQL.
  public func limited(by condition: (ColumnScope) -> SQLFragment) -> Where<T> {
    var copy = self
    copy.body.predicates.append(condition(scope))
    return copy
  }
}

extension Update: KeyedStatement {
  /// The table.
  public typealias Model = T
  /// Adds a condition in SQL.
  public func limited(by condition: (ColumnScope) -> SQLFragment) -> Update<T> {
    var copy = self
    copy.body.predicates.append(condition(rows.scope))
    return copy
  }
}

extension Delete: KeyedStatement {
  /// The table.
  public typealias Model = T
  /// Adds a condition in SQL.
  public func limited(by condition: (ColumnScope) -> SQLFragment) -> Delete<T> {
    var copy = self
    copy.body.predicates.append(condition(rows.scope))
    return copy
  }
}

extension PrimaryKeyedTable {
  /// The row of a key.
  @inlinable public static func find(_ key: PrimaryKey) -> Where<Self> {
    var encoder = RowEncoder()
    encodeKey(key, into: &encoder)
    return Where(key: encoder)
  }

  /// The rows of some keys.
  public static func find(_ keys: some Sequence<PrimaryKey>) -> Where<Self> { all.find(keys) }

  /// The rows whose keys another statement yields.
  public static func find<S: Statement>(_ keys: S) -> Where<Self>
  where S.QueryValue.Output == PrimaryKey { all.find(keys) }

  fileprivate static func keyValues(_ key: PrimaryKey) -> [SQLBinding] {
    var encoder = RowEncoder()
    encodeKey(key, into: &encoder)
    return encoder.bindings
  }
}
