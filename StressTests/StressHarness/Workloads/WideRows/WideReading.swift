import BoutiqueDB

/// A pair's rows in one snapshot.
struct WidePair: Sendable, Equatable {
  var pair: Int64
  var version: Int64
  var rows: [WideContent.Seen]

  init(_ pair: Int64, _ connection: BoutiqueConnection) throws {
    self.pair = pair
    version = try connection.queryOne("SELECT version FROM pair WHERE id = ?", pair)?.decode(0) ?? 0
    rows = try connection.query(
      "SELECT * FROM wide WHERE id IN (?, ?) ORDER BY id",
      arguments: WideRowsWorkload.keys(pair)
    ).map(WideContent.verify)
  }

  /// What is wrong with it, given an earlier one; nil when nothing is.
  func problem(after before: WidePair? = nil) -> String? {
    if let before, before.version > version {
      return "pair \(pair) went back from \(before.version) to \(version)"
    }
    return WidePair.problem(pair, version, rows)
  }

  /// Both rows are there or none is; they have the same versions, the newest of which is the pair's.
  static func problem(
    _ pair: Int64, _ version: Int64, _ rows: [WideContent.Seen]
  ) -> String? {
    if rows.isEmpty { return nil }
    guard rows.count == 2, rows[0].a == rows[1].a, rows[0].b == rows[1].b else {
      return "half a transaction: pair \(pair) is \(rows)"
    }
    if max(rows[0].a, rows[0].b) != version {
      return "pair \(pair) has version \(version), its rows are \(rows)"
    }
    return nil
  }
}

/// The bodies of a half of a row, as the query language reads them.
@Table("wide") struct WideBody: Sendable, Equatable {
  let id: Int64
  @Column("a_version") var version: Int64
  @Column("a_body") var body: [UInt8]
}

/// The ways in which rows are read; each throws ``TornRow`` for what must not be.
enum WideReading {
  static func read(_ way: Int, _ pair: Int64, _ connection: BoutiqueConnection) throws {
    switch way {
    case 0:
      if let problem = try WidePair(pair, connection).problem() { throw TornRow(text: problem) }
    case 1: try readAll(connection)
    case 2:
      let cursor = try WideBody.order(by: \.id).fetchCursor(connection)
      while let row = try cursor.next() { try verify(row) }
    default:
      // A part of the columns, streamed: the others' pages are not touched.
      try connection.forEachRow(
        "SELECT id, a_version, b_version, a0, b1, b_body, checksum FROM wide ORDER BY b2"
      ) { _ = try WideContent.verify($0) }
    }
  }

  /// Streams all rows, and compares what belongs together.
  static func readAll(_ connection: BoutiqueConnection) throws {
    var versions: [Int64: Int64] = [:]
    for row in try connection.query("SELECT id, version FROM pair") {
      versions[try row.decode(0)] = try row.decode(1)
    }
    var rows: [Int64: [WideContent.Seen]] = [:]
    try connection.forEachRow("SELECT * FROM wide ORDER BY id") {
      let seen = try WideContent.verify($0)
      rows[seen.key / 2, default: []].append(seen)
    }
    for (pair, version) in versions {
      if let problem = WidePair.problem(pair, version, rows[pair] ?? []) {
        throw TornRow(text: problem)
      }
    }
  }

  private static func verify(_ row: WideBody) throws {
    guard row.body == WideContent.body(WideContent.seed(row.id, row.version, .a)) else {
      throw TornRow(text: "the body of row \(row.id) is not that of version \(row.version)")
    }
  }
}
