/// What stands in the way of altering a table, collected so that one error names all of it.
struct SchemaObstacles {
  private var texts: [String] = []
  /// The columns that are named, whose values need no second look.
  private(set) var columns: Set<String> = []

  mutating func add(_ text: String) { texts.append(text) }

  mutating func add(dropped column: String, _ count: Int64) {
    add(
      "\(Self.rowsHold(count)) a value in the column \(column), which the type has no more; "
        + "droppedColumnDataResolution = .deleteData allows it to go")
  }

  mutating func add(retyped column: ModelTable.Column, _ count: Int64) {
    columns.insert(column.name)
    add(
      "\(Self.rowsHold(count)) a value in the column \(column.name) that is no "
        + column.type.rawValue)
  }

  mutating func add(added column: ModelTable.Column, _ count: Int64) {
    columns.insert(column.name)
    let type = "\(column.valueType)"
    add(
      "the column \(column.name) is new and must have a value, which the "
        + "\(count == 1 ? "row that is there has" : "\(count) rows that are there have") not, and "
        + "\(type) has none for \(column.type == .text ? "an empty text" : "zero or empty"); a default in "
        + "Swift (= …) is for new instances and is not seen here. Make it optional (\(type)?) first, set "
        + "it in the rows, and make it required then; or add it by SQL before: ALTER TABLE … ADD COLUMN "
        + "\(SQLName.quoted(column.name)) \(column.type.rawValue) NOT NULL DEFAULT …")
  }

  mutating func add(unfit index: ModelTable.Index) {
    add("rows share the values of the unique index over (\(index.columns.joined(separator: ", ")))")
  }

  /// Throws one error with all of them, where there are any.
  func refuse(_ table: ModelTable) throws {
    guard let first = texts.first else { return }
    throw BlackbirdTableError.impossibleMigration(
      type: table.typeName, table: table.name,
      description: texts.count == 1
        ? first : texts.enumerated().map { "(\($0 + 1)) \($1)" }.joined(separator: "; "))
  }

  private static func rowsHold(_ count: Int64) -> String {
    count == 1 ? "1 row holds" : "\(count) rows hold"
  }
}
