import BoutiqueDB
import Foundation
import Observation
import StructuredQueries
import TestDatabase
import Testing

/// The blocks of the page on the public API, in its order.
@Suite(.serialized) struct PublicAPI {
  @Table struct Note: Sendable, Equatable {
    @Column(primaryKey: true) let id: UUID
    var title: String
    var body: String
    var isArchived: Bool = false
    var updatedAt: Date = Date()
    @Column("pinned_at") var pinnedAt: Date?
  }

  @BoutiqueTable(strict: true, withoutRowID: true)
  struct Setting: Sendable, Equatable {
    @Column(primaryKey: true) var key: String
    var value: String
    @Column(generated: .stored, as: "length(value)") let size: Int
  }

  enum AppMigrations {
    static let plan = BoutiqueMigrationPlan {
      BoutiqueMigration("v1_create_notes") { conn in
        try conn.execute(
          "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL, isArchived INTEGER NOT NULL DEFAULT 0, updatedAt REAL NOT NULL, pinned_at REAL)"
        )
      }
      BoutiqueMigration("v2_settings") { conn in
        try Setting.createTable().execute(conn.connection)
      }
    }
  }

  // In a process of its own, since the environment belongs to all tests of this one.
  @Test func `where databases are`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TestDirectory()
      setenv("XDG_DATA_HOME", directory.path, 1)
      setenv("XDG_DOCUMENTS_DIR", directory.path, 1)
      let url = try BoutiqueDB.applicationSupportURL(filename: "app.db")
      _ = try BoutiqueDB.documentsURL(filename: "app.db")
      _ = BoutiqueDB.inMemoryURL()
      _ = try BoutiqueDB.sharedURL(group: "org.example.notes", filename: "app.db")
      #expect(BoutiqueDB.inMemoryURL() != BoutiqueDB.inMemoryURL())
      #expect(url.path.hasPrefix(directory.path))
      let attributes = try FileManager.default.attributesOfItem(
        atPath: url.deletingLastPathComponent().path)
      #expect(attributes[.posixPermissions] as? Int == 0o700)
    }
  }

  static var config: BoutiqueConfiguration {
    var config = BoutiqueConfiguration()
    config.multiProcess = true
    config.cdcPollInterval = .milliseconds(100)
    config.label = "collector"
    config.writeLockTimeout = .seconds(10)
    config.readerCount = 4
    config.synchronous = .normal
    config.filePermissions = .owner
    config.foreignCapture = .coarse
    config.cdcRetention = .init(rows: 100_000, age: .seconds(3600))
    return config
  }

  @Test func `writes and reads`() async throws {
    try await withTestDatabase(configuration: Self.config, migrations: AppMigrations.plan) {
      db, _ in
      try await db.write { conn in
        try Note.insert { Note(id: UUID(), title: "New", body: "") }.execute(conn.connection)
      }
      let notes = try await db.read { conn in
        try Note.where { $0.isArchived.eq(false) }.order { $0.updatedAt.desc() }
          .fetchAll(conn.connection)
      }
      #expect(notes.map(\.title) == ["New"])
      let target = notes[0].id
      try await db.write { conn in
        try Note.where { $0.id.eq(target) }.update { $0.isArchived.set(true) }
          .execute(conn.connection)
        #expect(try Note.where { $0.isArchived }.fetchCount(conn) == 1)
        try Note.where { $0.id.eq(target) }.delete().execute(conn.connection)
      }
      #expect(try await db.read { conn in try Note.all.fetchCount(conn) } == 0)
      await #expect(throws: BoutiqueError.self) {
        try await db.read { conn in
          try Note.insert { Note(id: UUID(), title: "No", body: "") }.execute(conn)
        }
      }
    }
  }

  @Test func `a generated column is read`() async throws {
    try await withTestDatabase(migrations: AppMigrations.plan) { db, _ in
      let rows = try await db.write { conn in
        try Setting.insert { Setting.Draft(key: "theme", value: "dark") }.execute(conn)
        return try Setting.all.fetchAll(conn)
      }
      #expect(rows == [Setting(key: "theme", value: "dark", size: 4)])
    }
  }

  @Test func `SQL by hand`() async throws {
    try await withTestDatabase(migrations: AppMigrations.plan) { db, _ in
      try await db.write { conn in
        let sql = "INSERT INTO setting (key, value) VALUES (?, ?)"
        try conn.execute(sql, "a", "1")
        try conn.savepoint { _ = try conn.execute(sql, "b", "2") }
        let value = "it's"
        try conn.execute(
          #sql("INSERT INTO \(Setting.self) (key, value) VALUES (\("c"), \(value))"))
        let rows = try conn.query("SELECT key, value FROM setting WHERE key > ? ORDER BY key", "a")
        #expect(try rows[1].decode("value", as: String.self) == "it's")
        #expect(rows[1][0] == "c")
        let typed = try #sql(
          "SELECT \(Setting.columns) FROM \(Setting.self) WHERE \(Setting.columns.size) > \(1)",
          as: Setting.self
        ).fetchAll(conn)
        #expect(typed.map(\.key) == ["c"])
      }
    }
  }

  @MainActor static var database: BoutiqueDB?

  @MainActor static var db: BoutiqueDB {
    guard let database else { preconditionFailure("the test opens it first") }
    return database
  }

  @MainActor @Observable final class NotesModel {
    @ObservationIgnored
    @LiveQuery(db, { Note.all.order { $0.updatedAt.desc() }.asSelect() }) var notes: [Note] = []
    @ObservationIgnored @LiveQueryOne var newest: Note?

    init(_ db: BoutiqueDB) {
      _newest = LiveQueryOne(db) { Note.all.order { $0.updatedAt.desc() } }
    }
  }

  @MainActor @Test func `live properties`() async throws {
    try await withTestDatabase(migrations: AppMigrations.plan) { db, _ in
      Self.database = db
      defer { Self.database = nil }
      let model = NotesModel(db)
      try await model.$notes.refresh()
      #expect(model.$notes.isLoaded && model.$notes.error == nil)
      try await db.write { conn in
        try Note.insert { Note(id: UUID(), title: "One", body: "") }.execute(conn)
      }
      for await count in Observations({ model.notes.count }) where count == 1 { break }
      for try await rows in model.$notes.values {
        #expect(rows.map(\.title) == ["One"])
        break
      }
      try await model.$newest.refresh()
      #expect(model.newest?.title == "One")
    }
  }

  @Test func `observing, and the change feed`() async throws {
    try await withTestDatabase(migrations: AppMigrations.plan) { db, _ in
      let start = try await db.currentToken()
      let note = Note(id: UUID(), title: "One", body: "")
      try await db.write { conn in try Note.insert { note }.execute(conn) }
      for try await notes in db.observe({ Note.all.order { $0.title.asc() } }) {
        #expect(notes.map(\.title) == ["One"])
        break
      }
      for try await total in db.observe({ conn in try Note.all.fetchCount(conn.connection) }) {
        #expect(total == 1)
        break
      }
      for try await change in db.changes(since: start) {
        #expect(change.token.number > start.number)
        #expect(change.tables == ["note"])
        #expect(change.rows.count == 1)
        break
      }
    }
  }
}
