import SQLiteConnection

/// Turns what triggers noted of foreign commits into the description of one change.
///
/// The notes tell what happened row by row, but not all of it: a row that `REPLACE` may displace is noted
/// before, when nobody knows whether it will be. What follows tells:
///
/// - an insertion of the same key: it was displaced, else the insertion would have failed;
/// - an update of it: it was not (an upsert, say), since it was there to be updated;
/// - neither: it was displaced if it is gone now, and not if it is there, since nothing put it back.
///
/// Each row that is named is looked up in the end, so that the description agrees with what is there: one
/// whose notes say that it is there, and which is not, was deleted, and the other way round.
struct ForeignNotes {
  /// Whether a row is in the database now.
  typealias Lookup = (_ table: ForeignTable, _ key: RowKey) throws -> Bool

  private struct Row: Hashable {
    var table: Int
    var key: RowKey
  }

  private struct Known {
    /// Where in `changes` the row may have been displaced.
    var displacement: Int?
    /// Where in `changes` the row was last updated, with nothing after it.
    var update: Int?
    /// What the notes say: whether it is there.
    var isThere = true
  }

  private let tables: [ForeignTable]
  private let indexes: [ByteExactString: Int]
  private let rowLimit: Int
  private var changes: [RecordedChange?] = []
  private var known: [Row: Known] = [:]
  /// The rows in the order in which they were first named.
  private var order: [Row] = []
  private var counts: [Int]
  private var wholes: Set<Int> = []

  /// - Parameter rowLimit: how many changes of one table are named one by one.
  init(tables: [ForeignTable], rowLimit: Int) {
    self.tables = tables
    self.rowLimit = rowLimit
    indexes = Dictionary(
      tables.enumerated().map { (ByteExactString($0.element.name), $0.offset) },
      uniquingKeysWith: { first, _ in first })
    counts = Array(repeating: 0, count: tables.count)
  }

  /// Takes the next note in.
  ///
  /// - Returns: false for a note that no trigger of ours makes.
  mutating func add(
    kind number: Int64, table name: String, columns: String?, key values: [SQLiteValue]
  ) -> Bool {
    guard let kind = ForeignTriggers.Kind(rawValue: number),
      let index = indexes[ByteExactString(name)]
    else {
      return false
    }
    if kind == .table {
      wholes.insert(index)
      return true
    }
    guard let key = rowKey(values, of: tables[index]) else { return false }
    guard !wholes.contains(index) else { return true }
    counts[index] += 1
    guard counts[index] <= rowLimit else {
      wholes.insert(index)
      return true
    }
    let row = Row(table: index, key: key)
    if known[row] == nil { order.append(row) }
    note(kind, row, columns: columns)
    return true
  }

  private func rowKey(_ values: [SQLiteValue], of table: ForeignTable) -> RowKey? {
    switch table.detail {
    case .table: return nil
    case .rowID:
      guard case .integer(let id) = values.first else { return nil }
      return .rowID(id)
    case .keyColumns(let names):
      guard values.count >= names.count else { return nil }
      return .columns(Array(values.prefix(names.count)))
    }
  }

  private mutating func note(_ kind: ForeignTriggers.Kind, _ row: Row, columns: String?) {
    var state = known[row] ?? Known()
    switch kind {
    case .displaced:
      // A row can share several things with a new one.
      guard state.displacement == nil else { break }
      state.displacement = changes.count
      changes.append(nil)
    case .insert:
      if let place = state.displacement {
        changes[place] = deletion(of: row)
      } else if let place = state.update {
        // A row that is moved to another key fires the triggers of its columns too, in no certain order.
        changes[place] = nil
      }
      state = Known()
      append(.insert, row, columns: [])
    case .delete:
      state = Known(isThere: false)
      append(.delete, row, columns: [])
    case .update:
      let positions = (columns ?? "").split(separator: ",").compactMap { Int($0) }
      if let place = state.update, place == changes.count - 1 {
        // Several triggers tell of one update.
        let merged = Set(changes[place]?.columns ?? []).union(positions)
        changes[place]?.columns = merged.sorted()
      } else {
        state.update = changes.count
        append(.update, row, columns: positions)
      }
      state.displacement = nil
      state.isThere = true
    case .table: break
    }
    known[row] = state
  }

  private func deletion(of row: Row) -> RecordedChange {
    RecordedChange(kind: .delete, table: row.table, key: row.key, columns: [])
  }

  private mutating func append(_ kind: RecordedChange.Kind, _ row: Row, columns: [Int]) {
    changes.append(RecordedChange(kind: kind, table: row.table, key: row.key, columns: columns))
  }

  /// Describes the change.
  ///
  /// - Parameter uncaptured: tables without triggers; they may have changed as well.
  mutating func summary(uncaptured: [String], isThere: Lookup) throws -> CommitSummary {
    for row in order where !wholes.contains(row.table) {
      guard let state = known[row] else { continue }
      let exists = try isThere(tables[row.table], row.key)
      if !exists, let place = state.displacement {
        changes[place] = deletion(of: row)
      } else if exists != state.isThere {
        append(exists ? .insert : .delete, row, columns: [])
      }
    }
    var names: [String] = []
    var places: [Int: Int] = [:]
    func place(_ table: Int) -> Int {
      if let known = places[table] { return known }
      names.append(tables[table].name)
      places[table] = names.count - 1
      return names.count - 1
    }
    var result: [RecordedChange] = []
    for case var change? in changes where !wholes.contains(change.table) {
      change.table = place(change.table)
      result.append(change)
    }
    for table in wholes.sorted() {
      result.append(
        RecordedChange(kind: .update, table: place(table), key: .whole, columns: []))
    }
    for name in uncaptured {
      names.append(name)
      result.append(
        RecordedChange(kind: .update, table: names.count - 1, key: .whole, columns: []))
    }
    return CommitSummary(tables: names, changes: result)
  }
}
