import SQLiteConnection

/// How the rows of one table are told apart.
enum TableShape {
  /// By row id.
  case rowID
  /// By the key columns at these positions (WITHOUT ROWID).
  case keyColumns([Int])

  func oldKey(of change: borrowing PreupdateChange) -> RowKey {
    switch self {
    case .rowID: return .rowID(change.oldRowID)
    case .keyColumns(let columns):
      var values: [SQLiteValue] = []
      for column in columns { values.append(change.oldValue(column)) }
      return .columns(values)
    }
  }

  func newKey(of change: borrowing PreupdateChange) -> RowKey {
    switch self {
    case .rowID: return .rowID(change.newRowID)
    case .keyColumns(let columns):
      var values: [SQLiteValue] = []
      for column in columns { values.append(change.newValue(column)) }
      return .columns(values)
    }
  }
}

/// The shapes of the database's tables, as of the last look at the schema.
///
/// The hook may not run SQL, so they are read before a transaction's statements run. A table made inside
/// the transaction is unknown to it and counts as wholly changed. Confined to the writer thread.
final class SchemaShapes {
  private var shapes: [String: TableShape] = [:]
  private var virtualTables: [String] = []
  private var shadowTables: [String] = []
  private var columns: [String: [String]] = [:]

  subscript(table: String) -> TableShape? { shapes[table] }

  func columnNames(of table: String) -> [String] { columns[table] ?? [] }

  var hasVirtualTables: Bool { !virtualTables.isEmpty }

  /// The virtual table that a table is or that it belongs to as a shadow table.
  func owner(of name: String) -> String? {
    if virtualTables.contains(name) { return name }
    return virtualTables.filter { name.hasPrefix($0 + "_") }.max { $0.count < $1.count }
  }

  /// The shadow tables of a virtual table.
  func shadows(of owner: String) -> [String] {
    shadowTables.filter { self.owner(of: $0) == owner }
  }

  /// Reads the schema again.
  func load(from connection: Connection) throws(SQLiteError) {
    shapes = [:]
    virtualTables = []
    shadowTables = []
    columns = [:]
    let list = try connection.prepare(
      "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'")
    defer { list.reset() }
    var keyed: [String] = []
    while try list.step() {
      let name = list.text(0)
      if list.text(1) == "virtual" { virtualTables.append(name) }
      if list.text(1) == "shadow" { shadowTables.append(name) }
      if list.int64(2) != 0 { keyed.append(name) } else { shapes[name] = .rowID }
    }
    list.reset()
    let info = try connection.prepare(
      "SELECT cid, pk, name FROM pragma_table_xinfo(?1) ORDER BY pk, cid")
    defer { info.reset() }
    for name in keyed {
      info.reset()
      try info.bind(name, at: 1)
      var key: [Int] = []
      while try info.step() { if info.int64(1) > 0 { key.append(Int(info.int64(0))) } }
      shapes[name] = .keyColumns(key)
    }
  }
}
