import BoutiqueDB
import SQLiteConnection
import TestDatabase
import Testing

/// Files whose tables of ours have the first layout.
@Suite(.serialized) struct CaptureUpgradeTests {
  /// What the first layout was, with one commit in its log.
  static let first = """
    PRAGMA journal_mode = WAL;
    CREATE TABLE boutiquedb_meta (key TEXT PRIMARY KEY NOT NULL, value NOT NULL) WITHOUT ROWID;
    CREATE TABLE boutiquedb_cdc (
      token INTEGER PRIMARY KEY AUTOINCREMENT, first INTEGER NOT NULL, time INTEGER NOT NULL,
      origin INTEGER NOT NULL, counter_before INTEGER, counter_after INTEGER, continuity INTEGER,
      tables TEXT NOT NULL, changes TEXT NOT NULL);
    CREATE TABLE boutiquedb_origin (
      id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, label TEXT NOT NULL, started INTEGER NOT NULL);
    CREATE TABLE boutiquedb_migration (
      position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, applied INTEGER NOT NULL);
    INSERT INTO boutiquedb_meta VALUES ('generation', 'abc'), ('version', 1);
    CREATE VIEW turso_cdc AS
      SELECT c.first + j.key AS change_id, c.time / 1000 AS change_time, c.first AS change_txn_id,
        (SELECT value FROM json_each(j.value) WHERE key = 0) AS change_type,
        (SELECT value FROM json_each(c.tables)
          WHERE key = (SELECT value FROM json_each(j.value) WHERE key = 1)) AS table_name,
        (SELECT value FROM json_each(j.value) WHERE key = 2) AS id,
        NULL AS before, NULL AS after, NULL AS updates
      FROM boutiquedb_cdc AS c, json_each(c.changes) AS j
      UNION ALL
      SELECT token, time / 1000, first, 2, NULL, NULL, NULL, NULL, NULL FROM boutiquedb_cdc
      ORDER BY change_id;
    CREATE TABLE t (id INTEGER PRIMARY KEY, v);
    INSERT INTO t VALUES (1, 'old');
    INSERT INTO boutiquedb_origin VALUES (5, 1, 'first', 0);
    INSERT INTO boutiquedb_migration VALUES (1, 'schema', 0);
    INSERT INTO boutiquedb_cdc VALUES (2, 1, 1000, 5, NULL, NULL, NULL, '["t"]', '[[1,0,1]]');
    """

  @Test func `a file of the first layout is brought up to date when it is opened`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    _ = try await shell(path, Self.first)
    var configuration = BoutiqueConfiguration()
    configuration.captureModes = ["t": .full]
    let db = try await BoutiqueDB.open(
      path: path, configuration: configuration,
      migrations: plan("CREATE TABLE t (id INTEGER PRIMARY KEY, v)"))
    #expect(
      try await shell(path, "SELECT value FROM boutiquedb_meta WHERE key = 'version';") == ["2"])
    // The same history goes on.
    let token = try await db.currentToken()
    #expect(token.generation == "abc" && token.number >= 2)
    let change = try await db.captured("UPDATE t SET v = 'new'")
    #expect(change.rows.map { $0.before?["v"] } == ["old"])
    #expect(
      try await shell(
        path,
        """
        SELECT change_type, id, before IS NOT NULL FROM turso_cdc WHERE table_name = 't'
          ORDER BY change_id;
        """) == ["1|1|0", "0|1|1"])
    await db.close()
    try await TestDatabaseCheck.isWhole(path: path)
  }

  @Test func `a view of that name that is not ours survives the change of layout`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    _ = try await shell(path, Self.first)
    _ = try await shell(path, "DROP VIEW turso_cdc; CREATE VIEW turso_cdc AS SELECT 'mine' AS x;")
    let db = try await BoutiqueDB.open(path: path)
    let rows = try await db.read { try $0.query("SELECT x FROM turso_cdc") }
    #expect(rows.map { $0[0] } == ["mine"])
    await db.close()
  }

  @Test func `a reader of a file of the first layout needs no images`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    _ = try await shell(path, Self.first)
    var configuration = BoutiqueConfiguration()
    configuration.readOnly = true
    let db = try await BoutiqueDB.open(path: path, configuration: configuration)
    let start = ChangeToken(generation: "abc", number: 0)
    var feed = db.changes(since: start).makeAsyncIterator()
    var changes: [BoutiqueChange] = []
    while changes.last?.rows.isEmpty != false {
      changes.append(try #require(try await feed.next()))
    }
    #expect(changes.last?.rows.map(\.key) == [[1]])
    #expect(try await db.captureModes() == [:])
    await db.close()
  }

  @Test func `a later layout is refused`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    _ = try await shell(path, Self.first)
    _ = try await shell(path, "UPDATE boutiquedb_meta SET value = 3 WHERE key = 'version';")
    await #expect {
      _ = try await BoutiqueDB.open(path: path)
    } throws: { error in
      if case BoutiqueError.databaseNewer = error { true } else { false }
    }
  }
}
