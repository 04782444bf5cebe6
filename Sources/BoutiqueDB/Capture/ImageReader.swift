import SQLiteConnection
import StructuredQueries

/// The rows of one change as they are in the log.
struct RowImages: Hashable, Sendable {
  var before: Row?
  var after: Row?
  /// The columns that an update changed, with their new values.
  var updates: Row?
}

/// Reads the rows before and after for a reader of the change log, where there are any.
///
/// One object serves one snapshot. Column names are those of now: after ALTER TABLE older rows are decoded
/// by position.
final class ImageReader {
  /// The bytes of images past which a batch of commits ends.
  private static let budget = 8 << 20

  private let sqlite: Connection
  private var newest: Int64?
  private var names: [ByteExactString: Names] = [:]
  private(set) var bytesRead = 0

  /// The columns of a table that rows hold.
  fileprivate struct Names {
    var all: [String]
    var isVirtual: [Bool]
  }

  init(on sqlite: Connection) { self.sqlite = sqlite }

  /// Whether so much has been read that the rest had better wait.
  var isFull: Bool { bytesRead >= Self.budget }

  /// Returns the images of a commit's changes, by their places.
  func images(of change: ChangeSet) throws -> [Int: RowImages] {
    guard try change.first <= newestImage() else { return [:] }
    let select = try sqlite.prepare(
      """
      SELECT change_id, before, after, updates FROM boutiquedb_image
        WHERE change_id >= ?1 AND change_id < ?2 ORDER BY change_id
      """)
    defer { select.reset() }
    try select.bind(change.first, at: 1)
    try select.bind(change.token, at: 2)
    var images: [Int: RowImages] = [:]
    while try select.step() {
      let place = Int(select.int64(0) - change.first)
      guard change.summary.changes.indices.contains(place) else { continue }
      let names = try names(of: change.summary.tables[change.summary.changes[place].table])
      images[place] = RowImages(
        before: record(select, 1).map { row($0, names) },
        after: record(select, 2).map { row($0, names) },
        updates: record(select, 3).map { updates($0, names) })
    }
    return images
  }

  /// The newest change that has images; 0 without any, and in a file of a layout without them.
  private func newestImage() throws -> Int64 {
    if let newest { return newest }
    let found: Int64
    do {
      found = try sqlite.queryInt64("SELECT max(change_id) FROM boutiquedb_image") ?? 0
    } catch {
      guard error.code.primary == .error else { throw error }
      found = 0
    }
    newest = found
    return found
  }

  private func record(_ select: PreparedStatement, _ column: Int) -> [SQLiteValue]? {
    guard !select.isNull(column) else { return nil }
    return select.withBlob(column) { bytes in
      bytesRead += bytes.count
      return SQLiteRecord.decode(bytes)
    }
  }

  private func row(_ values: [SQLiteValue], _ names: Names) -> Row {
    let shown = values.indices.filter { !names.isVirtual($0) }
    return Row(
      names: ColumnNames(shown.map { names.name($0) }), values: shown.map { SQLValue(values[$0]) })
  }

  private func updates(_ values: [SQLiteValue], _ names: Names) -> Row {
    let count = values.count / 2
    let shown = (0..<count).filter { values[$0] == .integer(1) && !names.isVirtual($0) }
    return Row(
      names: ColumnNames(shown.map { names.name($0) }),
      values: shown.map { SQLValue(values[count + $0]) })
  }

  private func names(of table: String) throws -> Names {
    let key = ByteExactString(table)
    if let known = names[key] { return known }
    let select = try sqlite.prepare(
      "SELECT name, hidden FROM pragma_table_xinfo(?1, 'main') ORDER BY cid")
    defer { select.reset() }
    try select.bind(table, at: 1)
    var found = Names(all: [], isVirtual: [])
    while try select.step() {
      found.all.append(select.text(0))
      found.isVirtual.append(select.int64(1) == 2)
    }
    names[key] = found
    return found
  }
}

extension ImageReader.Names {
  /// A column that the table no longer has is called by its place, from 1.
  fileprivate func name(_ position: Int) -> String {
    all.indices.contains(position) ? all[position] : "column\(position + 1)"
  }

  fileprivate func isVirtual(_ position: Int) -> Bool {
    isVirtual.indices.contains(position) && isVirtual[position]
  }
}
