import BoutiqueDB
import Foundation
import StructuredQueries
import TestDatabase
import Testing

/// The page "Models and Tables": its blocks, in its order.
@Suite struct ModelsAndTables {
  @Table
  struct Note: Sendable {
    @Column(primaryKey: true) let id: UUID
    var title: String
    var body: String
    var isArchived: Bool
    var createdAt: Date
  }

  @BoutiqueTable(strict: true, withoutRowID: true)
  struct UserSetting: Sendable {
    @Column(primaryKey: true) var key: String
    var value: String
  }

  static let plan = BoutiqueMigrationPlan {
    BoutiqueMigration("v1") { conn in
      try conn.execute(
        """
        CREATE TABLE note (
            id TEXT PRIMARY KEY NOT NULL,
            title TEXT NOT NULL,
            body TEXT NOT NULL,
            isArchived INTEGER NOT NULL DEFAULT 0,
            createdAt REAL NOT NULL
        )
        """)
      try UserSetting.createTable().execute(conn.connection)
    }
  }

  @Test func `insert, query, update and delete`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let targetId = try await db.write { conn in
        let newNote = Note(
          id: UUID(),
          title: "Grocery List",
          body: "Milk, Eggs, Bread",
          isArchived: false,
          createdAt: Date()
        )

        try Note.insert { newNote }.execute(conn.connection)
        return newNote.id
      }

      func active() async throws -> [Note] {
        let activeNotes = try await db.read { conn in
          try Note.where { $0.isArchived.eq(false) }
            .order { $0.createdAt.desc() }
            .fetchAll(conn.connection)
        }
        return activeNotes
      }
      #expect(try await active().map(\.title) == ["Grocery List"])

      try await db.write { conn in
        try Note.where { $0.id.eq(targetId) }
          .update { $0.isArchived.set(true) }
          .execute(conn.connection)
      }
      #expect(try await active().isEmpty)

      try await db.write { conn in
        try Note.where { $0.id.eq(targetId) }
          .delete()
          .execute(conn.connection)
      }
      #expect(try await db.read { conn in try Note.all.fetchCount(conn) } == 0)
    }
  }

  @Test func `STRICT and WITHOUT ROWID reach the table`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let sql: String = try await db.read { conn in
        try conn.query("SELECT sql FROM sqlite_schema WHERE name = 'userSetting'")[0].decode(0)
      }
      #expect(sql.hasSuffix("STRICT, WITHOUT ROWID"))
      try await db.write { conn in
        try UserSetting.insert { UserSetting(key: "theme", value: "dark") }.execute(conn)
      }
      let value = try await db.read { conn in
        try UserSetting.find("theme").select { $0.value }.fetchOne(conn)
      }
      #expect(value == "dark")
    }
  }
}
