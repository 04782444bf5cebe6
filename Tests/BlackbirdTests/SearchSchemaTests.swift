import Blackbird
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// Versions of one model.
private enum Versions {
  struct Unsearched: BlackbirdModel {
    static let tableName = "Versioned"
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String
    @BlackbirdColumn var body: String
  }

  struct ByTitle: BlackbirdModel {
    static let tableName = "Versioned"
    static let fullTextSearchableColumns: FullTextIndex = [\.$title: .text]
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String
    @BlackbirdColumn var body: String
  }

  struct ByBoth: BlackbirdModel {
    static let tableName = "Versioned"
    static let fullTextSearchableColumns: FullTextIndex = [\.$title: .text, \.$body: .text]
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String
    @BlackbirdColumn var body: String
  }

  /// Other weights and filters are no other index.
  struct ByBothWeighted: BlackbirdModel {
    static let tableName = "Versioned"
    static let fullTextSearchableColumns: FullTextIndex = [
      \.$body: .text(weight: 3), \.$title: .text, \.$id: .filterOnly,
    ]
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String
    @BlackbirdColumn var body: String
  }

  /// Rebuilt: `body` is gone, `title` may be nil.
  struct Shorter: BlackbirdModel {
    static let tableName = "Versioned"
    static let droppedColumnDataResolution = BlackbirdDroppedColumnDataResolution.deleteData
    static let fullTextSearchableColumns: FullTextIndex = [\.$title: .text]
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String?
  }
}

@Suite struct SearchSchemaTests {
  /// Opens the file anew for each step, as programs that are started one after the other do.
  private func steps(
    _ body: (_ step: ((Blackbird.Database) async throws -> Void) async throws -> Void) async throws
      -> Void
  ) async throws {
    let directory = try TestDirectory()
    let path = directory.file("app.db")
    try await body { action in
      let db = try await Blackbird.Database.open(path: path)
      do {
        try await action(db)
      } catch {
        await db.close()
        throw error
      }
      await db.close()
    }
    try await TestDatabaseCheck.isWhole(path: path)
  }

  private func objects(_ db: Blackbird.Database) async throws -> Int? {
    try await db.query(
      "SELECT count(*) AS n FROM sqlite_schema WHERE name LIKE 'Versioned+%'"
    ).first?["n"]?.intValue
  }

  @Test func `the index is made with the table, kept as it is, made anew, and dropped`()
    async throws
  {
    try await steps { step in
      try await step { db async throws in
        #expect(
          try await Versions.ByTitle.resolveSchema(in: db)
            == [.createdTable, .migratedFullTextIndex])
        try await Versions.ByTitle(id: 1, title: "amber", body: "birch").write(to: db)
        #expect(try await Versions.ByTitle.resolveSchema(in: db) == [])
      }
      try await step { db async throws in
        #expect(try await Versions.ByTitle.resolveSchema(in: db) == [])
        #expect(
          try await Versions.ByTitle.fullTextSearch(from: db, matching: .match("birch")).isEmpty)
      }
      try await step { db async throws in
        #expect(try await Versions.ByBoth.resolveSchema(in: db) == [.migratedFullTextIndex])
        #expect(
          try await Versions.ByBoth.fullTextSearch(from: db, matching: .match("birch")).count == 1)
      }
      try await step { db async throws in
        #expect(try await Versions.ByBothWeighted.resolveSchema(in: db) == [])
      }
      try await step { db async throws in
        #expect(
          try await Versions.Shorter.resolveSchema(in: db)
            == [.migratedTable, .migratedFullTextIndex])
        #expect(
          try await Versions.Shorter.fullTextSearch(from: db, matching: .match("amber")).count == 1)
        try await Versions.Shorter(id: 2, title: "cedar").write(to: db)
        #expect(
          try await Versions.Shorter.fullTextSearch(from: db, matching: .match("cedar")).count == 1)
      }
    }
    try await steps { step in
      try await step { db async throws in
        try await Versions.ByBoth(id: 1, title: "amber", body: "birch").write(to: db)
        #expect(try await objects(db) ?? 0 > 0)
      }
      try await step { db async throws in
        #expect(try await Versions.Unsearched.resolveSchema(in: db) == [.migratedFullTextIndex])
        #expect(try await objects(db) == 0)
        try await Versions.Unsearched(id: 2, title: "cedar", body: "").write(to: db)
      }
    }
  }

  @Test func `an index over rows that were there before finds them`() async throws {
    try await steps { step in
      try await step { db async throws in
        for id in 1...300 {
          try await Versions.Unsearched(id: id, title: "amber \(id)", body: "").write(to: db)
        }
      }
      try await step { db async throws in
        let found = try await Versions.ByTitle.fullTextSearch(from: db, matching: .match("amber"))
        #expect(found.count == 300)
        // More than are asked for one by one.
        #expect(found.allSatisfy { $0.highlighted(\.$title)?.hasPrefix("<b>amber</b> ") == true })
      }
    }
  }

  @Test func `an older program that starts again leaves a newer index alone`() async throws {
    try await steps { step in
      try await step { db async throws in try await Versions.ByTitle.resolveSchema(in: db) }
      try await step { db async throws in try await Versions.ByBoth.resolveSchema(in: db) }
      try await step { db async throws in
        #expect(try await Versions.ByTitle.resolveSchema(in: db) == [])
        try await Versions.ByTitle(id: 1, title: "amber", body: "birch").write(to: db)
        #expect(
          try await Versions.ByTitle.fullTextSearch(from: db, matching: .match("amber")).count == 1)
      }
      try await step { db async throws in
        #expect(try await Versions.ByBoth.resolveSchema(in: db) == [])
        #expect(
          try await Versions.ByBoth.fullTextSearch(from: db, matching: .match("birch")).count == 1)
      }
    }
  }

  @Test func `a program whose index was dropped by another is told`() async throws {
    try await steps { step in
      try await step { db async throws in
        try await Versions.ByBoth(id: 1, title: "amber", body: "birch").write(to: db)
        try await Versions.ByTitle.resolveSchema(in: db)
        await #expect(throws: BlackbirdTableError.self) {
          try await Versions.ByBoth.fullTextSearch(from: db, matching: .match("birch"))
        }
        try await Versions.ByBoth(id: 2, title: "amber", body: "birch").write(to: db)
        #expect(
          try await Versions.ByTitle.fullTextSearch(from: db, matching: .match("amber")).count == 2)
      }
    }
  }

  @Test func `the index does not stand among the tables, and is no part of what publishers report`()
    async throws
  {
    try await steps { step in
      try await step { db async throws in
        try await Versions.ByTitle(id: 1, title: "amber", body: "").write(to: db)
        #expect(try await db.tables().map(\.name) == ["Versioned"])
      }
    }
  }

  @Test func `a file whose index was made on an Apple system can be written and searched`()
    async throws
  {
    let directory = try TestDirectory()
    let path = directory.file("app.db")
    let shell = Process()
    shell.executableURL = URL(filePath: "/usr/bin/sqlite3")
    shell.arguments = [
      path,
      """
      CREATE TABLE `Versioned` (`id` INTEGER NOT NULL, `title` TEXT NOT NULL, `body` TEXT NOT NULL, PRIMARY KEY (`id`));
      CREATE VIRTUAL TABLE `Versioned+FTS` USING fts5(`title`,content=`Versioned`,tokenize='porter unicode61 remove_diacritics 2');
      CREATE TRIGGER `Versioned+FTSInsert` AFTER INSERT ON `Versioned` BEGIN
        INSERT INTO `Versioned+FTS`(rowid,`title`) VALUES (NEW.rowid,NEW.`title`); END;
      CREATE TRIGGER `Versioned+FTSUpdate` AFTER UPDATE OF `title` ON `Versioned` BEGIN
        INSERT INTO `Versioned+FTS`(`Versioned+FTS`,rowid,`title`) VALUES ('delete',OLD.rowid,OLD.`title`);
        INSERT INTO `Versioned+FTS`(rowid,`title`) VALUES (NEW.rowid,NEW.`title`); END;
      CREATE TRIGGER `Versioned+FTSDelete` AFTER DELETE ON `Versioned` BEGIN
        INSERT INTO `Versioned+FTS`(`Versioned+FTS`,rowid,`title`) VALUES ('delete',OLD.rowid,OLD.`title`); END;
      INSERT INTO Versioned VALUES (1, 'amber', 'birch');
      """,
    ]
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
    for model in 0..<2 {
      let db = try await Blackbird.Database.open(path: path)
      if model == 0 {
        // A model that is not searched can write as well.
        try await Versions.Unsearched(id: 2, title: "amber", body: "").write(to: db)
        #expect(try await objects(db) == 0)
      } else {
        try await Versions.ByTitle(id: 3, title: "amber", body: "").write(to: db)
        #expect(
          try await Versions.ByTitle.fullTextSearch(from: db, matching: .match("amber")).count == 3)
      }
      await db.close()
    }
  }
}
