/// What can stand in the list of columns of an INSERT: a column that is stored, or a group of them.
public protocol WritableColumns: QueryExpression {
  /// The names of the columns.
  var writtenNames: [String] { get }
}

extension TableColumn: WritableColumns {
  /// The name.
  public var writtenNames: [String] { [name] }
}

extension GroupColumns: WritableColumns {
  /// The names of the struct's columns.
  public var writtenNames: [String] { Group.tableSchema.writableNames }
}

/// The columns that an INSERT gives values to.
public struct WrittenColumns<QueryValue: QueryRow>: Sendable {
  let names: [String]
}

/// The list of columns of an INSERT: one column, or a tuple of them.
@resultBuilder public enum WrittenColumnsBuilder {
  /// Takes one column.
  public static func buildExpression<C: WritableColumns>(
    _ column: C
  ) -> WrittenColumns<C.QueryValue> {
    WrittenColumns(names: column.writtenNames)
  }
  /// Takes a tuple of columns.
  public static func buildExpression<each C: WritableColumns>(
    _ columns: (repeat each C)
  ) -> WrittenColumns<RowTuple<repeat (each C).QueryValue>> {
    WrittenColumns(names: names(repeat each columns))
  }
  /// Takes the one line.
  public static func buildBlock<Value>(_ columns: WrittenColumns<Value>) -> WrittenColumns<Value> {
    columns
  }

  private static func names<each C: WritableColumns>(_ columns: repeat each C) -> [String] {
    var names: [String] = []
    for column in repeat each columns { names += column.writtenNames }
    return names
  }
}
