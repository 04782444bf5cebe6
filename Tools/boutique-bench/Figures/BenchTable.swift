import SQLiteConnection

/// The table that all measurements write: an integer key, two integers, a text and a real.
enum BenchTable {
  /// Makes the database with plain SQLite; the library adds what is its own when it opens the file.
  static func create(at path: String, rows: Int = 0) throws {
    let plain = try PlainDatabase(path: path, synchronous: .normal)
    try plain.connection.execute(
      """
      CREATE TABLE item (
        id INTEGER PRIMARY KEY, worker INTEGER NOT NULL, sequence INTEGER NOT NULL,
        body TEXT NOT NULL, amount REAL NOT NULL)
      """)
    try plain.connection.execute(
      """
      CREATE TABLE log (
        token INTEGER PRIMARY KEY, first INTEGER, time INTEGER, origin INTEGER,
        counter_before INTEGER, counter_after INTEGER, continuity INTEGER, tables TEXT, changes TEXT)
      """)
    if rows > 0 {
      try plain.connection.execute("BEGIN IMMEDIATE")
      for row in 0..<rows { try plain.insert(worker: 0, sequence: row) }
      try plain.connection.execute("COMMIT")
    }
    plain.connection.checkpointsOnClose = true
    plain.connection.close()
  }

  /// The statement that all measurements insert with; the key is SQLite's to choose.
  static let insert = "INSERT INTO item (worker, sequence, body, amount) VALUES (?, ?, ?, ?)"

  /// Returns the text of a row, which is the same for all who write it.
  static func body(_ sequence: Int) -> String { "the content of a row, number \(sequence)" }

  /// Throws unless the table has exactly so many rows and SQLite finds the file whole.
  static func check(at path: String, rows: Int) throws {
    let plain = try PlainDatabase(path: path, synchronous: .normal)
    let found = try plain.connection.queryInt64("SELECT count(*) FROM item") ?? 0
    guard found == Int64(rows) else {
      throw BenchFailure("\(found) rows are there after \(rows) were committed")
    }
    let verdict = try plain.connection.queryText("PRAGMA integrity_check") ?? ""
    guard verdict == "ok" else { throw BenchFailure("integrity_check says: \(verdict)") }
  }
}

/// What a commit waits for; a name of `PRAGMA synchronous`.
enum SynchronousMode: String, CaseIterable, Codable, Sendable {
  case normal
  case full
}

/// A database as programs without the library have it: WAL, automatic checkpoints, `busy_timeout`.
///
/// Used by one thread.
struct PlainDatabase {
  let connection: Connection

  /// Opens the file or makes it.
  init(path: String, synchronous: SynchronousMode, busySeconds: Int = 600) throws {
    var options = ConnectionOptions()
    options.access = .readWriteCreate
    connection = try Connection(path: path, options: options)
    for pragma in [
      // First, since the next one may have to wait for another process that recovers the log.
      "busy_timeout = \(busySeconds * 1000)", "journal_mode = WAL",
      "synchronous = \(synchronous.rawValue)", "wal_autocheckpoint = 1000",
    ] {
      let statement = try connection.prepare("PRAGMA \(pragma)")
      try statement.run()
    }
  }

  /// Inserts one row into the table of all measurements.
  func insert(worker: Int, sequence: Int) throws(SQLiteError) {
    let statement = try connection.prepare(BenchTable.insert)
    try statement.bind(Int64(worker), at: 1)
    try statement.bind(Int64(sequence), at: 2)
    try statement.bind(BenchTable.body(sequence), at: 3)
    try statement.bind(Double(sequence), at: 4)
    try statement.run()
  }

  /// Inserts a row with content like that of the library's change log.
  func insertLogRow(sequence: Int) throws(SQLiteError) {
    let statement = try connection.prepare(
      """
      INSERT INTO log
        (first, time, origin, counter_before, counter_after, continuity, tables, changes)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """)
    let number = Int64(sequence)
    let large: Int64 = 1 << 60
    for (index, value) in [number, large, large, number, number + 1, large].enumerated() {
      try statement.bind(value, at: Int32(index + 1))
    }
    try statement.bind(#"["item"]"#, at: 7)
    try statement.bind(#"[[0,"i",\#(sequence)]]"#, at: 8)
    try statement.run()
  }
}
