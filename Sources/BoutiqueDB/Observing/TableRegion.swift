import SQLiteConnection
import Synchronization

/// The part of a database that a query depends on: tables, of each the columns read, and where only single
/// rows are looked up, these rows.
///
/// ```
/// query                                        region
/// SELECT title FROM note WHERE isArchived = 0  note: title, isArchived of all rows
/// SELECT count(*) FROM note                    note: (no column, so inserts and deletes matter)
/// SELECT title FROM note WHERE id = 7          note: title, id of row 7
/// SELECT title FROM note WHERE id > 90         note: title, id of the rows from 90 on
/// SELECT title FROM note WHERE slug = 'x'      note: title, slug of the row that has it now; while none
///   (slug is UNIQUE)                           has it, also rows that are inserted or get another slug
/// SELECT … FROM turso_cdc                      everything: the log changes with every commit
/// SELECT … FROM sqlite_stat1, pragma_…         everything: their changes are not captured
/// ```
///
/// A region may be larger than the truth, never smaller. Columns are positions, which mean something for the
/// schema of the snapshot only; a change of the schema touches every region.
struct TableRegion: Hashable, Sendable {
  /// What is read of one table.
  struct Reads: Hashable, Sendable {
    /// The columns read of rows that are not told apart; nil when all reads are of single rows.
    var everywhere: ColumnPositions?
    /// The single rows.
    var rows: Set<RowKey> = []
    /// The ranges of row ids; no two meet.
    var ranges: [ClosedRange<Int64>] = []
    /// The columns read of the rows and in the ranges.
    var rowColumns = ColumnPositions()
    /// For keys that no row has now: the columns that make the key.
    ///
    /// Rows that come or change there may have it.
    var arrivals: ColumnPositions?
  }

  private(set) var tables: [String: Reads] = [:]
  /// Whether any commit at all can change the result.
  private(set) var isEverything = false

  static var everything: TableRegion {
    var region = TableRegion()
    region.isEverything = true
    return region
  }

  /// Makes it depend on any commit.
  mutating func becomeEverything() {
    isEverything = true
    tables = [:]
  }

  /// Adds columns of all rows of a table.
  mutating func insert(_ columns: ColumnPositions, of table: String) {
    var all = tables[table]?.everywhere ?? ColumnPositions()
    all.formUnion(columns)
    tables[table, default: Reads()].everywhere = all
  }

  /// Adds columns of a table's single rows and ranges of rows.
  mutating func insert(
    _ columns: ColumnPositions, of table: String, rows: Set<RowKey>,
    ranges: [ClosedRange<Int64>] = [], arrivals: ColumnPositions?
  ) {
    var reads = tables[table] ?? Reads()
    reads.rowColumns.formUnion(columns)
    reads.rows.formUnion(rows)
    if !ranges.isEmpty { reads.ranges = Self.union(reads.ranges + ranges) }
    if let arrivals {
      var all = reads.arrivals ?? ColumnPositions()
      all.formUnion(arrivals)
      reads.arrivals = all
    }
    tables[table] = reads
  }

  /// Returns ranges that cover the same numbers, sorted, none touching another.
  private static func union(_ ranges: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
    var result: [ClosedRange<Int64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = result.last, range.lowerBound <= last.upperBound {
        result[result.count - 1] =
          last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        result.append(range)
      }
    }
    return result
  }

  /// Whether a change can alter what was read here in the snapshot with a token: it is not in the snapshot
  /// already, and touches the region.
  func concerns(_ change: ChangeSet, after token: Int64) -> Bool {
    if !change.isEverything, change.token <= token { return false }
    return intersects(change)
  }

  /// Whether a change can alter what is read here.
  func intersects(_ change: ChangeSet) -> Bool {
    if change.isEverything || isEverything { return true }
    let effects = change.effects
    if effects.changesSchema { return true }
    for (table, reads) in tables {
      if let effect = effects.tables[table], reads.isTouched(by: effect) { return true }
    }
    return false
  }
}

extension TableRegion.Reads {
  fileprivate func isTouched(by effect: ChangeEffects.Table) -> Bool {
    if effect.isWhole { return true }
    if let everywhere,
      effect.hasArrivals || effect.hasDepartures || everywhere.intersects(effect.updated)
    {
      return true
    }
    if let arrivals, effect.hasArrivals || arrivals.intersects(effect.updated) { return true }
    if !ranges.isEmpty, effect.rows.contains(where: { covers($0.key) && isTouched($0.value) }) {
      return true
    }
    // The shorter of the two decides how long this takes.
    if rows.count <= effect.rows.count {
      return rows.contains { key in effect.rows[key].map(isTouched) ?? false }
    }
    return effect.rows.contains { rows.contains($0.key) && isTouched($0.value) }
  }

  /// Whether a row is in one of the ranges.
  private func covers(_ key: RowKey) -> Bool {
    guard case .rowID(let number) = key else { return true }
    // The first range that does not end before it.
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].lowerBound <= number
  }

  private func isTouched(_ row: ChangeEffects.Row) -> Bool {
    row.cameOrWent || rowColumns.intersects(row.updated)
  }
}

/// What an observer depends on while it waits, where the hub can see it without asking the observer.
///
/// Of a thousand live queries a commit concerns a few; this is what the others cost.
final class QuietRegion: Sendable {
  private struct Quiet: Sendable {
    var region: TableRegion
    /// The newest commit that the observer's value holds.
    var token: Int64
  }

  private let quiet = Mutex<Quiet?>(nil)

  /// Says what the observer depends on; nil while it has to hear of everything.
  func set(_ region: TableRegion?, token: Int64) {
    quiet.withLock { $0 = region.map { Quiet(region: $0, token: token) } }
  }

  /// Whether a change is nothing to the observer.
  func ignores(_ change: ChangeSet) -> Bool {
    quiet.withLock { $0.map { !$0.region.concerns(change, after: $0.token) } ?? false }
  }
}
