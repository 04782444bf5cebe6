/// A DELETE.
public struct Delete<T: Table>: Statement {
  /// What a row, or the expression, is decoded to.
  public typealias QueryValue = NoRow
  var rows: Where<T>

  var body: SelectBody {
    get { rows.body }
    set { rows.body = newValue }
  }

  /// The SQL.
  public var query: SQLFragment {
    if let key = rows.key, let template = T.tableSchema.templates.delete {
      return SQLFragment(template, key)
    }
    return body.deletion
  }

  /// Adds conditions; all must hold.
  public func `where`(
    @PredicateBuilder _ predicate: (T.TableColumns) -> [SQLFragment]
  ) -> Delete<T> {
    var copy = self
    copy.body.predicates += predicate(T.TableColumns(_scope: rows.scope))
    return copy
  }

  /// Yields something of each deleted row.
  public func returning<Value: QueryRow>(
    @SelectionBuilder _ selection: (T.TableColumns) -> SelectedColumns<Value>
  ) -> Returning<Value> { Returning(query, selection(T.bareColumns)) }

  /// Yields a column, or with `\.self` all of them, of each deleted row.
  public func returning<E: QueryExpression>(
    _ column: KeyPath<T.TableColumns, E>
  ) -> Returning<E.QueryValue> { returning { $0[keyPath: column] } }
}

extension Where {
  /// Deletes the rows.
  public func delete() -> Delete<T> { Delete(rows: self) }
}

/// A statement that writes and yields something of each row it wrote.
public struct Returning<QueryValue: QueryRow>: Statement {
  /// The SQL.
  public let query: SQLFragment

  init(_ statement: SQLFragment, _ columns: SelectedColumns<QueryValue>) {
    query = statement.isEmpty ? statement : "\(statement) RETURNING \(columns.fragment)"
  }
}
