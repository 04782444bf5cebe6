import FaultPoints
import Glibc
import SQLiteConnection

/// What was gathered of one transaction; see `ChangeCollector`, which is the way to it.
///
/// What is undone is forgotten: a savepoint that is rolled back takes its changes along (`mark`,
/// `rollBack(to:)`), and so does a statement that fails in a transaction that goes on. Where it cannot be told
/// what such a statement left behind, its tables count as wholly changed.
struct CollectedChanges {
  typealias Mark = ChangeCollector.Mark

  private struct Table {
    var name: ByteExactString
    /// The name again, for comparing with SQLite's without making a string of it.
    var cName: ContiguousArray<CChar>
    /// Whether it is one of the database's own and not a temporary one, whose name may be the same.
    var isMain: Bool
    /// False for a table that is not worth recording (ours, temporary).
    var isRecorded: Bool
    var shape: TableShape?
    var rows = 0
    var isWhole = false
    /// Whether it stays whole even if that is undone, since what was known of its rows is gone.
    var isWholeForGood = false
  }

  private let limits: ChangeCollector.Limits
  private let shapes: SchemaShapes

  private var changes: [RecordedChange] = []
  private var images = ImageCollection()
  private var tables: [Table] = []
  /// The tables that became whole, in the order in which they did.
  private var becameWhole: [Int] = []
  private var indexByName: [ByteExactString: Int] = [:]
  /// Whether the transaction changed the schema.
  var schemaChanged = false
  /// The schema before the first statement that changes it.
  private var schemaBefore: [SchemaDifference.Object]?
  // The last table's name pointer: consecutive changes nearly always meet the same table.
  private var lastPointer: UnsafePointer<CChar>?
  private var lastIndex = 0

  init(limits: ChangeCollector.Limits, shapes: SchemaShapes) {
    self.limits = limits
    self.shapes = shapes
  }

  /// Whether anything was changed since `reset`.
  var isEmpty: Bool { changes.isEmpty && !schemaChanged && !tables.contains(where: \.isWhole) }

  /// Forgets everything; a transaction begins.
  mutating func reset() {
    changes.removeAll(keepingCapacity: changes.capacity <= 4096)
    images.removeAll()
    tables.removeAll(keepingCapacity: true)
    becameWhole.removeAll(keepingCapacity: true)
    indexByName.removeAll(keepingCapacity: true)
    schemaChanged = false
    schemaBefore = nil
    lastPointer = nil
  }

  // MARK: What is undone

  func mark() -> Mark { Mark(changes.count, tables.count, becameWhole.count) }

  /// Drops what was gathered after `mark`.
  ///
  /// A schema change stays noted.
  mutating func rollBack(to mark: Mark) {
    lastPointer = nil
    for change in changes[min(mark.first, changes.count)...] { tables[change.table].rows -= 1 }
    changes.removeSubrange(min(mark.first, changes.count)...)
    images.rollBack(toChange: changes.count)
    for index in becameWhole[min(mark.third, becameWhole.count)...]
    where !tables[index].isWholeForGood {
      tables[index].isWhole = false
      // Rows past the limit were not even counted.
      tables[index].rows = changes.count { $0.table == index }
    }
    becameWhole.removeSubrange(min(mark.third, becameWhole.count)...)
    // A table that stays whole for good stays known.
    var kept = min(mark.second, tables.count)
    for index in tables.indices[kept...] where tables[index].isWholeForGood { kept = index + 1 }
    for table in tables[kept...] where table.isMain { indexByName[table.name] = nil }
    tables.removeSubrange(kept...)
  }

  /// Notes that another write's part of the transaction begins: the limit of rows is each one's own.
  mutating func beginPart() {
    for index in tables.indices { tables[index].rows = 0 }
  }

  /// How many changes were gathered.
  var count: Int { changes.count }

  mutating func statementDidFail(_ failure: StatementFailure, schemaMayFail: () -> Bool) {
    let mark = failure.mark
    guard !failure.keepsRows, changes.count > mark.first || becameWhole.count > mark.third else {
      return
    }
    let mayKeepRows = failure.sql.lowercased().contains("fail") || schemaMayFail()
    guard mayKeepRows else {
      rollBack(to: mark)
      return
    }
    // `OR FAIL` and `RAISE(FAIL)` keep what was changed before, and rows that only triggers changed are not
    // counted: they may be there or not.
    var touched = Set(changes[min(mark.first, changes.count)...].map(\.table))
    touched.formUnion(becameWhole[min(mark.third, becameWhole.count)...])
    let names = touched.sorted().map { tables[$0].name }
    rollBack(to: mark)
    for name in names { becomeWhole(name) }
  }

  // MARK: The schema

  mutating func noteSchemaChanges(
    of effects: StatementEffects, readSchema: () -> [SchemaDifference.Object]?
  ) {
    lastPointer = nil
    for change in effects.schemaChanges where change.databaseName == "main" {
      if !schemaChanged { schemaBefore = readSchema() }
      schemaChanged = true
      // What a dropped, renamed or altered table held may read differently now.
      markWhole(change.tableName ?? change.objectName)
    }
  }

  /// Records that a whole table may have changed.
  mutating func markWhole(_ name: String) {
    becomeWhole(ByteExactString(name))
  }

  /// Records the schema's rows that are others now.
  private mutating func recordSchemaChanges(_ readSchema: () -> [SchemaDifference.Object]?) {
    guard let before = schemaBefore, let after = readSchema() else { return }
    schemaBefore = nil
    let mode = shapes.modes[CaptureSchema.schemaTable]
    for change in SchemaDifference(from: before, to: after).changes {
      // The old name is recorded by the statement; whoever knows tables by name has to read the new one.
      if change.kind == .update, let after = change.after, after.name != change.before?.name,
        after.type == .text("table"), case .text(let name) = after.name
      {
        markWhole(name)
      }
      let table = index(ofTable: ByteExactString(CaptureSchema.schemaTable), isMain: true)
      tables[table].isRecorded = true
      changes.append(
        RecordedChange(
          kind: change.kind, table: table, key: .rowID(change.rowID),
          columns: change.kind == .update ? change.changedColumns : []))
      guard mode.keepsRows else { continue }
      if !images.append(change, mode: mode, number: changes.count - 1, limit: limits.bytes) {
        becomeWholeForGood(table)
      }
    }
  }

  /// Whether there are tables about which `noteWrites` has to know.
  var notesWrites: Bool { shapes.hasVirtualTables }

  /// Records the virtual tables among those that a statement writes.
  ///
  /// Their shadow tables may be written as late as during COMMIT.
  mutating func noteWrites(of tables: Set<String>) {
    guard shapes.hasVirtualTables else { return }
    for name in tables where shapes.owner(of: name) == name { markWhole(name) }
  }

  // MARK: The hook

  mutating func willChange(_ change: borrowing PreupdateChange) {
    let index: Int
    if change.tableNamePointer == lastPointer, isTable(lastIndex, named: change.tableNamePointer) {
      index = lastIndex
    } else {
      index = self.index(
        ofTable: ByteExactString(change.tableName), isMain: change.databaseName == "main")
      lastPointer = change.tableNamePointer
      lastIndex = index
    }
    guard tables[index].isRecorded, !tables[index].isWhole else { return }
    if Sabotage.updatesNotCaptured.isOn, change.kind == .update { return }
    guard let shape = tables[index].shape, shape.mode != .off else {
      becomeWhole(index)
      return
    }
    tables[index].rows += 1
    if shape.mode == .id {
      guard tables[index].rows <= limits.rows else {
        becomeWhole(index)
        return
      }
      record(change, index, shape)
    } else {
      // Before the first value is taken from a row that is older than a column.
      guard shape.givesRows, shape.resolveDefaults(of: change) else {
        becomeWhole(index)
        return
      }
      recordWithImages(change, index, shape)
    }
  }

  private mutating func record(
    _ change: borrowing PreupdateChange, _ index: Int, _ shape: TableShape
  ) {
    switch change.kind {
    case .insert: append(.insert, index, shape.newKey(of: change))
    case .delete: append(.delete, index, shape.oldKey(of: change))
    case .update:
      let old = shape.oldKey(of: change)
      let new = shape.newKey(of: change)
      if old == new {
        append(.update, index, new, columns: shape.changedColumns(of: change))
      } else {
        append(.delete, index, old)
        append(.insert, index, new)
      }
    }
  }

  private mutating func recordWithImages(
    _ change: borrowing PreupdateChange, _ index: Int, _ shape: TableShape
  ) {
    let number = changes.count
    record(change, index, shape)
    for position in number..<changes.count {
      let recorded = changes[position]
      guard
        images.append(
          change, as: recorded, shape: shape, number: position, limit: limits.bytes)
      else {
        becomeWholeForGood(index)
        return
      }
    }
  }

  private func isTable(_ index: Int, named pointer: UnsafePointer<CChar>) -> Bool {
    tables[index].cName.withUnsafeBufferPointer { name in
      name.baseAddress.map { strcmp($0, pointer) == 0 } ?? false
    }
  }

  private mutating func append(
    _ kind: RecordedChange.Kind, _ table: Int, _ key: RowKey, columns: [Int] = []
  ) {
    changes.append(RecordedChange(kind: kind, table: table, key: key, columns: columns))
  }

  private mutating func becomeWhole(_ name: ByteExactString) {
    let index = index(ofTable: name, isMain: true)
    becomeWhole(index)
  }

  private mutating func becomeWhole(_ index: Int) {
    guard !tables[index].isWhole else { return }
    tables[index].isWhole = true
    becameWhole.append(index)
  }

  /// Gives up the rows of a table, to make room for those of others.
  private mutating func becomeWholeForGood(_ index: Int) {
    becomeWhole(index)
    tables[index].isWholeForGood = true
    let changes = changes
    images.remove { changes[$0].table == index }
  }

  private mutating func index(ofTable name: ByteExactString, isMain: Bool) -> Int {
    if isMain, let known = indexByName[name] { return known }
    if !isMain, let known = tables.firstIndex(where: { !$0.isMain && $0.name == name }) {
      return known
    }
    let isRecorded =
      isMain && !CaptureSchema.internalTables.contains(name.string)
      && !name.string.utf8.starts(with: "sqlite_".utf8)
    tables.append(
      Table(
        name: name, cName: ContiguousArray(name.string.utf8CString), isMain: isMain,
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
  private mutating func markVirtualTables() {
    guard shapes.hasVirtualTables else { return }
    let owners = Set(tables.compactMap { $0.isRecorded ? shapes.owner(of: $0.name.string) : nil })
    for owner in owners.sorted() {
      markWhole(owner)
      for name in shapes.shadows(of: owner) { markWhole(name) }
    }
  }

  // MARK: The summary

  /// What the transaction changed, in the order in which it happened.
  mutating func summary(readSchema: () -> [SchemaDifference.Object]?) -> CommitSummary {
    recordSchemaChanges(readSchema)
    markVirtualTables()
    var names: [ByteExactString] = []
    var newIndex: [Int?] = Array(repeating: nil, count: tables.count)
    var rows: [RecordedChange] = []
    var wholes = Set<ByteExactString>()
    func position(of table: Int) -> Int {
      if let known = newIndex[table] { return known }
      names.append(tables[table].name)
      newIndex[table] = names.count - 1
      return names.count - 1
    }
    if let order = unchangedOrder {
      rows = changes
      for table in order { _ = position(of: table) }
    } else {
      rows.reserveCapacity(changes.count)
      for change in changes where !tables[change.table].isWhole {
        var change = change
        change.table = position(of: change.table)
        rows.append(change)
      }
    }
    func addWhole(_ name: ByteExactString, at index: Int) {
      guard wholes.insert(name).inserted else { return }
      rows.append(RecordedChange(kind: .update, table: index, key: .whole, columns: []))
    }
    for (index, table) in tables.enumerated() where table.isRecorded && table.isWhole {
      addWhole(table.name, at: position(of: index))
    }
    let schema = ByteExactString(CaptureSchema.schemaTable)
    if schemaChanged, !names.contains(schema) {
      // A view, a trigger, statistics: something changed, and no row of a table or index tells it.
      names.append(schema)
      addWhole(schema, at: names.count - 1)
    }
    return CommitSummary(tables: names.map(\.string), changes: rows)
  }

  /// The tables of the changes, if all of these can stay as they are: none is of a table that is whole, and no
  /// table without a change stands before one that has some.
  private var unchangedOrder: Range<Int>? {
    var used = 0
    for change in changes where change.table >= used {
      guard change.table == used else { return nil }
      used += 1
    }
    for table in tables[..<used] where table.isWhole { return nil }
    return 0..<used
  }

  /// Calls `body` with the images of each change that has any, and its place in the summary.
  ///
  /// `body` may run SQL that is not recorded.
  func forEachImage(_ body: (_ place: Int, _ image: RecordedImage) throws -> Void) rethrows {
    guard !images.isEmpty else { return }
    let changes = changes
    let tables = tables
    var place = 0
    var number = 0
    try images.withEach { image in
      while number < image.number {
        if !tables[changes[number].table].isWhole { place += 1 }
        number += 1
      }
      if !tables[changes[number].table].isWhole { try body(place, image) }
    }
  }
}
