import SQLiteConnection

/// What the database keeps of a durable consumer.
struct ConsumerRecord: Sendable {
  var name: String
  /// The number of the place in the lock file whose owner consumes under this name.
  var place: Int64
  /// Up to where it has acknowledged.
  var position: LogPosition
  /// When it last began or acknowledged, in milliseconds since 1970.
  var seen: Int64
  /// How long it may stay away, in milliseconds.
  var expiry: Int64
  /// Whether it stayed away longer, so that records are not kept for it.
  var isExpired: Bool
  /// A random number of the session that last began; only it may acknowledge.
  var owner: Int64
  /// The process of that session.
  var pid: Int32
  /// The label of that process.
  var label: String
}

/// The table of durable consumers.
///
/// All that writes runs inside a write transaction of the library's own.
enum ConsumerTable {
  static let statement = """
    CREATE TABLE IF NOT EXISTS boutiquedb_consumer (
      name TEXT PRIMARY KEY NOT NULL,
      place INTEGER NOT NULL UNIQUE,
      generation TEXT NOT NULL,
      token INTEGER NOT NULL,
      stamp INTEGER NOT NULL,
      counter INTEGER,
      continuity INTEGER,
      seen INTEGER NOT NULL,
      expiry INTEGER NOT NULL,
      expired INTEGER NOT NULL DEFAULT 0,
      owner INTEGER NOT NULL,
      pid INTEGER NOT NULL,
      label TEXT NOT NULL
    ) WITHOUT ROWID
    """

  private static let columns = """
    name, place, generation, token, stamp, counter, continuity, seen, expiry, expired, owner, pid, label
    """

  static func all(on sqlite: Connection) throws -> [ConsumerRecord] {
    guard try CaptureSchema.exists(CaptureSchema.consumerTable, on: sqlite) else { return [] }
    let select = try sqlite.prepare("SELECT \(columns) FROM boutiquedb_consumer ORDER BY name")
    defer { select.reset() }
    var records: [ConsumerRecord] = []
    while try select.step() { records.append(record(of: select)) }
    return records
  }

  static func find(_ name: String, on sqlite: Connection) throws -> ConsumerRecord? {
    let select = try sqlite.prepare("SELECT \(columns) FROM boutiquedb_consumer WHERE name = ?1")
    defer { select.reset() }
    try select.bind(name, at: 1)
    return try select.step() ? record(of: select) : nil
  }

  /// Returns the lowest place that no consumer has.
  static func freePlace(on sqlite: Connection) throws -> Int64 {
    try sqlite.queryInt64(
      """
      SELECT coalesce(min(p), 0) FROM (
        SELECT 0 AS p UNION ALL SELECT place + 1 FROM boutiquedb_consumer)
        WHERE p NOT IN (SELECT place FROM boutiquedb_consumer)
      """) ?? 0
  }

  /// Writes a consumer's record, new or instead of the one that there was.
  static func put(_ record: ConsumerRecord, on sqlite: Connection) throws {
    let insert = try sqlite.prepare(
      """
      INSERT OR REPLACE INTO boutiquedb_consumer (\(columns))
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
      """)
    defer { insert.reset() }
    try insert.bind(record.name, at: 1)
    try insert.bind(record.place, at: 2)
    try insert.bind(record.position.generation, at: 3)
    try insert.bind(record.position.token, at: 4)
    try insert.bind(record.position.stamp, at: 5)
    if let counter = record.position.counter {
      try insert.bind(Int64(counter), at: 6)
    } else {
      try insert.bindNull(at: 6)
    }
    if let continuity = record.position.continuity {
      try insert.bind(continuity, at: 7)
    } else {
      try insert.bindNull(at: 7)
    }
    try insert.bind(record.seen, at: 8)
    try insert.bind(record.expiry, at: 9)
    try insert.bind(Int64(record.isExpired ? 1 : 0), at: 10)
    try insert.bind(record.owner, at: 11)
    try insert.bind(Int64(record.pid), at: 12)
    try insert.bind(record.label, at: 13)
    try insert.run()
  }

  /// Notes that a consumer is there.
  static func noteSeen(_ name: String, at time: Int64, on sqlite: Connection) throws {
    try run("UPDATE boutiquedb_consumer SET seen = ?2 WHERE name = ?1", name, time, on: sqlite)
  }

  /// Marks a consumer as one for which no records are kept.
  static func expire(_ name: String, on sqlite: Connection) throws {
    try run("UPDATE boutiquedb_consumer SET expired = 1 WHERE name = ?1", name, on: sqlite)
  }

  static func remove(_ name: String, on sqlite: Connection) throws {
    try run("DELETE FROM boutiquedb_consumer WHERE name = ?1", name, on: sqlite)
  }

  private static func run(
    _ sql: String, _ name: String, _ number: Int64? = nil, on sqlite: Connection
  ) throws {
    let statement = try sqlite.prepare(sql)
    defer { statement.reset() }
    try statement.bind(name, at: 1)
    if let number { try statement.bind(number, at: 2) }
    try statement.run()
  }

  private static func record(of select: PreparedStatement) -> ConsumerRecord {
    ConsumerRecord(
      name: select.text(0), place: select.int64(1),
      position: LogPosition(
        generation: select.text(2), token: select.int64(3), stamp: select.int64(4),
        counter: select.counter(5), continuity: select.number(6), isLive: false),
      seen: select.int64(7), expiry: select.int64(8), isExpired: select.int64(9) != 0,
      owner: select.int64(10), pid: Int32(truncatingIfNeeded: select.int64(11)),
      label: select.text(12))
  }
}
