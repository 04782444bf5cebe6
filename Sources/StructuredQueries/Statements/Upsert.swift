// What an INSERT does with a row whose key is there already. SQLite tries the clauses in order.

extension Insert {
  /// Leaves the row that is there alone.
  ///
  /// - Parameter target: the columns whose uniqueness is meant; without it, any.
  public func onConflictDoNothing(
    @ExpressionListBuilder _ target: (T.TableColumns) -> [SQLFragment] = { _ in [] }
  ) -> Insert<T> {
    var copy = self
    copy.upserts.append("ON CONFLICT\(Self.target(target(T.bareColumns), [])) DO NOTHING")
    return copy
  }

  /// Changes the row that is there.
  ///
  /// ```swift
  /// Tag.insert { tag }.onConflict { $0.name } doUpdate: { $0.uses += 1; $0.color = $1.color }
  /// ```
  ///
  /// - Parameters:
  ///   - target: the columns whose uniqueness is meant.
  ///   - condition: the condition of the partial index that is meant.
  ///   - changes: the assignments; the second argument is the row that was to be inserted.
  ///   - filter: a condition under which the row is changed.
  public func onConflict(
    @ExpressionListBuilder _ target: (T.TableColumns) -> [SQLFragment],
    @PredicateBuilder indexWhere condition: (T.TableColumns) -> [SQLFragment] = { _ in [] },
    doUpdate changes: (inout Updates<T.TableColumns>, T.TableColumns) -> Void,
    @PredicateBuilder where filter: (T.TableColumns, T.TableColumns) -> [SQLFragment] = { _, _ in
      []
    }
  ) -> Insert<T> {
    let list = AssignmentList()
    let excluded = T.TableColumns(_scope: ColumnScope("excluded"))
    var updates = Updates(list: list, columns: T.columns)
    changes(&updates, excluded)
    let target = Self.target(target(T.bareColumns), condition(T.bareColumns))
    var clause: SQLFragment = "ON CONFLICT\(target)"
    if list.assignments.isEmpty {
      clause.append(sql: " DO NOTHING")
    } else {
      clause.append(" DO UPDATE SET \(list.assignments.map(\.fragment).joined(", "))")
      let filters = filter(T.columns, excluded)
      if !filters.isEmpty { clause.append(" WHERE \(filters.conjunction)") }
    }
    var copy = self
    copy.upserts.append(clause)
    return copy
  }

  private static func target(
    _ columns: [SQLFragment], _ condition: [SQLFragment]
  ) -> SQLFragment {
    guard !columns.isEmpty else { return SQLFragment() }
    var fragment: SQLFragment = " (\(columns.joined(", ")))"
    if !condition.isEmpty { fragment.append(" WHERE \(condition.conjunction)") }
    return fragment
  }
}
