import BoutiqueDB

/// A table as a feed's replay holds it: rows by key, each a list of cells.
struct TableCopy: Codable, Sendable {
  /// The expressions that tell rows apart: a name of the row id, or the key's columns.
  var keys: [String]
  var columns: [String]
  /// Positions of columns that follow others.
  var generated: Set<Int>
  /// Whether its rows can be read by key.
  var isVirtual: Bool
  /// Cells by the key's text.
  var rows: [String: [String]] = [:]

  /// The one name that begins like the library's own and is none of them; it says nothing of changes in those.
  static let lookalike = "boutiquedb_mine"

  static func isFollowed(_ name: String) -> Bool {
    !name.hasPrefix("sqlite_") && (!name.hasPrefix("boutiquedb_") || name == lookalike)
  }

  /// Reads all tables.
  static func all(on connection: BoutiqueConnection) throws -> [String: TableCopy] {
    var copies: [String: TableCopy] = [:]
    let names = try connection.query(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'view'")
    for row in names {
      let name = try row.decode(0, as: String.self)
      if isFollowed(name) { copies[name] = try TableCopy(name, on: connection) }
    }
    return copies
  }

  /// Reads a table; nil when there is none.
  init?(_ name: String, on connection: BoutiqueConnection) throws {
    let list = try connection.queryOne(
      "SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", name)
    guard let list, list.values.first != .text("view") else { return nil }
    isVirtual = list.values.first == .text("virtual")
    let info = try connection.query(
      "SELECT name, pk, hidden FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid", name)
    columns = try info.map { try $0.decode(0, as: String.self) }
    generated = []
    var ranked: [(rank: Int64, name: String)] = []
    for (index, row) in info.enumerated() {
      if try row.decode(2, as: Int64.self) > 1 { generated.insert(index) }
      let rank = try row.decode(1, as: Int64.self)
      if rank > 0 { ranked.append((rank, columns[index])) }
    }
    if list.values.last == .integer(1) {
      keys = ranked.sorted { $0.rank < $1.rank }.map(\.name.quotedName)
    } else {
      let lowered = columns.map { $0.lowercased() }
      keys = [["_rowid_", "rowid", "oid"].first { !lowered.contains($0) } ?? "rowid"]
    }
    try connection.forEachRow("SELECT \(selection) FROM \(name.quotedName)") { take($0) }
  }

  private var selection: String {
    (keys + columns.map(\.quotedName)).joined(separator: ", ")
  }

  private mutating func take(_ row: Row) {
    rows[RowText.line(row.values.prefix(keys.count))] =
      row.values.dropFirst(keys.count).map(RowText.cell)
  }

  /// Reads one row again, of an update only the columns that it names.
  mutating func refresh(
    _ change: RowChange, leavingOut skipped: Int?, on connection: BoutiqueConnection
  ) throws {
    let key = RowText.line(change.key)
    let known = rows.removeValue(forKey: key)
    let condition = keys.map { "\($0) IS ?" }.joined(separator: " AND ")
    let row = try connection.query(
      "SELECT \(selection) FROM \(change.table.quotedName) WHERE \(condition)",
      arguments: change.key
    ).first
    guard let row else { return }
    let found = RowText.line(row.values.prefix(keys.count))
    var cells = row.values.dropFirst(keys.count).map(RowText.cell)
    if change.kind == .update, let known, known.count == cells.count {
      for position in cells.indices
      where !generated.contains(position)
        && (!change.columns.contains(position) || position == skipped)
      {
        cells[position] = known[position]
      }
    }
    rows[found] = cells
  }

  func state(isFull: Bool) -> CopyState {
    let lines = rows.map { "\($0)=\($1.joined(separator: "|"))" }
    return CopyState(hash: RowText.hash(rows: lines), rows: isFull ? lines : nil)
  }
}
