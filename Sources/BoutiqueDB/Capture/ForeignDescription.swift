import SQLiteConnection
import StructuredQueries

/// Reads the notes of foreign commits, if they are all there, and puts them into words.
struct ForeignDescription {
  private let schema: ForeignTable.Schema
  private let rowLimit: Int
  private let sqlite: Connection

  init(of schema: ForeignTable.Schema, rowLimit: Int, on sqlite: Connection) {
    self.schema = schema
    self.rowLimit = rowLimit
    self.sqlite = sqlite
  }

  /// Takes the notes away, and returns what they tell of that many commits; nil, and nothing is taken away,
  /// when some are missing.
  func adopt(commits: UInt32) throws -> CommitSummary? {
    guard Int32(bitPattern: commits) > 0 else { return nil }
    let adopted =
      try ForeignCapture.meta(ForeignCapture.adoptedKey, on: sqlite).flatMap { Int64($0) } ?? 0
    var notes = ForeignNotes(tables: schema.captured, rowLimit: rowLimit)
    let select = try sqlite.prepare(
      """
      SELECT id, kind, table_name, columns, key1, key2, key3, key4, key5, key6
        FROM boutiquedb_foreign ORDER BY id
      """)
    defer { select.reset() }
    // The last adopted note is still there, unless somebody emptied the table.
    if adopted > 0 {
      guard try select.step(), select.int64(0) == adopted else { return nil }
    }
    var last = adopted
    while try select.step() {
      guard select.int64(0) == last + 1 else { return nil }
      last += 1
      let isOurs = notes.add(
        kind: select.int64(1), table: select.text(2),
        columns: select.isNull(3) ? nil : select.text(3),
        key: (4..<10).map { select.value($0) })
      guard isOurs else { return nil }
    }
    select.reset()
    guard last - adopted >= Int64(commits) else { return nil }
    let summary = try notes.summary(uncaptured: schema.uncaptured, isThere: isThere)
    try sqlite.execute(
      "DELETE FROM boutiquedb_foreign WHERE id < (SELECT max(id) FROM boutiquedb_foreign)")
    try ForeignCapture.setMeta(ForeignCapture.adoptedKey, String(last), on: sqlite)
    return summary
  }

  private func isThere(_ table: ForeignTable, _ key: RowKey) throws -> Bool {
    var conditions: [String]
    var values: [SQLiteValue]
    switch (table.detail, key) {
    case (.rowID(let name), .rowID(let id)):
      conditions = ["\(quoted(identifier: name)) = ?1"]
      values = [.integer(id)]
    case (.keyColumns(let names), .columns(let key)):
      // Once by the index and its collation, once by what it is.
      conditions = names.enumerated().flatMap { index, name in
        let column = quoted(identifier: name)
        return ["\(column) = ?\(index + 1)", "\(column) = ?\(index + 1) COLLATE BINARY"]
      }
      values = key
    default: return true
    }
    let select = try sqlite.prepare(
      "SELECT 1 FROM main.\(quoted(identifier: table.name)) WHERE "
        + conditions.joined(separator: " AND "))
    defer { select.reset() }
    for (index, value) in values.enumerated() {
      try select.bind(value, at: Int32(clamping: index + 1))
    }
    return try select.step()
  }
}
