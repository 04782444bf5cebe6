import BoutiqueDB
import SQLiteConnection
import TestDatabase
import Testing

/// What is kept of which table, and that everybody goes by it.
@Suite(.serialized) struct CaptureModeTests {
  static let schema = """
    CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT);
    CREATE TABLE tag (id INTEGER PRIMARY KEY);
    """

  static func configuration(_ modes: [String: CaptureMode]) -> BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    configuration.captureModes = modes
    return configuration
  }

  private func keepsRows(_ db: BoutiqueDB, _ table: String = "note") async throws -> Bool {
    let change = try await db.captured("INSERT INTO \(table) DEFAULT VALUES")
    return change.rows.first?.after != nil
  }

  @Test func `a mode of the configuration is kept in the database`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    var db = try await BoutiqueDB.open(
      path: path, configuration: Self.configuration(["note": .full]), migrations: plan(Self.schema))
    #expect(try await db.captureModes() == ["note": .full])
    #expect(try await keepsRows(db))
    #expect(try await !keepsRows(db, "tag"))
    await db.close()
    // Who says nothing goes by what is there.
    db = try await BoutiqueDB.open(path: path, migrations: plan(Self.schema))
    #expect(try await keepsRows(db))
    await db.close()
    db = try await BoutiqueDB.open(path: path, configuration: Self.configuration(["note": .id]))
    #expect(try await db.captureModes() == [:])
    #expect(try await !keepsRows(db))
    await db.close()
  }

  @Test func `opening with modes that are there already writes nothing`() async throws {
    try await withTestDatabase(
      configuration: Self.configuration(["note": .full]), migrations: plan(Self.schema)
    ) { db, _ in
      let token = try await db.currentToken()
      let other = try await BoutiqueDB.open(
        path: db.path, configuration: Self.configuration(["NOTE": .full, "tag": .id]))
      #expect(try await other.currentToken() == token)
      await other.close()
    }
  }

  @Test func `another writer goes by a change of mode at its next write`() async throws {
    try await withTestDatabase(migrations: plan(Self.schema)) { db, _ in
      let other = try await BoutiqueDB.open(path: db.path)
      #expect(try await !keepsRows(other))
      #expect(try await !keepsRows(other))
      try await db.setCaptureMode(.after, forTable: "note")
      #expect(try await keepsRows(other))
      #expect(try await keepsRows(db))
      try await other.setCaptureMode(.id, forTable: "note")
      #expect(try await !keepsRows(db))
      #expect(try await !keepsRows(other))
      await other.close()
    }
  }

  @Test func `a mode can be set with the sqlite3 shell`() async throws {
    try await withTestDatabase(migrations: plan(Self.schema)) { db, _ in
      #expect(try await !keepsRows(db))
      _ = try await shell(db.path, "INSERT INTO boutiquedb_capture VALUES ('note', 'full');")
      #expect(try await keepsRows(db))
      // A word of a later version asks for more than the key.
      _ = try await shell(db.path, "UPDATE boutiquedb_capture SET mode = 'more';")
      #expect(try await keepsRows(db))
      #expect(try await db.captureModes() == ["note": .full])
    }
  }

  @Test func `a mode waits for its table`() async throws {
    try await withTestDatabase(configuration: Self.configuration(["later": .full])) { db, _ in
      #expect(try await db.captureModes() == ["later": .full])
      try await db.write { _ = try $0.execute("CREATE TABLE Later (id INTEGER PRIMARY KEY)") }
      #expect(try await keepsRows(db, "Later"))
    }
  }

  @Test func `a mode stays when a table is rebuilt under its name`() async throws {
    try await withTestDatabase(
      configuration: Self.configuration(["note": .full]), migrations: plan(Self.schema)
    ) { db, _ in
      try await db.write { conn in
        try conn.executeScript(
          """
          CREATE TABLE new_note (id INTEGER PRIMARY KEY, title TEXT, body TEXT);
          INSERT INTO new_note SELECT id, title, '' FROM note;
          DROP TABLE note;
          ALTER TABLE new_note RENAME TO note;
          """)
      }
      #expect(try await keepsRows(db))
      try await db.write { _ = try $0.execute("DROP TABLE note") }
      #expect(try await db.captureModes() == ["note": .full])
    }
  }

  @Test func `a mode does not follow a table that is renamed`() async throws {
    try await withTestDatabase(
      configuration: Self.configuration(["note": .full]), migrations: plan(Self.schema)
    ) { db, _ in
      try await db.write { _ = try $0.execute("ALTER TABLE note RENAME TO memo") }
      #expect(try await !keepsRows(db, "memo"))
      try await db.setCaptureMode(.full, forTable: "memo")
      #expect(try await keepsRows(db, "memo"))
    }
  }

  @Test func `names are compared as SQLite does`() async throws {
    try await withTestDatabase(
      configuration: Self.configuration(["NOTE": .full]), migrations: plan(Self.schema)
    ) { db, _ in
      #expect(try await keepsRows(db))
      try await db.setCaptureMode(.before, forTable: "Note")
      #expect(try await db.captureModes() == ["Note": .before])
      #expect(try await !keepsRows(db))
    }
  }

  @Test func `the library's own tables and no name at all are refused`() async throws {
    try await withTestDatabase(migrations: plan(Self.schema)) { db, _ in
      for name in ["", "boutiquedb_cdc", "BoutiqueDB_Image", "a\0b"] {
        await #expect {
          try await db.setCaptureMode(.full, forTable: name)
        } throws: { error in
          if case BoutiqueError.invalidConfiguration = error { true } else { false }
        }
        await #expect(throws: BoutiqueError.self) {
          _ = try await BoutiqueDB.open(
            path: db.path, configuration: Self.configuration([name: .full]))
        }
      }
      // They only look like ours.
      try await db.write { _ = try $0.execute("CREATE TABLE boutiquedb_cdc_backup (a)") }
      try await db.setCaptureMode(.full, forTable: "boutiquedb_cdc_backup")
      #expect(try await keepsRows(db, "boutiquedb_cdc_backup"))
    }
  }

  @Test func `setting a mode twice is one commit`() async throws {
    try await withTestDatabase(migrations: plan(Self.schema)) { db, _ in
      try await db.setCaptureMode(.full, forTable: "note")
      let token = try await db.currentToken()
      try await db.setCaptureMode(.full, forTable: "note")
      #expect(try await db.currentToken() == token)
    }
  }

  @Test(arguments: [
    "PRAGMA capture_data_changes_conn('full')", "PRAGMA capture_data_changes_conn('id,mine')",
    "PRAGMA capture_data_changes_conn", "PRAGMA Unstable_Capture_Data_Changes_Conn('off')",
    "PRAGMA main.capture_data_changes_conn = 'full'",
  ])
  func `Turso's pragma is refused with the name of what to use`(sql: String) async throws {
    try await withTestDatabase(migrations: plan(Self.schema)) { db, _ in
      await #expect {
        try await db.write { _ = try $0.execute(sql) }
      } throws: { error in
        guard case BoutiqueError.statementRefused(_, let reason) = error else { return false }
        return reason.contains("setCaptureMode") && reason.contains("turso_cdc")
      }
      await #expect(throws: BoutiqueError.self) { try await db.read { _ = try $0.query(sql) } }
      await #expect {
        try await db.write { try $0.executeScript("SELECT 1; \(sql); SELECT 2") }
      } throws: { "\($0)".contains("setCaptureMode") }
    }
  }
}
