import SQLiteConnection

/// The columns of one table and what tells its rows apart.
struct TableColumns {
  /// Positions in the table's order, by name; empty for what is not a table.
  private var positions: [String: Int] = [:]
  /// Whether SQLite computes columns when they are read.
  ///
  /// Such a column is not stored, so the positions of a captured change and those of the schema differ,
  /// and nothing says on which others it depends.
  private var hasVirtualColumns = false
  private(set) var isWithoutRowID = false
  private struct Index {
    /// The columns that order it.
    var columns: [String] = []
    /// Whether a part of it is an expression, which names no column.
    var hasExpressions = false
    /// Whether a key finds at most one row: it is unique, holds every row, and compares bytes.
    var isExact = false
  }

  /// By name; the key of a table without row ids under the empty one.
  private var indexes: [String: Index] = [:]

  init(of name: String, on sqlite: Connection) throws(SQLiteError) {
    let columns = try sqlite.prepare("SELECT name, cid, hidden FROM pragma_table_xinfo(?1)")
    defer { columns.reset() }
    try columns.bind(name, at: 1)
    while try columns.step() {
      positions[columns.text(0)] = Int(columns.int64(1))
      // 2 is generated when read, 3 when written.
      if columns.int64(2) == 2 { hasVirtualColumns = true }
    }
    let kind = try sqlite.prepare(
      "SELECT wr FROM pragma_table_list(?1) WHERE schema = 'main' AND name = ?1")
    defer { kind.reset() }
    try kind.bind(name, at: 1)
    isWithoutRowID = try kind.step() && kind.int64(0) != 0
    try loadIndexes(of: name, on: sqlite)
  }

  private mutating func loadIndexes(of name: String, on sqlite: Connection) throws(SQLiteError) {
    let list = try sqlite.prepare(
      """
      SELECT name, origin, "unique", partial FROM pragma_index_list(?1)
      """)
    defer { list.reset() }
    try list.bind(name, at: 1)
    var names: [(name: String, isKey: Bool, isExact: Bool)] = []
    while try list.step() {
      names.append(
        (list.text(0), list.text(1) == "pk", list.int64(2) != 0 && list.int64(3) == 0))
    }
    let info = try sqlite.prepare(
      "SELECT name, coll, cid FROM pragma_index_xinfo(?1) WHERE key = 1 ORDER BY seqno")
    defer { info.reset() }
    for (name, isKey, isExact) in names {
      info.reset()
      try info.bind(name, at: 1)
      var index = Index(isExact: isExact)
      while try info.step() {
        index.columns.append(info.text(0))
        if info.int64(2) < 0 { index.hasExpressions = true }
        // Another collation takes different keys for one.
        if info.int64(2) < 0 || info.text(1) != "BINARY" { index.isExact = false }
      }
      indexes[isWithoutRowID && isKey ? "" : name] = index
    }
  }

  /// Returns the columns by which an index finds at most one row, nil where it may find more; the index of
  /// nil is the key of a table without row ids.
  func uniqueColumns(ofIndex name: String?) -> [String]? {
    guard let index = indexes[name ?? ""], index.isExact, !index.columns.isEmpty else { return nil }
    return index.columns
  }

  /// Returns the positions of the columns that order an index.
  func positions(ofIndex name: String) -> ColumnPositions {
    guard let index = indexes[name], !index.hasExpressions else { return .all }
    return positions(of: Set(index.columns))
  }

  /// Returns the positions of columns as captured changes give them.
  func positions(of names: Set<String>) -> ColumnPositions {
    if hasVirtualColumns { return .all }
    var result = ColumnPositions()
    for name in names {
      if let position = positions[name] {
        result.insert(position)
      } else if name != "ROWID" {
        // A row gets another row id only by leaving and coming; what else there may be is not known.
        return .all
      }
    }
    return result
  }

  /// A name by which the row id can be read; nil where columns have taken all of them.
  var rowIDName: String? {
    let taken = Set(positions.keys.map { $0.lowercased() })
    return ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
  }
}

/// A set of positions of columns.
struct ColumnPositions: Hashable, Sendable {
  private var bits: UInt64 = 0
  /// Whether every column is meant; so it is for tables with more columns than bits.
  private(set) var isAll = false

  static var all: ColumnPositions {
    var all = ColumnPositions()
    all.isAll = true
    return all
  }

  mutating func insert(_ position: Int) {
    if (0..<64).contains(position) { bits |= 1 << UInt64(position) } else { isAll = true }
  }

  mutating func formUnion(_ other: ColumnPositions) {
    bits |= other.bits
    isAll = isAll || other.isAll
  }

  /// Whether a change of these columns can be seen in those.
  func intersects(_ other: ColumnPositions) -> Bool {
    if isAll { return other.isAll || other.bits != 0 }
    return other.isAll ? bits != 0 : bits & other.bits != 0
  }
}
