/// What a table is called and which columns it has.
///
/// A class, so that it is made once and passed around for nothing.
public final class TableSchema: Sendable {
  /// The table's name in SQL.
  public let name: String
  /// All columns, those of groups in their place, in the order in which rows are decoded.
  public let columns: [ColumnDefinition]
  /// The table's options and constraints.
  public let options: TableOptions
  /// The columns that can be written: all but generated ones.
  let writableColumns: [ColumnDefinition]
  let writableNames: [String]
  /// The columns of the primary key, in order.
  let keyColumns: [ColumnDefinition]

  /// Creates a description of a table.
  public init(
    _ name: String, _ columns: [ColumnDefinition], _ options: TableOptions = TableOptions()
  ) {
    self.name = name
    self.columns = columns.flatMap(\.flattened)
    self.options = options
    writableColumns = self.columns.filter { $0.generated == nil }
    writableNames = writableColumns.map(\.name)
    keyColumns = self.columns.filter(\.isPrimaryKey)
  }

  /// The names of all columns.
  public var columnNames: [String] { columns.map(\.name) }
}

extension TableSchema: Hashable {
  /// Whether they are the same description.
  public static func == (a: TableSchema, b: TableSchema) -> Bool {
    a === b || (a.name == b.name && a.columnNames == b.columnNames)
  }

  /// Feeds the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
