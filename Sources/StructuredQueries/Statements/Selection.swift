// What a SELECT yields. The first `select` takes the place of the whole rows, each after it adds.

/// The state of a SELECT in which nothing was chosen: its rows are those of its tables.
public enum WholeRows {}

/// The state of a SELECT whose rows consist of what was chosen.
public enum ChosenColumns {}

extension Select where State == WholeRows {
  /// Says what the rows consist of, in place of whole rows.
  public func select<Value: QueryRow, each Side: JoinSide>(
    @SelectionBuilder _ selection: (repeat (each Side).Columns) -> SelectedColumns<Value>
  ) -> Select<Value, Sides, ChosenColumns> where Sides == (repeat each Side) {
    Select<Value, Sides, ChosenColumns>(body: choosing(evaluate(selection).fragment))
  }
}

extension Select where State == ChosenColumns {
  /// Adds to what the rows consist of; a tuple that was chosen first gets one more part.
  public func select<Value: QueryRow, each Side: JoinSide, each Part: QueryRow>(
    @SelectionBuilder _ selection: (repeat (each Side).Columns) -> SelectedColumns<Value>
  ) -> Select<RowTuple<repeat each Part, Value>, Sides, ChosenColumns>
  where Sides == (repeat each Side), QueryValue == RowTuple<repeat each Part> {
    Select<RowTuple<repeat each Part, Value>, Sides, ChosenColumns>(
      body: choosing(evaluate(selection).fragment))
  }
}

extension Select where State == ChosenColumns {
  /// Adds to what the rows consist of: a tuple with what was chosen before and what is chosen now.
  public func select<Value: QueryRow, each Side: JoinSide>(
    @SelectionBuilder _ selection: (repeat (each Side).Columns) -> SelectedColumns<Value>
  ) -> Select<RowTuple<QueryValue, Value>, Sides, ChosenColumns> where Sides == (repeat each Side) {
    Select<RowTuple<QueryValue, Value>, Sides, ChosenColumns>(
      body: choosing(evaluate(selection).fragment))
  }

  /// Joins a table; what was chosen stays chosen.
  public func join<T: Table, each Side: JoinSide>(
    _ other: Where<T>,
    @PredicateBuilder on condition: (repeat (each Side).Columns, T.TableColumns) -> [SQLFragment]
  ) -> Select<QueryValue, (repeat each Side, InnerSide<T>), ChosenColumns>
  where Sides == (repeat each Side) {
    Select<QueryValue, (repeat each Side, InnerSide<T>), ChosenColumns>(
      body: joined(.inner, other, condition))
  }

  /// Joins a table that can be missing; what was chosen stays chosen.
  public func leftJoin<T: Table, each Side: JoinSide>(
    _ other: Where<T>,
    @PredicateBuilder on condition: (repeat (each Side).Columns, T.TableColumns) -> [SQLFragment]
  ) -> Select<QueryValue, (repeat each Side, OuterSide<T>), ChosenColumns>
  where Sides == (repeat each Side) {
    Select<QueryValue, (repeat each Side, OuterSide<T>), ChosenColumns>(
      body: joined(.left, other, condition))
  }

  /// Joins every row with every row of a table; what was chosen stays chosen.
  public func crossJoin<T: Table, each Side: JoinSide>(
    _ other: Where<T>
  ) -> Select<QueryValue, (repeat each Side, InnerSide<T>), ChosenColumns>
  where Sides == (repeat each Side) {
    Select<QueryValue, (repeat each Side, InnerSide<T>), ChosenColumns>(
      body: crossJoined(other))
  }

  /// Joins nothing; the function is here for the message only.
  @available(*, unavailable, message: "join first, select then: what was selected can be missing")
  public func rightJoin<T: Table, each Side: JoinSide>(
    _ other: Where<T>,
    @PredicateBuilder on condition: (repeat (each Side).Columns, T.TableColumns) -> [SQLFragment]
  ) -> Self where Sides == (repeat each Side) { self }

  /// Joins nothing; the function is here for the message only.
  @available(*, unavailable, message: "join first, select then: what was selected can be missing")
  public func fullJoin<T: Table, each Side: JoinSide>(
    _ other: Where<T>,
    @PredicateBuilder on condition: (repeat (each Side).Columns, T.TableColumns) -> [SQLFragment]
  ) -> Self where Sides == (repeat each Side) { self }
}

extension Select {
  fileprivate func choosing(_ columns: SQLFragment) -> SelectBody {
    var body = self.body
    body.selection = body.selection.map { "\($0), \(columns)" } ?? columns
    return body
  }
}
