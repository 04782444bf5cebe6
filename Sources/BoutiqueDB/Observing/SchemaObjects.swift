import SQLiteConnection

/// What a reader has to know of the schema to judge what a query depends on.
///
/// Confined to the connection's thread; read again when the schema has changed.
final class SchemaObjects {
  private var version: Int64?
  /// Virtual tables of which every change is seen: they are read from their own shadow tables, whose changes
  /// are captured under the virtual table's name as well.
  private var closedVirtualTables: Set<String> = []
  private var virtualTables: Set<String> = []

  /// Adds to a region what the names in it do not say: a virtual table may show the rows of other tables.
  func complete(_ region: inout TableRegion, on sqlite: Connection) throws {
    guard !region.isEverything else { return }
    let current = try sqlite.queryInt64("PRAGMA schema_version")
    if current != version { try load(from: sqlite, version: current) }
    for name in region.tables.keys where !isFollowed(name) {
      region.becomeEverything()
      return
    }
  }

  private func isFollowed(_ name: String) -> Bool {
    // Statistics and sequences are written without a word; a pragma's function shows what no table holds.
    if name.hasPrefix("sqlite_") { return name == "sqlite_schema" || name == "sqlite_master" }
    if name.hasPrefix("pragma_") { return false }
    return !virtualTables.contains(name) || closedVirtualTables.contains(name)
  }

  private func load(from sqlite: Connection, version: Int64?) throws(SQLiteError) {
    virtualTables = []
    closedVirtualTables = []
    let select = try sqlite.prepare(
      "SELECT name, lower(sql) FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%'")
    defer { select.reset() }
    while try select.step() {
      let name = select.text(0)
      let sql = select.text(1)
      virtualTables.insert(name)
      let module = sql.split(separator: "using", maxSplits: 1).last ?? ""
      let isOwn = ["fts5", "fts4", "fts3", "rtree"].contains {
        module.drop { $0 == " " }.hasPrefix($0)
      }
      // With outside content the index is one table and the text another.
      if isOwn, !module.contains("content"), !module.contains("vocab") {
        closedVirtualTables.insert(name)
      }
    }
    self.version = version
  }
}
