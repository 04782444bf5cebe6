// Joins. What the other table's query is filtered by goes along: into the condition of an inner join; in
// an outer join the filter must be applied before rows are matched, so the table becomes a subquery.

extension Select {
  /// Joins a table: rows of both that belong together.
  public func join<T: Table, each Side: JoinSide>(
    _ other: Where<T>,
    @PredicateBuilder on condition: (repeat (each Side).Columns, T.TableColumns) -> [SQLFragment]
  ) -> Select<RowTuple<repeat (each Side).QueryValue, T>, (repeat each Side, InnerSide<T>)>
  where Sides == (repeat each Side) {
    Select<RowTuple<repeat (each Side).QueryValue, T>, (repeat each Side, InnerSide<T>)>(
      body: joined(.inner, other, condition))
  }

  /// Joins a table that can be missing: rows of the left side without a match stay.
  public func leftJoin<T: Table, each Side: JoinSide>(
    _ other: Where<T>,
    @PredicateBuilder on condition: (repeat (each Side).Columns, T.TableColumns) -> [SQLFragment]
  ) -> Select<RowTuple<repeat (each Side).QueryValue, T?>, (repeat each Side, OuterSide<T>)>
  where Sides == (repeat each Side) {
    Select<RowTuple<repeat (each Side).QueryValue, T?>, (repeat each Side, OuterSide<T>)>(
      body: joined(.left, other, condition))
  }

  /// Joins a table whose rows all stay; the left side can be missing.
  public func rightJoin<T: Table, each Side: JoinSide>(
    _ other: Where<T>,
    @PredicateBuilder on condition: (repeat (each Side).Columns, T.TableColumns) -> [SQLFragment]
  ) -> Select<
    RowTuple<repeat (each Side).Outer.QueryValue, T>, (repeat (each Side).Outer, InnerSide<T>)
  >
  where Sides == (repeat each Side) {
    Select<
      RowTuple<repeat (each Side).Outer.QueryValue, T>, (repeat (each Side).Outer, InnerSide<T>)
    >(body: joined(.right, other, condition))
  }

  /// Joins a table; rows of either side stay, the other can be missing.
  public func fullJoin<T: Table, each Side: JoinSide>(
    _ other: Where<T>,
    @PredicateBuilder on condition: (repeat (each Side).Columns, T.TableColumns) -> [SQLFragment]
  ) -> Select<
    RowTuple<repeat (each Side).Outer.QueryValue, T?>, (repeat (each Side).Outer, OuterSide<T>)
  >
  where Sides == (repeat each Side) {
    Select<
      RowTuple<repeat (each Side).Outer.QueryValue, T?>, (repeat (each Side).Outer, OuterSide<T>)
    >(body: joined(.full, other, condition))
  }

  /// Joins every row with every row of a table.
  public func crossJoin<T: Table, each Side: JoinSide>(
    _ other: Where<T>
  ) -> Select<RowTuple<repeat (each Side).QueryValue, T>, (repeat each Side, InnerSide<T>)>
  where Sides == (repeat each Side) {
    var result = adding(other)
    result.body.join(.cross, other.body, on: [])
    return result
  }

  /// The statement with one more side and without the join itself.
  private func adding<T: Table, each Side: JoinSide>(
    _ other: Where<T>
  ) -> Select<RowTuple<repeat (each Side).QueryValue, T>, (repeat each Side, InnerSide<T>)>
  where Sides == (repeat each Side) {
    var body = self.body
    body.selection = nil
    body.isNone = body.isNone || other.body.isNone
    body.scopes += other.body.scopes
    body.sideColumns += other.body.sideColumns
    return Select<RowTuple<repeat (each Side).QueryValue, T>, (repeat each Side, InnerSide<T>)>(
      body: body)
  }

  private func joined<T: Table, each Side: JoinSide>(
    _ kind: JoinKind, _ other: Where<T>,
    _ condition: (repeat (each Side).Columns, T.TableColumns) -> [SQLFragment]
  ) -> SelectBody where Sides == (repeat each Side) {
    let result = adding(other)
    var body = result.body
    body.join(kind, other.body, on: result.evaluate(condition))
    return body
  }
}

/// The joins of SQL.
enum JoinKind: String {
  case inner = "INNER JOIN"
  case left = "LEFT JOIN"
  case right = "RIGHT JOIN"
  case full = "FULL JOIN"
  case cross = "CROSS JOIN"
}

extension SelectBody {
  fileprivate mutating func join(
    _ kind: JoinKind, _ other: SelectBody, on conditions: [SQLFragment]
  ) {
    var join: SQLFragment = "\(raw: kind.rawValue) "
    if other.predicates.isEmpty || kind == .inner || kind == .cross {
      join.append(other.from)
      predicates += other.predicates
    } else {
      join.append("(\(other.fragment)) AS \(quote: other.scopes[0])")
    }
    if !conditions.isEmpty { join.append(" ON \(conditions.conjunction)") }
    joins.append(join)
  }
}

extension Where {
  /// Joins a table: rows of both that belong together.
  public func join<U: Table>(
    _ other: Where<U>,
    @PredicateBuilder on condition: (T.TableColumns, U.TableColumns) -> [SQLFragment]
  ) -> Select<RowTuple<T, U>, (InnerSide<T>, InnerSide<U>)> {
    asSelect().join(other, on: condition)
  }

  /// Joins a table that can be missing: rows of the left side without a match stay.
  public func leftJoin<U: Table>(
    _ other: Where<U>,
    @PredicateBuilder on condition: (T.TableColumns, U.TableColumns) -> [SQLFragment]
  ) -> Select<RowTuple<T, U?>, (InnerSide<T>, OuterSide<U>)> {
    asSelect().leftJoin(other, on: condition)
  }

  /// Joins a table whose rows all stay; the left side can be missing.
  public func rightJoin<U: Table>(
    _ other: Where<U>,
    @PredicateBuilder on condition: (T.TableColumns, U.TableColumns) -> [SQLFragment]
  ) -> Select<RowTuple<T?, U>, (OuterSide<T>, InnerSide<U>)> {
    asSelect().rightJoin(other, on: condition)
  }

  /// Joins a table; rows of either side stay, the other can be missing.
  public func fullJoin<U: Table>(
    _ other: Where<U>,
    @PredicateBuilder on condition: (T.TableColumns, U.TableColumns) -> [SQLFragment]
  ) -> Select<RowTuple<T?, U?>, (OuterSide<T>, OuterSide<U>)> {
    asSelect().fullJoin(other, on: condition)
  }

  /// Joins every row with every row of a table.
  public func crossJoin<U: Table>(
    _ other: Where<U>
  ) -> Select<RowTuple<T, U>, (InnerSide<T>, InnerSide<U>)> {
    asSelect().crossJoin(other)
  }
}
