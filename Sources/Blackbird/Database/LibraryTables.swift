/// The tables that the library keeps beside a user's.
enum LibraryTables {
  /// Whether a table is one of them, so that nobody is told of it or its changes.
  static func contain(_ table: String) -> Bool {
    table.hasPrefix("boutiquedb_") || table == "turso_cdc" || table == SchemaHistory.table
      || SearchIndex.isPart(table)
  }
}
