// Joins. What the other table's query is filtered by goes along: into the condition of an inner join; in
// an outer join the filter must be applied before rows are matched, so the table becomes a subquery.

extension Select where State == WholeRows {
  /// Joins a table: rows of both that belong together.
  public func join<T: Table, each Side: JoinSide>(
    _ other: Where<T>,
    @PredicateBuilder on condition: (repeat (each Side).Columns, T.TableColumns) -> [SQLFragment]
  ) -> Select<
    RowTuple<repeat (each Side).QueryValue, T>, (repeat each Side, InnerSide<T>), WholeRows
  >
  where Sides == (repeat each Side) {
    Select<RowTuple<repeat (each Side).QueryValue, T>, (repeat each Side, InnerSide<T>), WholeRows>(
      body: joined(.inner, other, condition))
  }

  /// Joins a table that can be missing: rows of the left side without a match stay.
  public func leftJoin<T: Table, each Side: JoinSide>(
    _ other: Where<T>,
    @PredicateBuilder on condition: (repeat (each Side).Columns, T.TableColumns) -> [SQLFragment]
  ) -> Select<
    RowTuple<repeat (each Side).QueryValue, T?>, (repeat each Side, OuterSide<T>), WholeRows
  >
  where Sides == (repeat each Side) {
    Select<
      RowTuple<repeat (each Side).QueryValue, T?>, (repeat each Side, OuterSide<T>), WholeRows
    >(
      body: joined(.left, other, condition))
  }

  /// Joins a table whose rows all stay; the left side can be missing.
  public func rightJoin<T: Table, each Side: JoinSide>(
    _ other: Where<T>,
    @PredicateBuilder on condition: (repeat (each Side).Columns, T.TableColumns) -> [SQLFragment]
  ) -> Select<
    RowTuple<repeat (each Side).Outer.QueryValue, T>, (repeat (each Side).Outer, InnerSide<T>),
    WholeRows
  >
  where Sides == (repeat each Side) {
    Select<
      RowTuple<repeat (each Side).Outer.QueryValue, T>, (repeat (each Side).Outer, InnerSide<T>),
      WholeRows
    >(body: joined(.right, other, condition))
  }

  /// Joins a table; rows of either side stay, the other can be missing.
  public func fullJoin<T: Table, each Side: JoinSide>(
    _ other: Where<T>,
    @PredicateBuilder on condition: (repeat (each Side).Columns, T.TableColumns) -> [SQLFragment]
  ) -> Select<
    RowTuple<repeat (each Side).Outer.QueryValue, T?>, (repeat (each Side).Outer, OuterSide<T>),
    WholeRows
  >
  where Sides == (repeat each Side) {
    Select<
      RowTuple<repeat (each Side).Outer.QueryValue, T?>, (repeat (each Side).Outer, OuterSide<T>),
      WholeRows
    >(body: joined(.full, other, condition))
  }

  /// Joins every row with every row of a table.
  public func crossJoin<T: Table, each Side: JoinSide>(
    _ other: Where<T>
  ) -> Select<
    RowTuple<repeat (each Side).QueryValue, T>, (repeat each Side, InnerSide<T>), WholeRows
  >
  where Sides == (repeat each Side) {
    Select<
      RowTuple<repeat (each Side).QueryValue, T>, (repeat each Side, InnerSide<T>), WholeRows
    >(body: crossJoined(other))
  }
}

extension Select {
  /// Adds the join to the clauses; what was chosen stays.
  func joined<T: Table, each Side: JoinSide>(
    _ kind: JoinKind, _ other: Where<T>,
    _ condition: (repeat (each Side).Columns, T.TableColumns) -> [SQLFragment]
  ) -> SelectBody where Sides == (repeat each Side) {
    let sides = Select<QueryValue, (repeat each Side, InnerSide<T>), State>(
      body: adding(other.body))
    var body = sides.body
    body.join(kind, other.body, on: sides.evaluate(condition))
    return body
  }

  /// Adds a join without a condition to the clauses; what was chosen stays.
  func crossJoined<T: Table>(_ other: Where<T>) -> SelectBody {
    var body = adding(other.body)
    body.join(.cross, other.body, on: [])
    return body
  }

  private func adding(_ other: SelectBody) -> SelectBody {
    var body = self.body
    body.isNone = body.isNone || other.isNone
    body.scopes += other.scopes
    body.sideColumns += other.sideColumns
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
  ) -> Select<RowTuple<T, U>, (InnerSide<T>, InnerSide<U>), WholeRows> {
    asSelect().join(other, on: condition)
  }

  /// Joins a table that can be missing: rows of the left side without a match stay.
  public func leftJoin<U: Table>(
    _ other: Where<U>,
    @PredicateBuilder on condition: (T.TableColumns, U.TableColumns) -> [SQLFragment]
  ) -> Select<RowTuple<T, U?>, (InnerSide<T>, OuterSide<U>), WholeRows> {
    asSelect().leftJoin(other, on: condition)
  }

  /// Joins a table whose rows all stay; the left side can be missing.
  public func rightJoin<U: Table>(
    _ other: Where<U>,
    @PredicateBuilder on condition: (T.TableColumns, U.TableColumns) -> [SQLFragment]
  ) -> Select<RowTuple<T?, U>, (OuterSide<T>, InnerSide<U>), WholeRows> {
    asSelect().rightJoin(other, on: condition)
  }

  /// Joins a table; rows of either side stay, the other can be missing.
  public func fullJoin<U: Table>(
    _ other: Where<U>,
    @PredicateBuilder on condition: (T.TableColumns, U.TableColumns) -> [SQLFragment]
  ) -> Select<RowTuple<T?, U?>, (OuterSide<T>, OuterSide<U>), WholeRows> {
    asSelect().fullJoin(other, on: condition)
  }

  /// Joins every row with every row of a table.
  public func crossJoin<U: Table>(
    _ other: Where<U>
  ) -> Select<RowTuple<T, U>, (InnerSide<T>, InnerSide<U>), WholeRows> {
    asSelect().crossJoin(other)
  }
}
