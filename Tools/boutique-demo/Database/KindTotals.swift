import BoutiqueDB

/// One row of the live table.
struct KindTotal: Hashable, Sendable, Codable {
  var kind: String
  var files: Int64
  var bytes: Int64
  var largestSize: Int64
  /// Of several equally large files, the one whose path is first in SQLite's order.
  var largest: FilePath
}

/// What the reporter shows: the files by kind.
enum KindTotals {
  /// Reads the totals, in the order of the kinds' names.
  static func fetch(_ connection: BoutiqueConnection) throws -> [KindTotal] {
    try connection.query(
      """
      SELECT kind, files, bytes, largest,
        (SELECT path FROM file WHERE kind = totals.kind AND size = totals.largest
         ORDER BY path LIMIT 1) AS path
      FROM (
        SELECT kind, count(*) AS files, sum(size) AS bytes, max(size) AS largest
        FROM file GROUP BY kind
      ) AS totals
      ORDER BY kind
      """
    ).map { row in
      KindTotal(
        kind: try row.decode("kind"), files: try row.decode("files"),
        bytes: try row.decode("bytes"), largestSize: try row.decode("largest"),
        largest: FilePath(row["path"] ?? .null) ?? FilePath([]))
    }
  }

  /// Works out the same totals from records; the yardstick for what came through the database.
  static func of(_ records: some Sequence<FileRecord>) -> [KindTotal] {
    var totals: [String: KindTotal] = [:]
    for record in records {
      guard var total = totals[record.kind] else {
        totals[record.kind] = KindTotal(
          kind: record.kind, files: 1, bytes: record.size, largestSize: record.size,
          largest: record.path)
        continue
      }
      total.files += 1
      total.bytes += record.size
      if record.size > total.largestSize
        || (record.size == total.largestSize && record.path.isBefore(total.largest))
      {
        total.largestSize = record.size
        total.largest = record.path
      }
      totals[record.kind] = total
    }
    return totals.values.sorted { Array($0.kind.utf8).lexicographicallyPrecedes($1.kind.utf8) }
  }
}

extension FilePath {
  /// SQLite's order: texts before blobs, each by its bytes.
  fileprivate func isBefore(_ other: FilePath) -> Bool {
    switch (sqlValue, other.sqlValue) {
    case (.text, .blob): true
    case (.blob, .text): false
    default: bytes.lexicographicallyPrecedes(other.bytes)
    }
  }
}
