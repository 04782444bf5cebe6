import BoutiqueDB
import SQLiteConnection
import TestDatabase
import Testing

@Suite struct MigrationTests {
  static func create(_ table: String) -> BoutiqueMigration {
    BoutiqueMigration("create_\(table)") { conn in
      try conn.execute("CREATE TABLE \(table) (id INTEGER PRIMARY KEY)")
    }
  }

  private func expect(
    _ plan: BoutiqueMigrationPlan, on path: String, fails isExpected: (BoutiqueError) -> Bool,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    do {
      let db = try await BoutiqueDB.open(path: path, migrations: plan)
      await db.close()
      Issue.record("opened", sourceLocation: sourceLocation)
    } catch let error as BoutiqueError where isExpected(error) {
    } catch {
      Issue.record("\(error)", sourceLocation: sourceLocation)
    }
  }

  @Test func `a plan is applied once and goes on where it stopped`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("m.db")
    for tables in [["a"], ["a"], ["a", "b", "c"]] {
      let db = try await BoutiqueDB.open(
        path: path, migrations: BoutiqueMigrationPlan(tables.map(Self.create)))
      #expect(try await db.status().migrations == tables.map { "create_\($0)" })
      await db.close()
    }
  }

  @Test func `a failing migration leaves nothing of itself and keeps the ones before`() async throws
  {
    struct Stop: Error {}
    let directory = try TestDirectory()
    let path = directory.file("m.db")
    let failing = BoutiqueMigration("half") { conn in
      try conn.execute("CREATE TABLE half (id INTEGER PRIMARY KEY)")
      throw Stop()
    }
    await expect(BoutiqueMigrationPlan([Self.create("a"), failing]), on: path) {
      if case .migrationFailed("half", _) = $0 { true } else { false }
    }
    let db = try await BoutiqueDB.open(
      path: path, migrations: BoutiqueMigrationPlan([Self.create("a"), Self.create("half")]))
    #expect(try await db.status().migrations == ["create_a", "create_half"])
    await db.close()
  }

  @Test func `the schema is altered outside a plan, whole tables are rebuilt under foreign keys`()
    async throws
  {
    let directory = try TestDirectory()
    let db = try await BoutiqueDB.open(path: directory.file("m.db"))
    try await db.write { conn in
      try conn.executeScript(
        """
        CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES parent ON DELETE CASCADE);
        INSERT INTO parent VALUES (1, 'a'); INSERT INTO child VALUES (10, 1);
        """)
    }
    let other = try await BoutiqueDB.open(path: directory.file("m.db"))
    let start = try await other.currentToken()
    var feed = other.changes(since: start).makeAsyncIterator()
    let current = try await db.alterSchema("rebuild parent") { conn in
      try conn.executeScript(
        """
        CREATE TABLE parent_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT '');
        INSERT INTO parent_new SELECT * FROM parent;
        DROP TABLE parent;
        ALTER TABLE parent_new RENAME TO parent;
        """)
      return try conn.query("SELECT count(*) FROM child")[0][0]
    }
    #expect(current == .integer(1))
    let change = try await feed.next(isolation: #isolation)
    #expect(change?.tables.contains("parent") == true || change?.isEverything == true)
    // Afterwards they are enforced again.
    try await db.write { try $0.execute("DELETE FROM parent") }
    let children = try await db.read { try $0.query("SELECT * FROM child").count }
    #expect(children == 0)
    await other.close()
    await db.close()
  }

  @Test func `an alteration that breaks a foreign key or throws leaves nothing behind`()
    async throws
  {
    struct Stop: Error {}
    let directory = try TestDirectory()
    let db = try await BoutiqueDB.open(path: directory.file("m.db"))
    try await db.write { conn in
      try conn.executeScript(
        """
        CREATE TABLE parent (id INTEGER PRIMARY KEY);
        CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent);
        INSERT INTO parent VALUES (1); INSERT INTO child VALUES (10, 1);
        """)
    }
    do {
      try await db.alterSchema("drop parent's rows") { conn in
        try conn.execute("DELETE FROM parent")
      }
      Issue.record("altered")
    } catch BoutiqueError.migrationFailed("drop parent's rows", let message) {
      #expect(message.contains("child"))
    }
    await #expect(throws: Stop.self) {
      try await db.alterSchema("stop") { conn in
        try conn.execute("ALTER TABLE parent ADD COLUMN name TEXT")
        throw Stop()
      }
    }
    let columns = try await db.read { try $0.query("SELECT * FROM parent").map(\.columns) }
    #expect(columns == [["id"]])
    await db.close()
  }

  @Test func `a changed order, a removed and an unknown newer migration are told apart`()
    async throws
  {
    let directory = try TestDirectory()
    let path = directory.file("m.db")
    let (a, b, c) = (Self.create("a"), Self.create("b"), Self.create("c"))
    try await BoutiqueDB.open(path: path, migrations: BoutiqueMigrationPlan([a, b])).close()
    await expect(BoutiqueMigrationPlan([b, a]), on: path) {
      if case .migrationOrder(_, let text) = $0 { text.contains("another place") } else { false }
    }
    await expect(BoutiqueMigrationPlan([b, c]), on: path) {
      if case .migrationOrder(_, let text) = $0 { text.contains("no longer") } else { false }
    }
    await expect(BoutiqueMigrationPlan([a]), on: path) {
      if case .databaseNewer(_, ["create_b"]) = $0 { true } else { false }
    }
    await expect(BoutiqueMigrationPlan([a, b, a]), on: path) {
      if case .invalidConfiguration = $0 { true } else { false }
    }
    try await BoutiqueDB.open(path: path).close()
  }

  @Test func `a migration that breaks a foreign key is undone`() async throws {
    let directory = try TestDirectory()
    let schema = BoutiqueMigration("schema") { conn in
      try conn.executeScript(
        """
        CREATE TABLE parent (id INTEGER PRIMARY KEY);
        CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent (id));
        INSERT INTO parent VALUES (1);
        INSERT INTO child VALUES (10, 1);
        """)
    }
    let breaking = BoutiqueMigration("break") { _ = try $0.execute("DELETE FROM parent") }
    await expect(BoutiqueMigrationPlan([schema, breaking]), on: directory.file("m.db")) {
      guard case .migrationFailed("break", let text) = $0 else { return false }
      return text.contains("child") && text.contains("parent")
    }
    // Rebuilding the parent keeps its children: keys are checked at the end, not meanwhile.
    let rebuild = BoutiqueMigration("rebuild") { conn in
      try conn.executeScript(
        """
        CREATE TABLE parent2 (id INTEGER PRIMARY KEY, name TEXT);
        INSERT INTO parent2 (id) SELECT id FROM parent;
        DROP TABLE parent;
        ALTER TABLE parent2 RENAME TO parent;
        """)
    }
    let db = try await BoutiqueDB.open(
      path: directory.file("m.db"), migrations: BoutiqueMigrationPlan([schema, rebuild]))
    #expect(try await db.count(of: "SELECT * FROM child") == 1)
    #expect(try await db.integrityCheck().isEmpty)
    // And afterwards they are enforced again.
    await #expect(throws: BoutiqueError.self) {
      try await db.write { _ = try $0.execute("DELETE FROM parent") }
    }
    await db.close()
  }

  @Test func `a program that a newer one overtakes stops writing and goes on reading`() async throws
  {
    let directory = try TestDirectory()
    let path = directory.file("m.db")
    let old = try await BoutiqueDB.open(
      path: path, migrations: BoutiqueMigrationPlan([Self.create("a")]))
    try await old.write { _ = try $0.execute("INSERT INTO a VALUES (1)") }
    let new = try await BoutiqueDB.open(
      path: path, migrations: BoutiqueMigrationPlan([Self.create("a"), Self.create("b")]))
    await #expect {
      try await old.write { _ = try $0.execute("INSERT INTO a VALUES (2)") }
    } throws: {
      if case BoutiqueError.databaseNewer(_, ["create_b"]) = $0 { true } else { false }
    }
    // Not just once.
    await #expect(throws: BoutiqueError.self) {
      try await old.write { _ = try $0.execute("INSERT INTO a VALUES (2)") }
    }
    #expect(try await old.count(of: "SELECT * FROM a") == 1)
    await old.close()
    await new.close()
  }

  @Test func `tables of another layout are refused, not guessed at`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("m.db")
    try await BoutiqueDB.open(path: path).close()
    let foreign = try Connection(path: path)
    try foreign.execute("UPDATE boutiquedb_meta SET value = 99 WHERE key = 'version'")
    foreign.close()
    for isReadOnly in [true, false] {
      var configuration = BoutiqueConfiguration()
      configuration.readOnly = isReadOnly
      await #expect {
        try await BoutiqueDB.open(path: path, configuration: configuration).close()
      } throws: {
        if case BoutiqueError.databaseNewer = $0 { true } else { false }
      }
    }
  }

  @Test func `a foreign program that keeps the file to itself is waited for, then named`()
    async throws
  {
    let directory = try TestDirectory()
    let path = directory.file("m.db")
    let foreign = try Connection(path: path, options: .creating)
    try foreign.execute("CREATE TABLE x (a)")
    try foreign.execute("BEGIN EXCLUSIVE")
    var configuration = BoutiqueConfiguration()
    configuration.migrationTimeout = .milliseconds(300)
    await #expect {
      try await BoutiqueDB.open(path: path, configuration: configuration).close()
    } throws: {
      if case BoutiqueError.migrationLockTimeout = $0 { true } else { false }
    }
    try foreign.execute("COMMIT")
    foreign.close()
    try await BoutiqueDB.open(path: path, configuration: configuration).close()
  }

  @Test func `eight open databases migrate a new file at once`() async throws {
    let directory = try TestDirectory()
    for round in 0..<5 {
      let path = directory.file("m\(round).db")
      try await withThrowingTaskGroup(of: BoutiqueDB.self) { group in
        for _ in 0..<8 {
          group.addTask {
            try await BoutiqueDB.open(
              path: path,
              migrations: BoutiqueMigrationPlan([Self.create("a"), Self.create("b")]))
          }
        }
        for try await db in group { await db.close() }
      }
      try await TestDatabaseCheck.isWhole(path: path)
    }
  }
}

extension ConnectionOptions {
  fileprivate static var creating: ConnectionOptions {
    var options = ConnectionOptions()
    options.access = .readWriteCreate
    return options
  }
}
