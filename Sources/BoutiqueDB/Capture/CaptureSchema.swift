import SQLiteConnection

/// The tables that the library keeps inside the database.
///
/// `boutiquedb_cdc` has one row per commit of a process that uses this library. Its changes are numbered
/// across commits without a gap: a commit owns the numbers `first … token`, one for each change and the
/// last one, the token, for the commit itself. So `first = previous token + 1`, and a row that does not
/// continue where the reader stopped shows that something was pruned or replaced.
///
/// `counter_before` and `counter_after` are the WAL index's change counter around the commit; a break in
/// that chain is a commit of a program that does not use this library. `continuity` says between which rows
/// the chain means something (see `Continuity.swift`).
enum CaptureSchema {
  static let commitTable = "boutiquedb_cdc"
  static let metaTable = "boutiquedb_meta"
  static let originTable = "boutiquedb_origin"
  static let migrationTable = "boutiquedb_migration"
  static let turso = "turso_cdc"

  static let internalTables: Set<String> = [commitTable, metaTable, originTable, migrationTable]

  /// The layout of the tables above.
  ///
  /// A file with another number is refused, not guessed at.
  static let version: Int64 = 1

  private static let statements = [
    """
    CREATE TABLE IF NOT EXISTS boutiquedb_meta (
      key TEXT PRIMARY KEY NOT NULL,
      value NOT NULL
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS boutiquedb_cdc (
      token INTEGER PRIMARY KEY AUTOINCREMENT,
      first INTEGER NOT NULL,
      time INTEGER NOT NULL,
      origin INTEGER NOT NULL,
      counter_before INTEGER,
      counter_after INTEGER,
      continuity INTEGER,
      tables TEXT NOT NULL,
      changes TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS boutiquedb_origin (
      id INTEGER PRIMARY KEY,
      pid INTEGER NOT NULL,
      label TEXT NOT NULL,
      started INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS boutiquedb_migration (
      position INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      applied INTEGER NOT NULL
    )
    """,
    """
    INSERT OR IGNORE INTO boutiquedb_meta (key, value)
      VALUES ('generation', lower(hex(randomblob(16)))), ('version', 1)
    """,
  ]

  /// What Turso's `turso_cdc` table shows, in its columns' names and order (version 2 of its
  /// layout).
  ///
  /// A table that changed as a whole is one row with a NULL id. Written with `json_each` alone:
  /// where the schema is not trusted SQLite refuses `json_extract` in a view.
  private static let tursoView = """
    CREATE VIEW IF NOT EXISTS turso_cdc AS
    SELECT c.first + j.key AS change_id, c.time / 1000 AS change_time, c.first AS change_txn_id,
           (SELECT value FROM json_each(j.value) WHERE key = 0) AS change_type,
           (SELECT value FROM json_each(c.tables)
             WHERE key = (SELECT value FROM json_each(j.value) WHERE key = 1)) AS table_name,
           (SELECT value FROM json_each(j.value) WHERE key = 2) AS id,
           NULL AS before, NULL AS after, NULL AS updates
      FROM boutiquedb_cdc AS c, json_each(c.changes) AS j
    UNION ALL
    SELECT token, time / 1000, first, 2, NULL, NULL, NULL, NULL, NULL FROM boutiquedb_cdc
    ORDER BY change_id
    """

  /// Makes what is missing.
  ///
  /// Runs inside a transaction.
  ///
  /// - Throws: ``BoutiqueError/databaseNewer(path:unknown:)`` for a later layout.
  static func install(on connection: Connection) throws {
    let hadLog = try exists(commitTable, on: connection)
    for statement in statements { try connection.execute(statement) }
    if !hadLog {
      try connection.execute(
        "UPDATE boutiquedb_meta SET value = lower(hex(randomblob(16))) WHERE key = 'generation'")
    }
    try checkVersion(on: connection)
    // A user's own object of that name stays theirs.
    if try !exists(turso, on: connection) { try connection.execute(tursoView) }
  }

  /// Throws ``BoutiqueError/databaseNewer(path:unknown:)`` for tables of another layout; passes a database
  /// without them.
  static func checkVersion(on connection: Connection) throws {
    guard try exists(metaTable, on: connection) else { return }
    let version = try connection.queryInt64(
      "SELECT value FROM boutiquedb_meta WHERE key = 'version'")
    guard let version, version != Self.version else { return }
    throw BoutiqueError.databaseNewer(
      path: connection.path, unknown: ["layout \(version) of the library's own tables"])
  }

  /// Whether the schema has something of a name, in either letter case.
  static func exists(_ name: String, on connection: Connection) throws -> Bool {
    let select = try connection.prepare("SELECT 1 FROM sqlite_schema WHERE lower(name) = ?1")
    defer { select.reset() }
    try select.bind(name, at: 1)
    return try select.step()
  }

  /// Whether the tables are there, so that opening need not write.
  static func isInstalled(on connection: Connection) throws -> Bool {
    try connection.queryInt64(
      """
      SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN
        ('boutiquedb_meta', 'boutiquedb_cdc', 'boutiquedb_origin', 'boutiquedb_migration')
      """) == 4
  }
}
