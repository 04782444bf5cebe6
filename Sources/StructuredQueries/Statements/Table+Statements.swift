// Every table's own entry points: `Note.all`, `Note.where { … }`, `Note.order { … }`.

extension Table {
  /// All rows.
  public static var all: Where<Self> { Where() }

  /// No rows: a statement that is not run, whatever is chained to it.
  public static var none: Where<Self> {
    var result = Where<Self>()
    result.body.isNone = true
    return result
  }

  /// All rows under another name, for a table that is joined with itself.
  public static func `as`(_ alias: String) -> Where<Self> { Where(alias: alias) }

  /// The rows that meet conditions.
  public static func `where`(
    @PredicateBuilder _ predicate: (TableColumns) -> [SQLFragment]
  ) -> Where<Self> { all.where(predicate) }

  /// The rows in which a column is true.
  public static func `where`<E: QueryExpression<Bool>>(
    _ column: KeyPath<TableColumns, E>
  ) -> Where<Self> { all.where(column) }

  /// All rows in an order.
  public static func order(
    @ExpressionListBuilder _ terms: (TableColumns) -> [SQLFragment]
  ) -> Select<Self, InnerSide<Self>, WholeRows> { all.order(terms) }

  /// All rows in the order of a column.
  public static func order<E: QueryExpression>(
    by column: KeyPath<TableColumns, E>
  ) -> Select<Self, InnerSide<Self>, WholeRows> { all.order(by: column) }

  /// Something of all rows.
  public static func select<Value: QueryRow>(
    @SelectionBuilder _ selection: (TableColumns) -> SelectedColumns<Value>
  ) -> Select<Value, InnerSide<Self>, ChosenColumns> { all.select(selection) }

  /// All rows in groups.
  public static func group(
    @ExpressionListBuilder _ terms: (TableColumns) -> [SQLFragment]
  ) -> Select<Self, InnerSide<Self>, WholeRows> { all.group(terms) }

  /// All rows in groups of a column.
  public static func group<E: QueryExpression>(
    by column: KeyPath<TableColumns, E>
  ) -> Select<Self, InnerSide<Self>, WholeRows> { all.group(by: column) }

  /// The first rows.
  public static func limit(_ count: Int?, offset: Int? = nil) -> Select<
    Self, InnerSide<Self>, WholeRows
  > {
    all.limit(count, offset: offset)
  }

  /// All different rows.
  public static func distinct() -> Select<Self, InnerSide<Self>, WholeRows> { all.distinct() }

  /// The number of rows.
  public static func count(
    filter: ((TableColumns) -> any QueryExpression<Bool>)? = nil
  ) -> Select<Int, InnerSide<Self>, ChosenColumns> { all.count(filter: filter) }

  /// Joins all rows with those of another table.
  public static func join<U: Table>(
    _ other: Where<U>,
    @PredicateBuilder on condition: (TableColumns, U.TableColumns) -> [SQLFragment]
  ) -> Select<RowTuple<Self, U>, (InnerSide<Self>, InnerSide<U>), WholeRows> {
    all.join(other, on: condition)
  }

  /// Joins all rows with those of another table that can be missing.
  public static func leftJoin<U: Table>(
    _ other: Where<U>,
    @PredicateBuilder on condition: (TableColumns, U.TableColumns) -> [SQLFragment]
  ) -> Select<RowTuple<Self, U?>, (InnerSide<Self>, OuterSide<U>), WholeRows> {
    all.leftJoin(other, on: condition)
  }

  /// Deletes all rows.
  public static func delete() -> Delete<Self> { all.delete() }

  /// Changes all rows.
  public static func update(
    or conflict: ConflictResolution? = nil, _ changes: (inout Updates<TableColumns>) -> Void
  ) -> Update<Self> { all.update(or: conflict, changes) }
}

extension PrimaryKeyedTable {
  /// Writes all columns of a row but its key.
  public static func update(_ row: Self) -> Update<Self> {
    let (columns, bindings, rows) = row.split()
    return Update(
      rows,
      zip(columns, bindings).map { column, binding in
        Assignment(name: column.name, value: .value(binding))
      })
  }

  /// Deletes a row by its key.
  public static func delete(_ row: Self) -> Delete<Self> {
    Delete(rows: row.split().2)
  }

  private func split() -> ([ColumnDefinition], [SQLBinding], Where<Self>) {
    var encoder = RowEncoder()
    encodeColumns(into: &encoder)
    var columns: [ColumnDefinition] = []
    var bindings: [SQLBinding] = []
    var key: [SQLBinding] = []
    var predicates: [SQLFragment] = []
    for (column, binding) in zip(Self.tableSchema.writableColumns, encoder.bindings) {
      if column.isPrimaryKey {
        let name = SQLFragment(column: column.name, of: Self.tableName)
        key.append(binding)
        predicates.append("(\(name) = \(SQLFragment(binding)))")
      } else {
        columns.append(column)
        bindings.append(binding)
      }
    }
    if key.count == 1, Self.tableSchema.keyColumns.count == 1 {
      return (columns, bindings, Where(key: key))
    }
    var rows = Where<Self>()
    rows.body.predicates = [predicates.conjunction]
    return (columns, bindings, rows)
  }
}
