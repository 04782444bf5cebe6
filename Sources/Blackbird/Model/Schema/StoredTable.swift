import BoutiqueDB

/// A table as a database has it.
struct StoredTable: Sendable {
  struct Column: Sendable {
    let name: String
    let type: Blackbird.ColumnType
    let isNotNull: Bool
    let hasDefault: Bool
    let isGenerated: Bool
  }

  struct Index: Sendable {
    let name: String
    /// The columns; empty where it is over an expression or only some rows.
    let columns: [String]
    let isUnique: Bool
    /// Whether it comes of the table's own definition.
    let isConstraint: Bool
  }

  let name: String
  /// The statement that made it.
  let sql: String
  let columns: [Column]
  let primaryKey: [String]
  let indexes: [Index]
  /// The columns of its full-text index, by name; empty where it has none.
  let searchedColumns: [String]
  /// Whether the full-text index is complete as it is; also where there is none.
  let isSearchSound: Bool

  func column(_ name: String) -> Column? { columns.first { $0.name == name } }

  /// Looks at a table.
  ///
  /// - Returns: nil where there is none.
  /// - Throws: ``BlackbirdTableError/impossibleMigration(type:table:description:)`` where something else has the name.
  static func look(
    at table: ModelTable, on connection: BoutiqueConnection
  ) throws -> StoredTable? {
    let kind = try connection.queryOne(
      "SELECT type, name, sql FROM sqlite_schema WHERE name = ? COLLATE NOCASE "
        + "AND type IN ('table', 'view')", table.name)
    guard let kind else { return nil }
    let isVirtual = String._restored(kind[2])?.uppercased().hasPrefix("CREATE VIRTUAL") ?? false
    guard kind[0] == .text("table"), !isVirtual else {
      throw BlackbirdTableError.impossibleMigration(
        type: table.typeName, table: table.name,
        description: "\(table.name) is a \(isVirtual ? "virtual table" : "view") in this database")
    }
    var keys: [(place: Int64, name: String)] = []
    let columns = try connection.query(
      "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?)",
      table.name
    ).compactMap { row -> Column? in
      guard case .text(let name) = row[0], case .text(let type) = row[1] else { return nil }
      if case .integer(let place) = row[4], place > 0 { keys.append((place, name)) }
      return Column(
        name: name, type: affinity(type), isNotNull: row[2] == .integer(1),
        hasDefault: !row[3].isNull, isGenerated: row[5] != .integer(0))
    }
    let index = SearchIndex(table.name)
    let searched = try index.indexedColumns(on: connection).map(SearchIndex.sourceName).sorted()
    return StoredTable(
      name: table.name, sql: String._restored(kind[2]) ?? "", columns: columns,
      primaryKey: keys.sorted { $0.place < $1.place }.map(\.name),
      indexes: try indexes(of: table.name, on: connection), searchedColumns: searched,
      isSearchSound: try index.isResolved(columns: searched, on: connection))
  }

  private static func indexes(
    of table: String, on connection: BoutiqueConnection
  ) throws -> [Index] {
    try connection.query(
      "SELECT name, \"unique\", origin, partial FROM pragma_index_list(?)", table
    ).compactMap { row -> Index? in
      guard case .text(let name) = row[0] else { return nil }
      let columns = try connection.query(
        "SELECT name FROM pragma_index_info(?) ORDER BY seqno", name
      ).map { String._restored($0[0]) }
      let isPlain = row[3] == .integer(0) && !columns.contains(nil)
      return Index(
        name: name, columns: isPlain ? columns.compactMap(\.self) : [],
        isUnique: row[1] == .integer(1), isConstraint: row[2] != .text("c"))
    }
  }

  /// The type of a declared one, by SQLite's rules for the affinity of a column.
  private static func affinity(_ declared: String) -> Blackbird.ColumnType {
    let name = declared.uppercased()
    func has(_ parts: String...) -> Bool { parts.contains { name.contains($0) } }
    if has("INT", "BOOL") { return .integer }
    if has("CHAR", "CLOB", "TEXT") { return .text }
    if name.isEmpty || has("BLOB") { return .data }
    return .double
  }
}

extension ModelTable {
  /// The name of an index; Blackbird on Apple systems has the same.
  func indexName(_ index: Index) -> String {
    "\(name)+index+\(index.columns.joined(separator: "+"))"
  }

  /// Whether an index was made for a model, and not by hand.
  func isOwn(_ index: StoredTable.Index) -> Bool { index.name.hasPrefix("\(name)+index+") }
}
