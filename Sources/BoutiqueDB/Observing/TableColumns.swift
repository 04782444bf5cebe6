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
  /// The columns of the unique indexes that hold every row and compare bytes, by index; of a table without
  /// row ids its key under the empty name.
  private var unique: [String: [String]] = [:]

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
      SELECT name, origin FROM pragma_index_list(?1) WHERE "unique" = 1 AND partial = 0
      """)
    defer { list.reset() }
    try list.bind(name, at: 1)
    var indexes: [(name: String, isKey: Bool)] = []
    while try list.step() { indexes.append((list.text(0), list.text(1) == "pk")) }
    let info = try sqlite.prepare(
      "SELECT name, coll, cid FROM pragma_index_xinfo(?1) WHERE key = 1 ORDER BY seqno")
    defer { info.reset() }
    for index in indexes {
      info.reset()
      try info.bind(index.name, at: 1)
      var columns: [String] = []
      var isPlain = true
      while try info.step() {
        columns.append(info.text(0))
        // An expression has no column; another collation takes different keys for one.
        if info.int64(2) < 0 || info.text(1) != "BINARY" { isPlain = false }
      }
      guard isPlain, !columns.isEmpty else { continue }
      unique[isWithoutRowID && index.isKey ? "" : index.name] = columns
    }
  }

  /// Returns the columns of a unique index; of nil, those of the key of a table without row ids.
  func uniqueColumns(ofIndex name: String?) -> [String]? { unique[name ?? ""] }

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
