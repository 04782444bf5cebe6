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
  static let imageTable = "boutiquedb_image"
  static let modeTable = "boutiquedb_capture"
  static let consumerTable = "boutiquedb_consumer"
  static let foreignTable = "boutiquedb_foreign"
  static let turso = "turso_cdc"
  static let changeView = "boutiquedb_change"
  /// Keeps the newest row of the log from being deleted (see `NewestRow.swift`).
  static let keepTrigger = "boutiquedb_keep"
  /// The views over the log.
  static let views: Set<String> = [turso, changeView]
  /// What the log calls the schema's own table.
  static let schemaTable = "sqlite_schema"

  static let internalTables: Set<String> = [
    commitTable, metaTable, originTable, migrationTable, imageTable, modeTable, consumerTable,
    foreignTable, SessionTable.name,
  ]

  /// The layout of the tables above.
  ///
  /// A file with another number is refused, not guessed at.
  static let version: Int64 = 2

  /// What triggers note of commits by programs without this library, until a process of ours moves it
  /// into the log (see `ForeignTriggers`).
  ///
  /// No constraints, which could fail a foreign statement, and no types, so that keys stay what they are.
  private static let foreignTableStatement = """
    CREATE TABLE IF NOT EXISTS boutiquedb_foreign (
      id INTEGER PRIMARY KEY,
      kind, table_name, columns, key1, key2, key3, key4, key5, key6
    )
    """

  private static let statements = [
    """
    CREATE TABLE IF NOT EXISTS boutiquedb_meta (
      key TEXT PRIMARY KEY NOT NULL,
      value NOT NULL
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS boutiquedb_cdc (
      token INTEGER PRIMARY KEY,
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
    // AUTOINCREMENT, so that there is a sqlite_sequence: former versions of the library ask it for the
    // newest token, and would find no log at all without it.
    """
    CREATE TABLE IF NOT EXISTS boutiquedb_migration (
      position INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      applied INTEGER NOT NULL
    )
    """,
    // The rows before and after, in SQLite's record format, of changes in tables that keep them.
    """
    CREATE TABLE IF NOT EXISTS boutiquedb_image (
      change_id INTEGER PRIMARY KEY,
      before BLOB,
      after BLOB,
      updates BLOB
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS boutiquedb_capture (
      table_name TEXT PRIMARY KEY NOT NULL,
      mode TEXT NOT NULL
    ) WITHOUT ROWID
    """,
    ConsumerTable.statement,
    SessionTable.statement,
    foreignTableStatement,
    """
    INSERT OR IGNORE INTO boutiquedb_meta (key, value)
      VALUES ('generation', lower(hex(randomblob(16)))), ('version', 2)
    """,
  ]

  /// One row for each change, and one for each commit, with the commit's token in front.
  ///
  /// `WHERE token > …` finds its rows by the log's key; a condition on `change_id`, which is computed, cannot.
  /// A table that changed as a whole is one row with a NULL id. Written with `json_each` alone:
  /// where the schema is not trusted SQLite refuses `json_extract` in a view.
  private static let changeViewSQL = """
    CREATE VIEW boutiquedb_change AS
    SELECT c.token AS token, c.first + j.key AS change_id, c.time / 1000 AS change_time,
           c.first AS change_txn_id,
           (SELECT value FROM json_each(j.value) WHERE key = 0) AS change_type,
           (SELECT value FROM json_each(c.tables)
             WHERE key = (SELECT value FROM json_each(j.value) WHERE key = 1)) AS table_name,
           (SELECT value FROM json_each(j.value) WHERE key = 2) AS id,
           i.before, i.after, i.updates
      FROM boutiquedb_cdc AS c, json_each(c.changes) AS j
      LEFT JOIN boutiquedb_image AS i ON i.change_id = c.first + j.key
    UNION ALL
    SELECT token, token, time / 1000, first, 2, NULL, NULL, NULL, NULL, NULL FROM boutiquedb_cdc
    """

  /// What Turso's `turso_cdc` table shows, in its columns' names and order (version 2 of its
  /// layout).
  private static let tursoViewSQL = """
    CREATE VIEW turso_cdc AS
    SELECT change_id, change_time, change_txn_id, change_type, table_name, id, before, after, updates
      FROM boutiquedb_change
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
    try upgradeFromVersion1(on: connection)
    if !hadLog { try beginGeneration(on: connection) }
    try installKeepTrigger(on: connection)
    try checkVersion(on: connection)
    // A user's own object of such a name stays theirs.
    if try !exists(changeView, on: connection) {
      try connection.execute(changeViewSQL)
      if try !exists(turso, on: connection) { try connection.execute(tursoViewSQL) }
    }
  }

  /// Makes the table that the triggers for foreign writers insert into, if it is missing.
  static func installForeignTable(on connection: Connection) throws(SQLiteError) {
    try connection.execute(foreignTableStatement)
  }

  /// Version 2 has more tables, and a view that shows them.
  private static func upgradeFromVersion1(on connection: Connection) throws {
    let isOld = try connection.queryInt64(
      "SELECT 1 FROM boutiquedb_meta WHERE key = 'version' AND value = 1")
    guard isOld != nil else { return }
    try connection.execute("UPDATE boutiquedb_meta SET value = 2 WHERE key = 'version'")
    let isOurs = try connection.queryInt64(
      """
      SELECT 1 FROM sqlite_schema WHERE type = 'view' AND name = 'turso_cdc'
        AND sql LIKE '%boutiquedb_cdc%'
      """)
    if isOurs != nil { try connection.execute("DROP VIEW turso_cdc") }
  }

  /// Throws ``BoutiqueError/databaseNewer(path:unknown:)`` for tables of another layout; passes a database
  /// without them.
  static func checkVersion(on connection: Connection) throws {
    guard try exists(metaTable, on: connection) else { return }
    let version = try connection.queryInt64(
      "SELECT value FROM boutiquedb_meta WHERE key = 'version'")
    guard let version, version > Self.version else { return }
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
        ('boutiquedb_meta', 'boutiquedb_cdc', 'boutiquedb_origin', 'boutiquedb_migration',
         'boutiquedb_image', 'boutiquedb_capture', 'boutiquedb_consumer', 'boutiquedb_foreign',
         'boutiquedb_session')
      """) == 9 && connection.queryInt64("SELECT \(needsKeepTrigger)") == 0
  }
}

extension CaptureSchema {
  /// Whether a statement can fail and keep a part of what it did, because a trigger or a table says so.
  static func mayFailWithoutUndoing(_ connection: Connection) -> Bool {
    // Where that cannot be told, it may.
    (try? connection.queryInt64(
      """
      SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE sql LIKE '%fail%')
        OR EXISTS (SELECT 1 FROM sqlite_temp_schema WHERE sql LIKE '%fail%')
      """)) != 0
  }
}
