/// What is to be done with a row that breaks a constraint.
///
/// Source: SQLite, "The ON CONFLICT Clause".
public enum ConflictResolution: String, Sendable {
  case abort = "ABORT"
  case fail = "FAIL"
  case ignore = "IGNORE"
  case replace = "REPLACE"
  case rollback = "ROLLBACK"
}

/// An UPDATE.
///
/// Without assignments it is not run.
public struct Update<T: Table>: Statement {
  /// What a row, or the expression, is decoded to.
  public typealias QueryValue = NoRow
  var body: SelectBody
  var conflict: ConflictResolution?
  var assignments: [SQLFragment] = []
  var sources: [SQLFragment] = []

  init(body: SelectBody, conflict: ConflictResolution? = nil) {
    self.body = body
    self.conflict = conflict
  }

  /// The SQL.
  public var query: SQLFragment {
    if body.isNone || assignments.isEmpty { return SQLFragment() }
    var result: SQLFragment = "UPDATE "
    if let conflict { result.append("OR \(raw: conflict.rawValue) ") }
    result.append("\(body.from) SET \(assignments.joined(", "))")
    if !sources.isEmpty { result.append(" FROM \(sources.joined(", "))") }
    body.appendWhere(to: &result)
    return result
  }

  /// Adds conditions; all must hold.
  public func `where`(
    @PredicateBuilder _ predicate: (T.TableColumns) -> [SQLFragment]
  ) -> Update<T> {
    var copy = self
    copy.body.predicates += predicate(T.TableColumns(_scope: ColumnScope(body.scopes[0])))
    return copy
  }

  /// Yields something of each changed row, as it is afterwards.
  public func returning<Value: QueryRow>(
    @SelectionBuilder _ selection: (T.TableColumns) -> SelectedColumns<Value>
  ) -> Returning<Value> { Returning(query, selection(T.bareColumns)) }

  /// Yields a column, or with `\.self` all of them, of each changed row.
  public func returning<E: QueryExpression>(
    _ column: KeyPath<T.TableColumns, E>
  ) -> Returning<E.QueryValue> { returning { $0[keyPath: column] } }
}

extension Where {
  /// Changes the rows.
  ///
  /// ```swift
  /// Note.where { $0.id.eq(id) }.update { $0.isArchived.set(true) }
  /// Note.where { $0.id.eq(id) }.update { $0.isArchived = true; $0.title += "!" }
  /// ```
  public func update(
    or conflict: ConflictResolution? = nil, _ changes: (inout Updates<T.TableColumns>) -> Void
  ) -> Update<T> {
    let list = AssignmentList()
    var updates = Updates(
      list: list, columns: T.TableColumns(_scope: ColumnScope(body.scopes[0])))
    changes(&updates)
    var update = Update<T>(body: body, conflict: conflict)
    update.assignments = list.assignments
    return update
  }

  /// Changes the rows with values of rows of another table (`UPDATE … FROM`).
  ///
  /// - Parameters:
  ///   - condition: which row belongs to which.
  ///   - changes: its second argument are the other table's columns.
  public func update<U: Table>(
    from other: Where<U>,
    @PredicateBuilder on condition: (T.TableColumns, U.TableColumns) -> [SQLFragment],
    _ changes: (inout Updates<T.TableColumns>, U.TableColumns) -> Void
  ) -> Update<T> {
    let columns = T.TableColumns(_scope: ColumnScope(body.scopes[0]))
    let others = U.TableColumns(_scope: ColumnScope(other.body.scopes[0]))
    let list = AssignmentList()
    var updates = Updates(list: list, columns: columns)
    changes(&updates, others)
    var update = Update<T>(body: body)
    update.assignments = list.assignments
    update.sources = [other.body.from]
    update.body.predicates += other.body.predicates + condition(columns, others)
    update.body.isNone = body.isNone || other.body.isNone
    return update
  }
}
