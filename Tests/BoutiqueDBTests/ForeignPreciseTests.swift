import BoutiqueDB
import Foundation
import SQLiteConnection
import TestDatabase
import Testing

/// Precise capture of commits by programs without this library; here a plain connection of our own SQLite.
@Suite struct ForeignPreciseTests {
  static let plan = CaptureTests.plan

  static var precise: BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    configuration.foreignCapture = .precise
    // The patience with which foreign commits are described is a tenth of it.
    configuration.writeLockTimeout = .seconds(600)
    return configuration
  }

  /// With a poll that never comes in a test's time.
  static var preciseWithoutPoll: BoutiqueConfiguration {
    var configuration = precise
    configuration.cdcPollInterval = .seconds(3600)
    return configuration
  }

  static func foreign(_ path: String, _ statements: String...) throws {
    let connection = try Connection(path: path)
    defer { connection.close() }
    connection.setBusyHandler { $0 < 10_000 }
    for statement in statements { try connection.execute(statement) }
  }

  private func foreign(_ path: String, _ statements: String...) throws {
    for statement in statements { try Self.foreign(path, statement) }
  }

  static func row(
    _ table: String, _ kind: RowChange.Kind, _ key: SQLValue..., columns: [Int] = []
  ) -> RowChange {
    RowChange(table: table, kind: kind, key: key, columns: columns)
  }

  /// The virtual table of the plan, which every foreign commit may have changed.
  static let uncaptured: Set<String> = [
    "note", "note_config", "note_content", "note_data", "note_docsize", "note_idx",
  ]

  @Test func `a foreign commit is described row by row, in its place`() async throws {
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (4, 'four', 4)") }
      try foreign(db.path, "INSERT INTO t VALUES (5, 'five', 5)")
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (6, 'six', 6)") }
      try foreign(db.path, "DELETE FROM t WHERE id > 4")
      var feed = db.changes(since: start).makeAsyncIterator()
      var seen: [BoutiqueChange] = []
      while seen.map(\.rows.count).reduce(0, +) < 5 {
        seen.append(try #require(try await feed.next()))
      }
      #expect(seen.allSatisfy { !$0.isEverything })
      #expect(
        seen.map(\.rows) == [
          [Self.row("t", .insert, 4)], [Self.row("t", .insert, 5)], [Self.row("t", .insert, 6)],
          [Self.row("t", .delete, 5), Self.row("t", .delete, 6)],
        ])
      #expect(seen.map(\.origin) == [.thisProcess, .foreign, .thisProcess, .foreign])
      #expect(seen[1].wholeTables == Self.uncaptured)
    }
  }

  @Test func `an observer has foreign commits described without any write of ours`() async throws {
    try await withTestDatabase(
      configuration: Self.preciseWithoutPoll, migrations: Self.plan
    ) { db, _ in
      let other = try await BoutiqueDB.open(path: db.path, configuration: Self.preciseWithoutPoll)
      var feed = db.changes(since: try await db.currentToken()).makeAsyncIterator()
      var values = other.observe { try $0.query("SELECT b FROM t WHERE id = 1").map(\.values) }
        .makeAsyncIterator()
      #expect(try await values.next() == [[1]])
      try foreign(db.path, "UPDATE t SET b = 77 WHERE id = 1")
      let change = try #require(try await feed.next())
      #expect(change.rows == [Self.row("t", .update, 1, columns: [2])])
      #expect(change.origin == .foreign)
      #expect(try await values.next() == [[77]])
      await other.close()
    }
  }

  @Test func `our own commits leave no notes, after the schema has changed too`() async throws {
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      let insert = "INSERT OR REPLACE INTO t VALUES (1, 'x', 0)"
      try await db.write { _ = try $0.execute(insert) }
      try await db.write { _ = try $0.execute("CREATE TABLE later (id INTEGER PRIMARY KEY)") }
      // From the cache, compiled anew.
      try await db.write { _ = try $0.execute(insert) }
      try await db.write { _ = try $0.execute("INSERT INTO later VALUES (1)") }
      try await db.write { _ = try $0.execute("UPDATE later SET id = 2") }
      try await db.write { _ = try $0.execute("DELETE FROM later") }
      let other = try await BoutiqueDB.open(path: db.path)
      try await other.write { _ = try $0.execute(insert) }
      await other.close()
      #expect(try await db.count(of: "SELECT * FROM boutiquedb_foreign") == 0)
    }
  }

  @Test func `a table that one of ours makes has its triggers at once`() async throws {
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      try await db.write { conn in
        _ = try conn.execute("CREATE TABLE later (id INTEGER PRIMARY KEY, v)")
      }
      let start = try await db.currentToken()
      try foreign(db.path, "INSERT INTO later VALUES (9, 'x')")
      var feed = db.changes(since: start).makeAsyncIterator()
      #expect(try await feed.next()?.rows == [Self.row("later", .insert, 9)])
    }
  }

  @Test func `a table that one of ours alters has fitting triggers at once`() async throws {
    let steps: [(String, String, [RowChange])] = [
      (
        "ALTER TABLE t ADD COLUMN c", "UPDATE t SET c = 1 WHERE id = 1",
        [Self.row("t", .update, 1, columns: [3])]
      ),
      (
        "ALTER TABLE t RENAME COLUMN c TO d", "UPDATE t SET d = 2 WHERE id = 1",
        [Self.row("t", .update, 1, columns: [3])]
      ),
      (
        "ALTER TABLE t DROP COLUMN b", "UPDATE t SET d = 3 WHERE id = 1",
        [Self.row("t", .update, 1, columns: [2])]
      ),
      (
        "ALTER TABLE t RENAME TO u", "UPDATE u SET d = 4 WHERE id = 1",
        [Self.row("u", .update, 1, columns: [2])]
      ),
    ]
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      for (statement, foreignStatement, expected) in steps {
        try await db.write { _ = try $0.execute(statement) }
        let start = try await db.currentToken()
        try foreign(db.path, foreignStatement)
        var feed = db.changes(since: start).makeAsyncIterator()
        #expect(try await feed.next()?.rows == expected, "after \(statement)")
      }
    }
  }

  @Test func `one of ours can drop a column that had a unique index`() async throws {
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      try await db.write { _ = try $0.execute("CREATE UNIQUE INDEX t_b ON t (b)") }
      try await db.write { conn in
        _ = try conn.execute("DROP INDEX t_b")
        _ = try conn.execute("ALTER TABLE t DROP COLUMN b")
      }
      let start = try await db.currentToken()
      try foreign(db.path, "REPLACE INTO t VALUES (9, 'one')")
      var feed = db.changes(since: start).makeAsyncIterator()
      #expect(
        try await feed.next()?.rows == [Self.row("t", .delete, 1), Self.row("t", .insert, 9)])
    }
  }

  @Test func `a foreign change of the schema is everything, and the triggers follow it`()
    async throws
  {
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try foreign(
        db.path, "CREATE TABLE made (id INTEGER PRIMARY KEY, v)", "INSERT INTO made VALUES (1, 'a')"
      )
      var feed = db.changes(since: start).makeAsyncIterator()
      #expect(try await feed.next()?.isEverything == true)
      try await db.write { _ = try $0.execute("INSERT INTO plain VALUES (1)") }
      while let change = try await feed.next(), change.tables != ["plain"] {
        #expect(change.isEverything)
      }
      try foreign(db.path, "INSERT INTO made VALUES (2, 'b')")
      #expect(try await feed.next()?.rows == [Self.row("made", .insert, 2)])
    }
  }

  @Test func `dropped triggers are noticed and made again`() async throws {
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      var feed = db.changes(since: try await db.currentToken()).makeAsyncIterator()
      try foreign(
        db.path, "DROP TRIGGER boutiquedb_foreign_insert_t", "INSERT INTO t VALUES (8, 'eight', 8)")
      #expect(try await feed.next()?.isEverything == true)
      try await db.write { _ = try $0.execute("INSERT INTO plain VALUES (1)") }
      while let change = try await feed.next(), change.tables != ["plain"] {
        #expect(change.isEverything)
      }
      try foreign(db.path, "INSERT INTO t VALUES (9, 'nine', 9)")
      #expect(try await feed.next()?.rows == [Self.row("t", .insert, 9)])
    }
  }

  /// Each of these would hide a change if notes were taken for all that happened.
  @Test(arguments: [
    ["PRAGMA user_version = 5", "INSERT INTO t VALUES (9, 'nine', 9), (10, 'ten', 10)"],
    ["PRAGMA application_id = 5", "INSERT INTO t VALUES (9, 'nine', 9), (10, 'ten', 10)"],
    ["INSERT INTO note VALUES ('only in a virtual table')", "INSERT INTO t VALUES (9, 'nine', 9)"],
    ["INSERT INTO t VALUES (9, 'nine', 9)", "DELETE FROM boutiquedb_foreign"],
    [
      "INSERT INTO t VALUES (8, 'eight', 8)", "DELETE FROM boutiquedb_foreign",
      "INSERT INTO t VALUES (9, 'nine', 9), (10, 'ten', 10), (11, 'eleven', 11)",
    ],
    ["INSERT INTO t VALUES (9, 'nine', 9)", "DELETE FROM boutiquedb_cdc"],
    ["VACUUM"], ["REINDEX"],
    ["INSERT INTO boutiquedb_foreign (kind, table_name, key1) VALUES (7, 't', 1)"],
    ["INSERT INTO boutiquedb_foreign (kind, table_name, key1) VALUES (1, 'nowhere', 1)"],
    ["UPDATE boutiquedb_meta SET value = 'x' WHERE key = 'foreign_proof'"],
  ])
  func `what the notes do not prove is everything`(_ statements: [String]) async throws {
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      // A note that is adopted already, so that numbers do not begin with one.
      try foreign(db.path, "INSERT INTO plain VALUES (1)")
      try await db.write { _ = try $0.execute("INSERT INTO plain VALUES (2)") }
      let start = try await db.currentToken()
      for statement in statements { try foreign(db.path, statement) }
      try await db.write { _ = try $0.execute("INSERT INTO plain VALUES (3)") }
      var feed = db.changes(since: start).makeAsyncIterator()
      #expect(try await feed.next()?.isEverything == true)
      while let change = try await feed.next(), change.tables != ["plain"] {
        #expect(change.isEverything)
      }
      // And the next one is precise again.
      try foreign(db.path, "INSERT INTO plain VALUES (4)")
      #expect(try await feed.next()?.tables.first == "plain")
    }
  }

  @Test func `more notes than are kept are everything, and do not pile up`() async throws {
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try foreign(
        db.path,
        """
        INSERT INTO plain
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70000)
          SELECT i FROM n
        """)
      #expect(try await db.count(of: "SELECT 1 FROM boutiquedb_foreign") <= 65_536)
      var feed = db.changes(since: start).makeAsyncIterator()
      #expect(try await feed.next()?.isEverything == true)
    }
  }

  @Test func `past the row limit a table counts as wholly changed`() async throws {
    var configuration = Self.precise
    configuration.captureRowLimit = 10
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try foreign(
        db.path,
        """
        INSERT INTO plain
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 11)
          SELECT i FROM n
        """)
      var feed = db.changes(since: start).makeAsyncIterator()
      #expect(try await feed.next()?.wholeTables == Self.uncaptured.union(["plain"]))
    }
  }

  @Test func `only the chosen tables have triggers, the others count as wholly changed`()
    async throws
  {
    var configuration = Self.precise
    configuration.preciseTables = ["t"]
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try foreign(db.path, "INSERT INTO t VALUES (9, 'nine', 9)")
      var feed = db.changes(since: start).makeAsyncIterator()
      let change = try #require(try await feed.next())
      #expect(change.rows == [Self.row("t", .insert, 9)])
      #expect(change.wholeTables.isSuperset(of: ["plain", "w", "parent", "child", "note"]))
      // Another process adds to the choice.
      var more = configuration
      more.preciseTables = ["plain"]
      let other = try await BoutiqueDB.open(path: db.path, configuration: more)
      try foreign(db.path, "INSERT INTO plain VALUES (1)")
      let next = try #require(try await feed.next())
      #expect(next.rows.map(\.table) == ["plain"])
      #expect(!next.wholeTables.contains("t"))
      await other.close()
    }
  }

  @Test func `a process with another configuration leaves the setting alone, a call takes it back`()
    async throws
  {
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      let other = try await BoutiqueDB.open(path: db.path)
      #expect(try await other.foreignCapture() == .precise)
      try foreign(db.path, "INSERT INTO t VALUES (9, 'nine', 9)")
      try await other.write { _ = try $0.execute("INSERT INTO plain VALUES (3)") }
      try await other.setForeignCapture(.coarse)
      #expect(try await db.foreignCapture() == .coarse)
      let triggers = "SELECT 1 FROM sqlite_schema WHERE name LIKE 'boutiquedb_foreign_%'"
      #expect(try await db.count(of: triggers) == 0)
      let start = try await db.currentToken()
      try foreign(db.path, "INSERT INTO t VALUES (10, 'ten', 10)")
      var feed = db.changes(since: start).makeAsyncIterator()
      #expect(try await feed.next()?.isEverything == true)
      try await other.setForeignCapture(.precise, tables: ["t"])
      #expect(try await db.count(of: triggers) > 0)
      await other.close()
    }
  }

  @Test func `a reader that cannot write hears of everything, and is not told twice`() async throws
  {
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      try await db.write { _ = try $0.execute("INSERT INTO plain VALUES (1)") }
      var configuration = BoutiqueConfiguration()
      configuration.readOnly = true
      let reader = try await BoutiqueDB.open(path: db.path, configuration: configuration)
      var feed = reader.changes(since: try await reader.currentToken()).makeAsyncIterator()
      try foreign(db.path, "INSERT INTO t VALUES (9, 'nine', 9)")
      #expect(try await feed.next()?.isEverything == true)
      try await db.write { _ = try $0.execute("INSERT INTO plain VALUES (2)") }
      #expect(try await feed.next()?.rows == [Self.row("t", .insert, 9)])
      #expect(try await feed.next()?.tables == ["plain"])
      await reader.close()
    }
  }

  @Test func `a foreign program that keeps the lock does not keep the news`() async throws {
    var configuration = Self.precise
    configuration.writeLockTimeout = .seconds(2)
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      try await db.write { _ = try $0.execute("INSERT INTO plain VALUES (1)") }
      var feed = db.changes(since: try await db.currentToken()).makeAsyncIterator()
      let holder = try Connection(path: db.path)
      try holder.execute("INSERT INTO t VALUES (9, 'nine', 9)")
      try holder.execute("BEGIN IMMEDIATE")
      #expect(try await feed.next()?.isEverything == true)
      try holder.execute("ROLLBACK")
      holder.close()
    }
  }

  @Test func `erase and vacuum leave a database whose triggers fit`() async throws {
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      try await db.vacuum()
      try await db.erase()
      try await db.write { _ = try $0.execute("INSERT INTO plain VALUES (1)") }
      let start = try await db.currentToken()
      try foreign(db.path, "REPLACE INTO t VALUES (4, 'one', 0)")
      var feed = db.changes(since: start).makeAsyncIterator()
      #expect(
        try await feed.next()?.rows == [Self.row("t", .delete, 1), Self.row("t", .insert, 4)])
    }
  }

  @Test func `a write that fails adopts nothing, and the next one does`() async throws {
    struct Planned: Error {}
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try foreign(db.path, "INSERT INTO t VALUES (9, 'nine', 9)")
      await #expect(throws: Planned.self) {
        try await db.write { conn in
          _ = try conn.execute("INSERT INTO plain VALUES (1)")
          throw Planned()
        }
      }
      #expect(try await db.currentToken() == start)
      try await db.write { _ in }
      var feed = db.changes(since: start).makeAsyncIterator()
      #expect(try await feed.next()?.rows == [Self.row("t", .insert, 9)])
      // Exactly once, and the chain is whole.
      try await db.write { _ = try $0.execute("INSERT INTO plain VALUES (2)") }
      #expect(try await feed.next()?.tables == ["plain"])
    }
  }

  @Test func `a temporary table of the same name confuses nobody`() async throws {
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      try await db.write { conn in
        _ = try conn.execute("CREATE TEMP TABLE t (x, y, z, UNIQUE (z))")
        _ = try conn.execute("ALTER TABLE main.t ADD COLUMN c")
      }
      let start = try await db.currentToken()
      try foreign(db.path, "REPLACE INTO t VALUES (9, 'one', 0, 0)")
      var feed = db.changes(since: start).makeAsyncIterator()
      #expect(
        try await feed.next()?.rows == [Self.row("t", .delete, 1), Self.row("t", .insert, 9)])
    }
  }

  @Test func `a database in memory has no foreign writers`() async throws {
    let db = try await BoutiqueDB.open(
      url: BoutiqueDB.inMemoryURL(), configuration: Self.precise, migrations: Self.plan)
    for id in 4..<8 {
      try await db.write { _ = try $0.execute("INSERT INTO t (id) VALUES (?)", id) }
    }
    #expect(try await db.count(of: "SELECT 1 FROM boutiquedb_cdc WHERE origin = 0") == 0)
    #expect(try await db.foreignCapture() == .coarse)
    await db.close()
  }

  @Test func `closures cannot touch the triggers`() async throws {
    try await withTestDatabase(configuration: Self.precise, migrations: Self.plan) { db, _ in
      for statement in [
        "DROP TRIGGER boutiquedb_foreign_insert_t", "DELETE FROM boutiquedb_foreign",
        "CREATE TRIGGER boutiquedb_foreign_mine AFTER INSERT ON t BEGIN SELECT 1; END",
      ] {
        await #expect {
          try await db.write { _ = try $0.execute(statement) }
        } throws: {
          if case BoutiqueError.statementRefused = $0 { true } else { false }
        }
      }
    }
  }

  @Test func `a session that goes on from the one before stays precise`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("again.db")
    var token: ChangeToken?
    for id in 10..<13 {
      let db = try await BoutiqueDB.open(
        path: path, configuration: Self.precise, migrations: Self.plan)
      try foreign(path, "INSERT INTO t (id) VALUES (\(id))")
      if let token {
        var feed = db.changes(since: token).makeAsyncIterator()
        #expect(try await feed.next()?.rows == [Self.row("t", .insert, .integer(Int64(id)))])
      } else {
        try await db.write { _ = try $0.execute("INSERT INTO plain VALUES (1)") }
      }
      token = try await db.currentToken()
      await db.close()
    }
    try await TestDatabaseCheck.isWhole(path: path)
  }

  @Test func `what was written while nobody was there is everything`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("gone.db")
    let first = try await BoutiqueDB.open(
      path: path, configuration: Self.precise, migrations: Self.plan)
    try await first.write { _ = try $0.execute("INSERT INTO plain VALUES (1)") }
    let token = try await first.currentToken()
    await first.close()
    try foreign(path, "INSERT INTO t VALUES (9, 'nine', 9)")
    let second = try await BoutiqueDB.open(path: path)
    var feed = second.changes(since: token).makeAsyncIterator()
    #expect(try await feed.next()?.isEverything == true)
    try foreign(path, "INSERT INTO t VALUES (10, 'ten', 10)")
    var change = try #require(try await feed.next())
    if change.isEverything { change = try #require(try await feed.next()) }
    #expect(change.rows == [Self.row("t", .insert, 10)])
    await second.close()
    try await TestDatabaseCheck.isWhole(path: path)
  }
}
