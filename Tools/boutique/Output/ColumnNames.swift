import BoutiqueDB

/// The names of tables' columns, by their positions in the table.
///
/// As they are when they are first asked for, and again after a change of the schema: a column that was
/// renamed since a commit has its new name, one that is gone its position.
struct ColumnNames {
  private let database: BoutiqueDB
  private var names: [String: [String]] = [:]

  init(database: BoutiqueDB) { self.database = database }

  /// Reads the names that a change needs.
  mutating func learn(_ change: BoutiqueChange) async throws {
    if change.isEverything || change.tables.contains("sqlite_schema") { names = [:] }
    for row in change.rows where !row.columns.isEmpty && names[row.table] == nil {
      names[row.table] = try await database.read { connection in
        try connection.query("SELECT name FROM pragma_table_xinfo(?) ORDER BY cid", row.table)
          .map { try $0.decode(0, as: String.self) }
      }
    }
  }

  /// Returns the name of a column; its position where there is none.
  func name(_ position: Int, of table: String) -> String {
    guard let all = names[table], all.indices.contains(position) else { return String(position) }
    return all[position]
  }
}
