import Synchronization

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
  /// All columns, qualified with the table's name and separated by commas.
  let columnList: String
  // Both are asked for by most statements and made when the first one does.
  private let rowTemplates = Mutex<TableTemplates?>(nil)
  private let updateTemplates = Mutex(UpdateTemplates())

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
    columnList = Self.columnList(of: name, self.columns)
  }

  /// All columns, qualified with a table or alias and separated by commas.
  func columnList(of scope: String) -> String { Self.columnList(of: scope, columns) }

  private static func columnList(of scope: String, _ columns: [ColumnDefinition]) -> String {
    let prefix = scope.isEmpty ? "" : quoted(identifier: scope) + "."
    return columns.map { prefix + quoted(identifier: $0.name) }.joined(separator: ", ")
  }

  /// The templates of the statements about single rows.
  var templates: TableTemplates {
    if let made = rowTemplates.withLock({ $0 }) { return made }
    let made = TableTemplates(self)
    return rowTemplates.withLock { templates in
      if let known = templates { return known }
      templates = made
      return made
    }
  }

  /// Returns the template of an update that assigns values to columns of the row of a key.
  func updateTemplate(
    _ assignments: [Assignment], _ make: () -> SQLFragment
  ) -> SQLTemplate {
    if let known = updateTemplates.withLock({ $0.template(assignments) }) { return known }
    let made = make().asTemplate
    return updateTemplates.withLock { templates in
      if let known = templates.template(assignments) { return known }
      templates.insert(made, assignments)
      return made
    }
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
