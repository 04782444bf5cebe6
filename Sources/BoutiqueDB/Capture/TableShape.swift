import SQLiteConnection

/// How the rows of one table are told apart, and how their values are had from the hook.
///
/// Confined to the writer thread.
final class TableShape {
  enum Key {
    /// By row id.
    case rowID
    /// By the key columns at these positions (WITHOUT ROWID).
    case columns([Int])
  }

  /// One column as `PRAGMA table_xinfo` describes it.
  struct Column {
    var type: String
    /// Its default as SQL; nil where it has none.
    var defaultSQL: String?
    /// Its place in the primary key, from 1; 0 outside.
    var keyPosition: Int
    /// Computed when it is read, so that no row holds it.
    var isVirtual: Bool
  }

  let key: Key
  /// All columns in the table's order; those of virtual columns are never there.
  private(set) var columns: [HookColumn]
  /// Whether the hook's numbers are the columns'.
  let isPlain: Bool
  /// Whether the hook can give whole rows.
  let givesRows: Bool
  /// What is kept of the table's changed rows.
  var mode = CaptureMode.id
  /// The columns with a default that has not been worked out yet.
  private var defaults: [(column: Int, type: String, sql: String)] = []

  /// - Parameters:
  ///   - rowIDAlias: the position of the INTEGER PRIMARY KEY column, where it matters.
  ///   - isStrict: whether types are enforced, so that ANY is a type without affinity.
  init(
    _ described: [Column], hasRowID: Bool, isStrict: Bool, rowIDAlias: Int?,
    numbering: @autoclosure () -> HookNumbering = .current
  ) {
    let keyColumns = described.indices.filter { described[$0].keyPosition > 0 }
      .sorted { described[$0].keyPosition < described[$1].keyPosition }
    key = hasRowID ? .rowID : .columns(keyColumns)
    let hasVirtual = described.contains(where: \.isVirtual)
    isPlain = hasRowID && !hasVirtual
    let affinities = described.map { Affinity($0.type, isStrict: isStrict) }
    columns = described.indices.map { HookColumn(index: $0) }

    let stored = described.indices.filter { !described[$0].isVirtual }
    if hasVirtual {
      let numbering = numbering()
      for position in described.indices where described[position].isVirtual {
        columns[position].index = nil
        columns[position].updateIndex = nil
      }
      for (place, position) in stored.enumerated() {
        if hasRowID, numbering.rowIDTablesAsStored { columns[position].index = place }
        let isMoved =
          hasRowID ? numbering.rowIDTablesAsStored : numbering.keyedUpdatesAsStored
        columns[position].updateIndex = isMoved ? place : position
      }
      if let rowIDAlias {
        columns[rowIDAlias].isRowID = true
        // The hook puts the row id where the number is the alias's.
        for position in stored
        where position != rowIDAlias && columns[position].index == rowIDAlias {
          columns[position].isHidden = true
        }
      }
    }
    // The place of each value in the record that the hook reads.
    let record = hasRowID ? stored : keyColumns + stored.filter { !keyColumns.contains($0) }
    for (place, position) in record.enumerated() {
      columns[position].isReal = affinities[position] == .real
      columns[position].mayBeMadeReal =
        affinities[position] == .whole && place != position && place < affinities.count
        && affinities[place] == .real
    }
    givesRows = !columns.contains(where: \.isHidden)
    for position in stored {
      guard let sql = described[position].defaultSQL, sql.uppercased() != "NULL" else { continue }
      defaults.append((position, described[position].type, sql))
      columns[position].absentValue = nil
    }
  }

  /// Works out what a row older than some columns holds in them: their defaults.
  ///
  /// - Returns: false when that is not known.
  func resolveDefaults(of change: borrowing PreupdateChange) -> Bool {
    guard !defaults.isEmpty, change.kind != .insert else { return true }
    var isKnown = true
    for index in defaults.indices.reversed() where change.isAbsent(columns[defaults[index].column])
    {
      let (column, type, sql) = defaults[index]
      guard let value = ColumnDefault.value(ofType: type, sql: sql) else {
        isKnown = false
        continue
      }
      columns[column].absentValue = value
      defaults.remove(at: index)
    }
    return isKnown
  }

  func oldKey(of change: borrowing PreupdateChange) -> RowKey {
    switch key {
    case .rowID: return .rowID(change.oldRowID)
    case .columns(let positions):
      var values: [SQLiteValue] = []
      for position in positions { values.append(change.oldValue(columns[position])) }
      return .columns(values)
    }
  }

  func newKey(of change: borrowing PreupdateChange) -> RowKey {
    switch key {
    case .rowID: return .rowID(change.newRowID)
    case .columns(let positions):
      var values: [SQLiteValue] = []
      for position in positions { values.append(change.newValue(columns[position])) }
      return .columns(values)
    }
  }

  /// The positions of the columns to which an update gives other values.
  func changedColumns(of change: borrowing PreupdateChange) -> [Int] {
    var changed: [Int] = []
    if isPlain, mode == .id {
      for position in 0..<change.columnCount where change.columnDiffers(position) {
        changed.append(position)
      }
      return changed
    }
    for position in columns.indices where change.differs(columns[position]) {
      changed.append(position)
    }
    // What virtual columns are computed from may be among the changed ones.
    if !isPlain, !changed.isEmpty {
      let virtual = columns.indices.filter { columns[$0].index == nil }
      if !virtual.isEmpty { changed = (changed + virtual).sorted() }
    }
    return changed
  }
}

/// What a column makes of the values stored in it (SQLite, "Datatypes", section 3.1).
private enum Affinity {
  case real
  /// INTEGER or NUMERIC: a real that is a whole number becomes an integer.
  case whole
  case other

  init(_ type: String, isStrict: Bool) {
    let type = type.uppercased()
    func has(_ part: String) -> Bool { type.contains(part) }
    if has("INT") {
      self = .whole
    } else if has("CHAR") || has("CLOB") || has("TEXT") || has("BLOB") || type.isEmpty {
      self = .other
    } else if has("REAL") || has("FLOA") || has("DOUB") {
      self = .real
    } else {
      self = isStrict && type == "ANY" ? .other : .whole
    }
  }
}

/// The value of a column's default, with the column's affinity: what SQLite itself makes of it.
private enum ColumnDefault {
  static func value(ofType type: String, sql: String) -> SQLiteValue? {
    guard let scratch = try? Connection(path: ":memory:") else { return nil }
    defer { scratch.close() }
    let type = type.isEmpty ? "" : quoted(identifier: type)
    // An expression needs the parentheses that the schema's description leaves out.
    for text in [sql, "(\(sql))"] {
      do {
        try scratch.execute("CREATE TABLE d (c \(type) DEFAULT \(text))")
        try scratch.execute("INSERT INTO d DEFAULT VALUES")
        let select = try scratch.prepare("SELECT c FROM d")
        defer { select.reset() }
        return try select.step() ? select.value(0) as SQLiteValue : nil
      } catch {
        continue
      }
    }
    return nil
  }
}
