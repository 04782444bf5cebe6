import Glibc
import SQLiteConnection

/// Gathers in memory what the statements of one transaction change.
///
/// Filled by SQLite's preupdate hook, which sees what triggers and the update hook do not: rows that
/// REPLACE displaces, tables without row ids, DELETE without WHERE, cascades and the changes that
/// triggers make. Confined to the writer thread, like the connection that calls it.
///
/// A savepoint that is rolled back takes its changes along (`mark`, `rollBack(to:)`). Changes of a single
/// statement that failed are kept: reporting too much costs one query, too little a wrong screen.
final class ChangeCollector: PreupdateObserver {
  struct Mark {
    fileprivate let changes: Int
    fileprivate let tables: [Table]
  }

  fileprivate struct Table {
    var name: String
    /// The name again, for comparing with SQLite's without making a string of it.
    var cName: ContiguousArray<CChar>
    /// Whether it is one of the database's own and not a temporary one, whose name may be the same.
    var isMain: Bool
    /// False for a table that is not worth recording (ours, temporary).
    var isRecorded: Bool
    var shape: TableShape?
    var rows = 0
    var isWhole = false
  }

  private let rowLimit: Int
  private let shapes: SchemaShapes
  private var changes: [RecordedChange] = []
  private var tables: [Table] = []
  private var indexByName: [String: Int] = [:]
  private var schemaChanged = false
  // The last table's name pointer: consecutive changes nearly always meet the same table.
  private var lastPointer: UnsafePointer<CChar>?
  private var lastIndex = 0

  init(rowLimit: Int, shapes: SchemaShapes) {
    self.rowLimit = rowLimit
    self.shapes = shapes
  }

  /// Whether anything was changed since `reset`.
  var isEmpty: Bool { changes.isEmpty && !schemaChanged && !tables.contains(where: \.isWhole) }
  /// Whether the transaction changed the schema.
  var hasSchemaChange: Bool { schemaChanged }

  /// Forgets everything; a transaction begins.
  func reset() {
    changes.removeAll(keepingCapacity: changes.capacity <= 4096)
    tables.removeAll(keepingCapacity: true)
    indexByName.removeAll(keepingCapacity: true)
    schemaChanged = false
    lastPointer = nil
  }

  func mark() -> Mark { Mark(changes: changes.count, tables: tables) }

  /// Drops what was gathered after `mark`.
  ///
  /// A schema change stays noted.
  func rollBack(to mark: Mark) {
    changes.removeSubrange(min(mark.changes, changes.count)...)
    tables = mark.tables
    indexByName.removeAll(keepingCapacity: true)
    for (index, table) in tables.enumerated() where table.isMain { indexByName[table.name] = index }
    lastPointer = nil
  }

  func noteSchemaChanges(of effects: StatementEffects) {
    lastPointer = nil
    for change in effects.schemaChanges where change.databaseName == "main" {
      schemaChanged = true
      // What a dropped, renamed or altered table held may read differently now.
      markWhole(change.tableName ?? change.objectName)
    }
  }

  /// Records that a whole table may have changed.
  func markWhole(_ name: String) {
    let index = index(ofTable: name, isMain: true)
    tables[index].isWhole = true
  }

  /// Records the virtual tables among those that a statement writes.
  ///
  /// Their shadow tables may be written as late as during COMMIT.
  func noteWrites(of tables: Set<String>) {
    guard shapes.hasVirtualTables else { return }
    for name in tables where shapes.owner(of: name) == name { markWhole(name) }
  }

  // MARK: The hook

  func willChange(_ change: borrowing PreupdateChange) {
    let index: Int
    if change.tableNamePointer == lastPointer, isTable(lastIndex, named: change.tableNamePointer) {
      index = lastIndex
    } else {
      index = self.index(ofTable: change.tableName, isMain: change.databaseName == "main")
      lastPointer = change.tableNamePointer
      lastIndex = index
    }
    guard tables[index].isRecorded, !tables[index].isWhole else { return }
    tables[index].rows += 1
    guard tables[index].rows <= rowLimit, let shape = tables[index].shape else {
      tables[index].isWhole = true
      return
    }
    switch change.kind {
    case .insert:
      append(.insert, index, shape.newKey(of: change), columns: [])
    case .delete:
      append(.delete, index, shape.oldKey(of: change), columns: [])
    case .update:
      let old = shape.oldKey(of: change)
      let new = shape.newKey(of: change)
      if old == new {
        let columns = (0..<change.columnCount).filter { change.columnDiffers($0) }
        append(.update, index, new, columns: columns)
      } else {
        append(.delete, index, old, columns: [])
        append(.insert, index, new, columns: [])
      }
    }
  }

  private func isTable(_ index: Int, named pointer: UnsafePointer<CChar>) -> Bool {
    tables[index].cName.withUnsafeBufferPointer { name in
      name.baseAddress.map { strcmp($0, pointer) == 0 } ?? false
    }
  }

  private func append(
    _ kind: RecordedChange.Kind, _ table: Int, _ key: RowKey, columns: [Int]
  ) {
    changes.append(RecordedChange(kind: kind, table: table, key: key, columns: columns))
  }

  private func index(ofTable name: String, isMain: Bool) -> Int {
    if isMain, let known = indexByName[name] { return known }
    if !isMain, let known = tables.firstIndex(where: { !$0.isMain && $0.name == name }) {
      return known
    }
    let isRecorded =
      isMain && !CaptureSchema.internalTables.contains(name) && !name.hasPrefix("sqlite_")
    tables.append(
      Table(
        name: name, cName: ContiguousArray(name.utf8CString), isMain: isMain,
        isRecorded: isRecorded,
        shape: isRecorded ? shapes[name] : nil))
    // A temporary table may shadow a real one's name; only the real one is looked up by it.
    if isMain { indexByName[name] = tables.count - 1 }
    return tables.count - 1
  }

  /// Records virtual tables that have changed, or whose shadow tables have, with all of their shadow tables.
  ///
  /// A virtual table is read by its own name but changes through its shadow tables, and FTS5 writes most of them
  /// during COMMIT only, when it is too late to record them.
  private func markVirtualTables() {
    guard shapes.hasVirtualTables else { return }
    let owners = Set(tables.compactMap { $0.isRecorded ? shapes.owner(of: $0.name) : nil })
    for owner in owners.sorted() {
      markWhole(owner)
      for name in shapes.shadows(of: owner) { markWhole(name) }
    }
  }

  // MARK: The summary

  /// What the transaction changed, in the order in which it happened.
  func summary() -> CommitSummary {
    markVirtualTables()
    var names: [String] = []
    var newIndex: [Int?] = Array(repeating: nil, count: tables.count)
    var rows: [RecordedChange] = []
    var wholes = Set<String>()
    func position(of table: Int) -> Int {
      if let known = newIndex[table] { return known }
      names.append(tables[table].name)
      newIndex[table] = names.count - 1
      return names.count - 1
    }
    for change in changes where !tables[change.table].isWhole {
      var change = change
      change.table = position(of: change.table)
      rows.append(change)
    }
    func addWhole(_ name: String, at index: Int) {
      guard wholes.insert(name).inserted else { return }
      rows.append(RecordedChange(kind: .update, table: index, key: .whole, columns: []))
    }
    for (index, table) in tables.enumerated() where table.isRecorded && table.isWhole {
      addWhole(table.name, at: position(of: index))
    }
    if schemaChanged {
      names.append("sqlite_schema")
      addWhole("sqlite_schema", at: names.count - 1)
    }
    return CommitSummary(tables: names, changes: rows)
  }
}
