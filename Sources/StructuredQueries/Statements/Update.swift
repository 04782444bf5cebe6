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
  var rows: Where<T>
  var conflict: ConflictResolution?
  var assignments: [Assignment] = []
  var sources: [SQLFragment] = []

  @usableFromInline
  init(_ rows: Where<T>, or conflict: ConflictResolution?, _ list: AssignmentList) {
    self.rows = rows
    self.conflict = conflict
    assignments = list.assignments
  }

  init(_ rows: Where<T>, _ assignments: [Assignment]) {
    self.rows = rows
    self.assignments = assignments
  }

  var body: SelectBody {
    get { rows.body }
    set { rows.body = newValue }
  }

  /// The SQL.
  public var query: SQLFragment {
    if let key = rows.key, conflict == nil, sources.isEmpty, !assignments.isEmpty,
      let values = assignedValues(before: key)
    {
      return SQLFragment(T.tableSchema.updateTemplate(assignments) { fragment }, values)
    }
    return fragment
  }

  /// The values of the assignments and then those of the key; nil when something else than a value is
  /// assigned.
  private func assignedValues(before key: [SQLBinding]) -> [SQLBinding]? {
    var values: [SQLBinding] = []
    values.reserveCapacity(assignments.count + key.count)
    for assignment in assignments {
      guard case .value(let value) = assignment.value else { return nil }
      values.append(value)
    }
    values += key
    return values
  }

  private var fragment: SQLFragment {
    let body = body
    if body.isNone || assignments.isEmpty { return SQLFragment() }
    var result: SQLFragment = "UPDATE "
    if let conflict { result.append("OR \(raw: conflict.rawValue) ") }
    result.append("\(body.from) SET \(assignments.map(\.fragment).joined(", "))")
    if !sources.isEmpty { result.append(" FROM \(sources.joined(", "))") }
    body.appendWhere(to: &result)
    return result
  }

  /// Adds conditions; all must hold.
  public func `where`(
    @PredicateBuilder _ predicate: (T.TableColumns) -> [SQLFragment]
  ) -> Update<T> {
    var copy = self
    copy.body.predicates += predicate(T.TableColumns(_scope: rows.scope))
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
  @inlinable public func update(
    or conflict: ConflictResolution? = nil, _ changes: (inout Updates<T.TableColumns>) -> Void
  ) -> Update<T> {
    let list = AssignmentList()
    var updates = Updates(list: list, columns: T.TableColumns(_scope: scope))
    changes(&updates)
    return Update(self, or: conflict, list)
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
    let columns = T.TableColumns(_scope: scope)
    let others = U.TableColumns(_scope: other.scope)
    let list = AssignmentList()
    var updates = Updates(list: list, columns: columns)
    changes(&updates, others)
    var update = Update(self, list.assignments)
    update.sources = [other.body.from]
    update.body.predicates += other.body.predicates + condition(columns, others)
    update.body.isNone = body.isNone || other.body.isNone
    return update
  }
}
