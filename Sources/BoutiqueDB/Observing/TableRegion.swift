import SQLiteConnection

/// The part of a database that a query depends on: tables, and the columns read of each.
///
/// ```
/// query                                        region
/// SELECT title FROM note WHERE isArchived = 0  note: title, isArchived
/// SELECT count(*) FROM note                    note: (no column, so inserts and deletes matter)
/// SELECT … FROM turso_cdc                      everything: the log changes with every commit
/// SELECT … FROM sqlite_stat1, pragma_…         everything: their changes are not captured
/// ```
///
/// A region may be larger than the truth, never smaller.
struct TableRegion: Hashable, Sendable {
  /// The tables, with the columns read of each.
  private(set) var tables: [String: Set<String>] = [:]
  /// Whether any commit at all can change the result.
  private(set) var isEverything = false

  static var everything: TableRegion {
    var region = TableRegion()
    region.isEverything = true
    return region
  }

  /// Makes it depend on any commit.
  mutating func becomeEverything() { isEverything = true }

  mutating func formUnion(_ reads: ReadSet) {
    for (name, columns) in reads.tables {
      if CaptureSchema.internalTables.contains(name) { isEverything = true }
      tables[name, default: []].formUnion(columns)
    }
  }

  /// Whether a change can alter what is read here.
  func intersects(_ change: ChangeSet) -> Bool {
    if change.isEverything || isEverything { return true }
    return change.summary.tables.contains { $0 == "sqlite_schema" || tables[$0] != nil }
  }
}
