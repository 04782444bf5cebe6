import BoutiqueDB
import Foundation

/// Carries a table's changes into a file.
///
/// A change names rows; what is written is each row as it is now, read in one snapshot. So a change that is
/// delivered twice does no harm, and a row that changes again is written again.
struct TableMirror {
  private let db: BoutiqueDB
  private let table: String
  private var file: MirrorFile
  /// How a row is found: by its row id, or by the primary key of a table without row ids.
  private var keys: [String] = []
  private var columns: [String] = []
  private let consumer: String

  init(_ db: BoutiqueDB, table: String, file: MirrorFile) async throws {
    self.db = db
    self.table = table
    self.file = file
    consumer = "json-mirror of \(table) in \(file.path)"
    try await learnColumns()
  }

  private mutating func learnColumns() async throws {
    (keys, columns) = try await db.read { [table] connection in
      let columns = try connection.query(
        "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", table)
      let hasRowIDs =
        try connection.query("SELECT 1 FROM pragma_table_list WHERE name = ? AND wr = 0", table)
        .isEmpty == false
      let primary = try columns.filter { try $0.decode("pk", as: Int.self) > 0 }
        .sorted { try $0.decode("pk", as: Int.self) < $1.decode("pk", as: Int.self) }
      return (
        hasRowIDs ? ["rowid"] : try primary.map { try $0.decode("name", as: String.self) },
        try columns.map { try $0.decode("name", as: String.self) }
      )
    }
  }

  /// Copies the table if need be, then follows its changes.
  ///
  /// - Parameter untilIdle: whether to return when the present is reached.
  mutating func follow(untilIdle: Bool) async throws {
    // Before the copy: what is committed while it is made comes again as a change.
    let start = try await db.currentToken()
    let isKnown = try await db.consumers().contains { $0.name == consumer }
    if try !file.open() || !isKnown { try await copyAll() }
    for try await change in db.changes(since: start, consumer: consumer, following: !untilIdle) {
      if change.isEverything || change.wholeTables.contains(table) {
        try await copyAll()
      } else {
        try await copy(change.rows.filter { $0.table == table }.map(\.key))
      }
      // Only now: whatever happens before, the change comes again.
      try await change.acknowledge()
    }
  }

  private mutating func copy(_ changed: [[SQLValue]]) async throws {
    guard !changed.isEmpty else { return }
    let (sql, keys) = (
      select + " WHERE " + keys.map { quoted($0) + " IS ?" }.joined(separator: " AND "),
      Set(changed)
    )
    let (lines, count) = try await db.read { [self] connection -> ([String], Int) in
      let lines = try keys.map { key in
        try line(key, try connection.query(sql, arguments: key).first)
      }
      return (lines, try connection.query("SELECT count(*) FROM \(quoted(table))")[0].decode(0))
    }
    try file.append(lines)
    if file.isWasteful(rows: count) { try await copyAll() }
  }

  private mutating func copyAll() async throws {
    // A table that changed as a whole may have other columns now.
    try await learnColumns()
    let lines = try await db.read { [self] connection in
      try connection.query(select).map { row in
        try line(Array(row.values.prefix(keys.count)), row)
      }
    }
    try file.replace(with: lines)
  }

  /// The key's columns, then all.
  private var select: String {
    "SELECT " + (keys + columns).map(quoted).joined(separator: ", ") + " FROM \(quoted(table))"
  }

  private func quoted(_ name: String) -> String {
    // By scalars: a quote with a combining mark is another character, and the same quote for SQLite.
    let doubled = name.unicodeScalars.flatMap { $0 == "\"" ? [$0, $0] : [$0] }
    return "\"" + String(String.UnicodeScalarView(doubled)) + "\""
  }

  private func line(_ key: [SQLValue], _ row: Row?) throws -> String {
    var object: [String: Any] = ["key": key.map(json), "row": NSNull()]
    if let row {
      object["row"] = Dictionary(
        zip(columns, row.values.dropFirst(keys.count).map(json)), uniquingKeysWith: { $1 })
    }
    let data = try JSONSerialization.data(
      withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    return String(decoding: data, as: UTF8.self)
  }

  private func json(_ value: SQLValue) -> Any {
    switch value {
    case .null: NSNull()
    case .integer(let integer): integer
    case .real(let real): real.isFinite ? real : "\(real)"
    case .text(let text): text
    case .blob(let bytes): ["blob": Data(bytes).base64EncodedString()]
    }
  }
}
