import SQLiteConnection

/// What of a table decides how the triggers for foreign writers are written.
struct ForeignTable: Hashable, Sendable {
  /// One thing that no two rows may share; a new row with `REPLACE` displaces the ones that do.
  struct Uniqueness: Hashable, Sendable {
    /// The columns with the collations by which they are compared; empty for the row id.
    var columns: [CollatedColumn]
  }

  struct CollatedColumn: Hashable, Sendable {
    var name: String
    var collation: String
  }

  /// How much the triggers can tell.
  enum Detail: Hashable, Sendable {
    /// Each row, by its row id under this name.
    case rowID(String)
    /// Each row, by the columns of its primary key (WITHOUT ROWID).
    case keyColumns([String])
    /// Only that something in the table changed.
    ///
    /// For tables whose rows or whose displaced rows a trigger could not name.
    case table
  }

  /// How many key columns a row of `boutiquedb_foreign` has room for.
  static let keyColumnLimit = 6

  var name: String
  var detail: Detail
  /// All columns, in the table's order.
  var columns: [String]
  /// The positions of generated columns: they change with the columns that they are made of.
  var generated: Set<Int> = []
  var uniqueness: [Uniqueness] = []
  /// Columns for which `REPLACE` puts the default in the place of a NULL, after the triggers have run.
  var replacedNulls: [String] = []

  /// The positions of the columns that make up the key.
  var keyPositions: Set<Int> {
    switch detail {
    case .rowID(let name):
      Set(columns.indices.filter { columns[$0].lowercased() == name.lowercased() })
    case .keyColumns(let names): Set(columns.indices.filter { names.contains(columns[$0]) })
    case .table: []
    }
  }

  /// The names under which a statement can set the row id.
  var rowIDNames: [String] {
    guard case .rowID(let name) = detail else { return [] }
    return [name] + Self.rowIDNames.filter { $0 != name }
  }

  private static let rowIDNames = ["rowid", "_rowid_", "oid"]
}

extension ForeignTable {
  /// The tables of a database, as far as capturing foreign writers is concerned.
  struct Schema {
    /// Tables with triggers.
    var captured: [ForeignTable] = []
    /// Tables that can have none (virtual ones and their shadows), or are to have none.
    ///
    /// Each adopted foreign commit may have changed them.
    var uncaptured: [String] = []
  }

  /// Reads the schema.
  ///
  /// - Parameter selection: the tables that are to have triggers; nil for all.
  static func schema(
    of sqlite: Connection, selection: Set<String>?
  ) throws(SQLiteError) -> Schema {
    var schema = Schema()
    var candidates: [(name: String, hasRowID: Bool)] = []
    let list = try sqlite.prepare(
      "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' ORDER BY name")
    defer { list.reset() }
    while try list.step() {
      let name = list.text(0)
      guard !CaptureSchema.internalTables.contains(name), !name.hasPrefix("sqlite_") else {
        continue
      }
      switch list.text(1) {
      case "table" where selection?.contains(name) ?? true:
        candidates.append((name, list.int64(2) == 0))
      case "table", "virtual", "shadow": schema.uncaptured.append(name)
      default: break
      }
    }
    list.reset()
    for candidate in candidates {
      schema.captured.append(
        try table(candidate.name, hasRowID: candidate.hasRowID, on: sqlite))
    }
    return schema
  }

  private static func table(
    _ name: String, hasRowID: Bool, on sqlite: Connection
  ) throws(SQLiteError) -> ForeignTable {
    var table = ForeignTable(name: name, detail: .table, columns: [])
    var key: [(place: Int64, name: String)] = []
    var notNullDefaults: Set<String> = []
    let info = try sqlite.prepare(
      "SELECT name, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1, 'main') ORDER BY cid"
    )
    defer { info.reset() }
    try info.bind(name, at: 1)
    while try info.step() {
      let column = info.text(0)
      if info.int64(4) > 1 { table.generated.insert(table.columns.count) }
      table.columns.append(column)
      if info.int64(3) > 0 { key.append((info.int64(3), column)) }
      if info.int64(1) != 0, !info.isNull(2) { notNullDefaults.insert(column) }
    }
    info.reset()
    key.sort { $0.place < $1.place }

    let indexes = try uniqueIndexes(of: name, on: sqlite)
    if hasRowID {
      let taken = Set(table.columns.map { $0.lowercased() })
      // An INTEGER PRIMARY KEY is the row id itself and has no index.
      let alias = key.count == 1 && !indexes.contains(where: \.isPrimary) ? key[0].name : nil
      guard let rowID = alias ?? rowIDNames.first(where: { !taken.contains($0) }) else {
        return table
      }
      table.detail = .rowID(rowID)
      table.uniqueness.append(Uniqueness(columns: []))
    } else {
      guard key.count <= keyColumnLimit else { return table }
      table.detail = .keyColumns(key.map(\.name))
    }
    for index in indexes {
      // Over a part of the rows, or of what is computed from them: to look up displaced rows by it would
      // mean to copy its expressions.
      guard let columns = index.columns else {
        table.detail = .table
        return table
      }
      table.uniqueness.append(Uniqueness(columns: columns))
      table.replacedNulls += columns.map(\.name).filter(notNullDefaults.contains)
    }
    return table
  }

  private struct UniqueIndex {
    var isPrimary: Bool
    /// nil where it is not one of whole columns over all rows.
    var columns: [CollatedColumn]?
  }

  private static func uniqueIndexes(
    of table: String, on sqlite: Connection
  ) throws(SQLiteError) -> [UniqueIndex] {
    var found: [(name: String, isPrimary: Bool, isPartial: Bool)] = []
    let list = try sqlite.prepare(
      "SELECT name, origin, partial FROM pragma_index_list(?1, 'main') WHERE \"unique\" ORDER BY seq"
    )
    defer { list.reset() }
    try list.bind(table, at: 1)
    while try list.step() {
      found.append((list.text(0), list.text(1) == "pk", list.int64(2) != 0))
    }
    list.reset()
    var indexes: [UniqueIndex] = []
    let info = try sqlite.prepare(
      "SELECT cid, name, coll FROM pragma_index_xinfo(?1, 'main') WHERE key ORDER BY seqno")
    defer { info.reset() }
    for index in found {
      info.reset()
      try info.bind(index.name, at: 1)
      var columns: [CollatedColumn]? = index.isPartial ? nil : []
      while try info.step() {
        if info.int64(0) < 0 { columns = nil }
        columns?.append(CollatedColumn(name: info.text(1), collation: info.text(2)))
      }
      indexes.append(UniqueIndex(isPrimary: index.isPrimary, columns: columns))
    }
    return indexes
  }
}
