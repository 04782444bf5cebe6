internal import CSQLite

/// How one column of a table is had from the preupdate hook.
///
/// The hook of SQLite 3.40 numbers a rowid table's values as they are stored, so without the virtual
/// columns, but compares these numbers with those of the table's columns when it puts the row id in the place of
/// an INTEGER PRIMARY KEY and makes reals of whole numbers. Behind a virtual column both can hit the
/// wrong value. How the library in use does it is found out once, by trying.
package struct HookColumn: Sendable {
  /// Where its value is before an update, in an insertion and in a deletion; nil when it is not there.
  package var index: Int?
  /// Where its value is after an update.
  package var updateIndex: Int?
  /// Whether it is the row id.
  package var isRowID = false
  /// Whether whole numbers in it are reals.
  package var isReal = false
  /// Whether the hook may have made a real of a whole number in it.
  package var mayBeMadeReal = false
  /// Whether the hook gives another value in its place.
  package var isHidden = false
  /// What rows hold that are older than the column.
  package var absentValue: SQLiteValue? = .null

  /// Describes a column whose value is where its number says.
  package init(index: Int?, updateIndex: Int? = nil) {
    self.index = index
    self.updateIndex = updateIndex ?? index
  }
}

/// How the hook numbers the values of tables with virtual columns.
package struct HookNumbering: Sendable {
  /// Whether a rowid table's values are numbered as they are stored.
  package let rowIDTablesAsStored: Bool
  /// Whether the new values of an update in a table WITHOUT ROWID are.
  package let keyedUpdatesAsStored: Bool

  /// That of the SQLite library in use.
  package static let current = HookNumbering()

  private init() {
    let recorder = Recorder()
    let connection = try? Connection(path: ":memory:")
    connection?.setPreupdateObserver(recorder)
    for statement in [
      "CREATE TABLE r (g AS (9) VIRTUAL, a, b)", "INSERT INTO r VALUES (1, 2)",
      "CREATE TABLE k (g AS (9) VIRTUAL, a PRIMARY KEY, b) WITHOUT ROWID",
      "INSERT INTO k VALUES (1, 2)", "UPDATE k SET b = 3",
    ] {
      try? connection?.execute(statement)
    }
    rowIDTablesAsStored = recorder.firstValues["r"] == .integer(1)
    keyedUpdatesAsStored = recorder.firstValues["k update"] == .integer(1)
    connection?.close()
  }

  private final class Recorder: PreupdateObserver {
    var firstValues: [String: SQLiteValue] = [:]

    func willChange(_ change: borrowing PreupdateChange) {
      let key = change.kind == .update ? change.tableName + " update" : change.tableName
      firstValues[key] = change.newValue(0)
    }
  }
}

extension PreupdateChange {
  /// Returns a column before the change.
  package func oldValue(_ column: HookColumn) -> SQLiteValue {
    SQLiteValue(cell(of: column, isNew: false))
  }

  /// Returns a column after the change.
  package func newValue(_ column: HookColumn) -> SQLiteValue {
    SQLiteValue(cell(of: column, isNew: true))
  }

  /// Returns whether an update gives a column another type or other bytes; true where that cannot be told.
  package func differs(_ column: HookColumn) -> Bool {
    guard kind == .update else { return true }
    if column.isRowID { return oldRowID != newRowID }
    if column.isHidden { return true }
    guard let oldIndex = column.index, let newIndex = column.updateIndex else { return false }
    guard let old = raw(old: oldIndex), let new = raw(new: newIndex) else { return true }
    if Self.isAbsent(old) {
      guard let value = column.absentValue else { return true }
      return value != SQLiteValue(cell(of: column, isNew: true))
    }
    if boutique_sqlite_values_equal(old, new) != 0 { return false }
    guard column.mayBeMadeReal || column.isReal else { return true }
    return SQLiteValue(cell(of: column, isNew: false))
      != SQLiteValue(cell(of: column, isNew: true))
  }

  /// Whether SQLite gives no value because the row is older than the column.
  ///
  /// SQLite 3.40 answers with its one shared NULL, which it also returns for a column of no statement.
  static func isAbsent(_ value: OpaquePointer) -> Bool {
    value == sqlite3_column_value(nil, 0)
  }

  /// Whether the row, before the change, is older than a column.
  package func isAbsent(_ column: HookColumn) -> Bool {
    guard kind != .insert, let index = column.index, let old = raw(old: index) else { return false }
    return Self.isAbsent(old)
  }

  /// Appends the row before the change as a record.
  ///
  /// - Returns: where it is, or nil when the buffer would grow past `limit`.
  package func appendOld(
    _ columns: [HookColumn], to buffer: inout RecordBuffer, limit: Int
  ) -> Range<Int>? {
    for column in columns { buffer.cells.append(cell(of: column, isNew: false)) }
    return buffer.appendCells(limit: limit)
  }

  /// Appends the row after the change as a record.
  ///
  /// - Returns: where it is, or nil when the buffer would grow past `limit`.
  package func appendNew(
    _ columns: [HookColumn], to buffer: inout RecordBuffer, limit: Int
  ) -> Range<Int>? {
    for column in columns { buffer.cells.append(cell(of: column, isNew: true)) }
    return buffer.appendCells(limit: limit)
  }

  /// Appends a flag for each column, then the new values of those at the positions given.
  ///
  /// - Returns: where it is, or nil when the buffer would grow past `limit`.
  package func appendUpdates(
    _ columns: [HookColumn], changed: [Int], to buffer: inout RecordBuffer, limit: Int
  ) -> Range<Int>? {
    for isValue in [false, true] {
      var next = changed.startIndex
      for position in columns.indices {
        let isChanged = next < changed.endIndex && changed[next] == position
        if isChanged { next += 1 }
        if !isValue {
          buffer.cells.append(.integer(isChanged ? 1 : 0))
        } else {
          buffer.cells.append(isChanged ? cell(of: columns[position], isNew: true) : .null)
        }
      }
    }
    return buffer.appendCells(limit: limit)
  }

  private func cell(of column: HookColumn, isNew: Bool) -> RecordCell {
    if column.isRowID { return .integer(isNew ? newRowID : oldRowID) }
    let index = isNew && kind == .update ? column.updateIndex : column.index
    guard let index, let value = isNew ? raw(new: index) : raw(old: index) else { return .null }
    if !isNew, Self.isAbsent(value) { return RecordCell(column.absentValue ?? .null) }
    let cell = RecordCell(borrowing: value)
    switch cell {
    case .integer(let number) where column.isReal: return .real(Double(number))
    case .real(let number) where column.mayBeMadeReal:
      return Int64(exactly: number).map(RecordCell.integer) ?? cell
    default: return cell
    }
  }
}

extension SQLiteValue {
  fileprivate init(_ cell: RecordCell) {
    switch cell {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .real(number)
    case .borrowed(let value, _, _): self.init(value)
    case .bytes(let bytes, true): self = .text(String(decoding: bytes, as: UTF8.self))
    case .bytes(let bytes, false): self = .blob(bytes)
    }
  }
}
