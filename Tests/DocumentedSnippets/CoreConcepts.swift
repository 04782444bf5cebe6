import BoutiqueDB
import Foundation
import Observation
import StructuredQueries
import TestDatabase
import Testing

/// The page "Core Concepts": its blocks, in its order.
@Suite(.serialized) struct CoreConcepts {
  @Table
  struct Note: Sendable, Equatable {
    @Column(primaryKey: true) let id: UUID
    var title: String
    var body: String
    var updatedAt: Date = Date()
  }

  @BoutiqueTable(strict: true, withoutRowID: true)
  struct Setting: Sendable {
    @Column(primaryKey: true) var key: String
    var value: String
  }

  enum AppMigrations {
    static let plan = BoutiqueMigrationPlan {
      BoutiqueMigration("v1_create_notes") { conn in
        try conn.execute(
          """
              CREATE TABLE note (
                  id TEXT PRIMARY KEY NOT NULL,
                  title TEXT NOT NULL,
                  body TEXT NOT NULL,
                  updatedAt REAL NOT NULL
              )
          """)
      }

      BoutiqueMigration("v2_add_pinned_column") { conn in
        try conn.execute(
          """
              ALTER TABLE note ADD COLUMN isPinned INTEGER NOT NULL DEFAULT 0
          """)
      }
    }
  }

  // In a process of its own, since the environment belongs to all tests of this one.
  @Test func `a file in its place, a write, a read`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TestDirectory()
      setenv("XDG_DATA_HOME", directory.path, 1)
      let url = try BoutiqueDB.applicationSupportURL(filename: "app.db")
      let db = try await BoutiqueDB.open(url: url, migrations: AppMigrations.plan)

      // Write Transaction
      try await db.write { conn in
        try Note.insert { Note(id: UUID(), title: "New Note", body: "") }
          .execute(conn.connection)
      }

      // Read Query
      let notes = try await db.read { conn in
        try Note.all.order { $0.updatedAt.desc() }.fetchAll(conn.connection)
      }
      #expect(notes.map(\.title) == ["New Note"])
      #expect(url.path.hasPrefix(directory.path))
      await db.close()
    }
  }

  @MainActor static var database: BoutiqueDB?

  @MainActor static var db: BoutiqueDB {
    guard let database else { preconditionFailure("the test opens it first") }
    return database
  }

  // Swift's attributes take no trailing closure, so the query stands inside the parentheses.
  @MainActor @Observable
  final class NotesModel {
    @ObservationIgnored
    @LiveQuery(db, { Note.all.order { $0.updatedAt.desc() }.asSelect() })
    var notes: [Note] = []
  }

  @MainActor @Test func `a live query follows the table`() async throws {
    try await withTestDatabase(migrations: AppMigrations.plan) { db, _ in
      Self.database = db
      defer { Self.database = nil }
      let model = NotesModel()
      try await model.$notes.refresh()
      #expect(model.notes.isEmpty && model.$notes.isLoaded)
      let counts = Observations { model.notes.count }.makeAsyncIterator()
      var iterator = counts
      #expect(await iterator.next() == 0)
      try await db.write { conn in
        try Note.insert { Note(id: UUID(), title: "Live", body: "") }.execute(conn)
      }
      #expect(await iterator.next() == 1)
      #expect(model.notes.map(\.title) == ["Live"])
    }
  }

  @Test func `errors are one type`() async throws {
    try await withTestDatabase(migrations: AppMigrations.plan) { db, _ in
      var message = ""
      do {
        try await db.write { conn in try conn.execute("INSERT INTO nowhere VALUES (1)") }
      } catch let error as BoutiqueError {
        switch error {
        case .sql(let code, let text):
          message = "SQLite Error (\(code)): \(text)"
        case .migrationFailed(let id, let text):
          message = "Migration '\(id)' failed: \(text)"
        case .transactionInProgress:
          message = "Write conflict occurred."
        default:
          message = "BoutiqueDB Error: \(error)"
        }
      }
      #expect(message.hasPrefix("SQLite Error (1): no such table: nowhere"))
    }
  }
}
