import Blackbird
import Foundation
import TestDatabase
import Testing

/// A model and what became of it; each case is one table.
private enum Added {
  struct Old: BlackbirdModel {
    static let tableName = "Added"
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String
  }
  struct New: BlackbirdModel {
    static let tableName = "Added"
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String
    @BlackbirdColumn var body: String
    @BlackbirdColumn var count: Int
    @BlackbirdColumn var ratio: Double
    @BlackbirdColumn var art: Data
    @BlackbirdColumn var level: Level
    @BlackbirdColumn var words: [String]
    @BlackbirdColumn var url: URL?
  }
  struct WithURL: BlackbirdModel {
    static let tableName = "Added"
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String
    @BlackbirdColumn var url: URL
  }
  struct WithRank: BlackbirdModel {
    static let tableName = "Added"
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String
    @BlackbirdColumn var rank: Rank
  }
  struct WithRankAtAnyPrice: BlackbirdModel {
    static let tableName = "Added"
    static let invalidRowDataMigrationResolution =
      BlackbirdInvalidRowDataMigrationResolution.deleteData
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String
    @BlackbirdColumn var rank: Rank
  }
}

private enum Dropped {
  struct Old: BlackbirdModel {
    static let tableName = "Dropped"
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String
    @BlackbirdColumn var note: String
    @BlackbirdColumn var score: Int?
  }
  struct New: BlackbirdModel {
    static let tableName = "Dropped"
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String
  }
  struct NewAtAnyPrice: BlackbirdModel {
    static let tableName = "Dropped"
    static let droppedColumnDataResolution = BlackbirdDroppedColumnDataResolution.deleteData
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String
  }
}

private enum Retyped {
  struct Old: BlackbirdModel {
    static let tableName = "Retyped"
    static let primaryKey: [BlackbirdColumnKeyPath] = [\.$id, \.$title]
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String
    @BlackbirdColumn var flags: Int
    @BlackbirdColumn var maybe: String?
  }
  /// Another key, another type, nullable the other way round.
  struct New: BlackbirdModel {
    static let tableName = "Retyped"
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String?
    @BlackbirdColumn var flags: String
    @BlackbirdColumn var maybe: String
    @BlackbirdColumn var more: Double
  }
  struct NewAtAnyPrice: BlackbirdModel {
    static let tableName = "Retyped"
    static let invalidRowDataMigrationResolution =
      BlackbirdInvalidRowDataMigrationResolution.deleteData
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String?
    @BlackbirdColumn var flags: String
    @BlackbirdColumn var maybe: String
  }
}

private enum Narrowed {
  struct Old: BlackbirdModel {
    static let tableName = "Narrowed"
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var value: String
  }
  struct New: BlackbirdModel {
    static let tableName = "Narrowed"
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var value: Int
  }
  struct NewColour: BlackbirdModel {
    static let tableName = "Narrowed"
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var value: Rank
  }
  struct NewAtAnyPrice: BlackbirdModel {
    static let tableName = "Narrowed"
    static let invalidRowDataMigrationResolution =
      BlackbirdInvalidRowDataMigrationResolution.deleteData
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var value: Int
  }
}

private enum Indexed {
  struct Old: BlackbirdModel {
    static let tableName = "Indexed"
    static let indexes: [[BlackbirdColumnKeyPath]] = [[\.$a]]
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var a: String
    @BlackbirdColumn var b: Int
  }
  struct New: BlackbirdModel {
    static let tableName = "Indexed"
    static let indexes: [[BlackbirdColumnKeyPath]] = [[\.$a, \.$b]]
    static let uniqueIndexes: [[BlackbirdColumnKeyPath]] = [[\.$b]]
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var a: String
    @BlackbirdColumn var b: Int
  }
  struct NewAtAnyPrice: BlackbirdModel {
    static let tableName = "Indexed"
    static let uniqueIndexes: [[BlackbirdColumnKeyPath]] = [[\.$b]]
    static let invalidRowDataMigrationResolution =
      BlackbirdInvalidRowDataMigrationResolution.deleteData
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var a: String
    @BlackbirdColumn var b: Int
  }
}

@Suite struct ModelSchemaTests {
  private func impossible(
    _ body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> String {
    let error = await failure(of: BlackbirdTableError.self, body)
    guard case .impossibleMigration(_, _, let description)? = error else {
      Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
      return ""
    }
    return description
  }

  @Test func `a table is made at first use and then left alone`() async throws {
    try await withBlackbird { db, _ in
      #expect(try await Story.resolveSchema(in: db) == .createdTable)
      #expect(try await Story.resolveSchema(in: db) == [])
      let sql = try await db.schema(of: "Story")
      #expect(
        sql == """
          CREATE TABLE `Story` (`id` INTEGER NOT NULL, `title` TEXT NOT NULL DEFAULT '', `url` TEXT, \
          `score` INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (`id`))
          """)
      let index = try await db.schema(of: "Story+index+title")
      #expect(index == "CREATE INDEX `Story+index+title` ON `Story` (`title`)")
      #expect(try await Episode.count(in: db) == 0)
      let several = try await db.schema(of: "Episode")
      #expect(several?.hasSuffix("PRIMARY KEY (`user`, `feed`, `number`)) WITHOUT ROWID") == true)
      #expect(try await Tag.resolveSchema(in: db) == .createdTable)
      #expect(try await db.schema(of: "Tag")?.hasSuffix("WITHOUT ROWID") == true)
    }
  }

  @Test func `an unchanged model finds its table when the database is opened again`() async throws {
    try await withBlackbird { db, directory in
      try await Everything.resolveSchema(in: db)
      try await Tag.resolveSchema(in: db)
      await db.close()
      let again = try Blackbird.Database(path: directory.file("test.db"))
      #expect(try await Everything.resolveSchema(in: again) == [])
      #expect(try await Tag.resolveSchema(in: again) == [])
      await again.close()
    }
  }

  @Test func `a table that Blackbird has made elsewhere is taken as it is`() async throws {
    try await withBlackbird { db, _ in
      let sql = """
        CREATE TABLE `Tag` (`name` TEXT NOT NULL DEFAULT '',`slug` TEXT NOT NULL DEFAULT '',\
        `count` INTEGER NOT NULL DEFAULT 0,`isHidden` INTEGER NOT NULL DEFAULT 0,\
        `ratio` DOUBLE NOT NULL DEFAULT 0.0,PRIMARY KEY (`name`))
        """
      try await db.execute(
        sql + "; CREATE UNIQUE INDEX `Tag+index+slug` ON Tag (slug);"
          + "INSERT INTO Tag (name, slug) VALUES ('a', 'b')")
      #expect(try await Tag.resolveSchema(in: db) == [])
      #expect(try await db.schema(of: "Tag") == sql)
      #expect(try await Tag.read(from: db, primaryKey: "a")?.slug == "b")
      try await Tag(name: "a", slug: "c", count: 5).write(to: db)
      #expect(try await Tag.read(from: db).map(\.count) == [5])
      let tables = try await db.query(
        "SELECT name FROM sqlite_schema WHERE name = 'blackbird_schema'")
      #expect(tables.isEmpty, "nothing was to be noted")
    }
  }

  @Test func `new columns come with zero, empty and nil`() async throws {
    try await withBlackbird { db, _ in
      try await Added.Old(id: 1, title: "One").write(to: db)
      #expect(try await Added.New.resolveSchema(in: db) == .migratedTable)
      let read = try #require(try await Added.New.read(from: db, id: 1))
      #expect(
        read
          == Added.New(
            id: 1, title: "One", body: "", count: 0, ratio: 0, art: Data(), level: .zero, words: [])
      )
      // A program that does not know them goes on inserting.
      try await Added.Old(id: 2, title: "Two").write(to: db)
      #expect(try await Added.New.count(in: db) == 2)
      #expect(try await Added.New.resolveSchema(in: db) == [])
    }
  }

  @Test func `a new column that has no value for old rows is refused, also where rows may go`()
    async throws
  {
    try await withBlackbird { db, _ in
      try await Added.Old(id: 1, title: "One").write(to: db)
      let url = await impossible { try await Added.WithURL.resolveSchema(in: db) }
      #expect(url.contains("url"))
      let rank = await impossible { _ = try await Added.WithRank.read(from: db, id: 1) }
      #expect(rank.contains("rank"))
      #expect(try await db.columns(of: "Added") == ["id", "title"])
      #expect(try await Added.Old.read(from: db, id: 1)?.title == "One")
      let emptied = await impossible { try await Added.WithRankAtAnyPrice.resolveSchema(in: db) }
      #expect(emptied.contains("Make it optional"), "\(emptied)")
      #expect(try await Added.Old.read(from: db, id: 1)?.title == "One")
      try await Added.Old.delete(from: db, matching: .all)
      #expect(try await Added.WithRankAtAnyPrice.resolveSchema(in: db) == .migratedTable)
      try await Added.WithRankAtAnyPrice(id: 3, title: "x", rank: .second).write(to: db)
      #expect(try await Added.WithRankAtAnyPrice.read(from: db, id: 3)?.rank == .second)
    }
    try await withBlackbird { db, _ in
      // Without rows there is nothing to refuse.
      try await Added.Old.resolveSchema(in: db)
      #expect(try await Added.WithURL.resolveSchema(in: db) == .migratedTable)
      try await Added.WithURL(id: 1, title: "x", url: URL(filePath: "/")).write(to: db)
      #expect(try await Added.WithURL.count(in: db) == 1)
    }
  }

  @Test func `a column goes when it holds nothing, or when it may`() async throws {
    try await withBlackbird { db, _ in
      try await Dropped.Old(id: 1, title: "One", note: "", score: nil).write(to: db)
      #expect(try await Dropped.New.resolveSchema(in: db) == .migratedTable)
      #expect(try await db.columns(of: "Dropped") == ["id", "title"])
      #expect(try await Dropped.New.read(from: db, id: 1)?.title == "One")
    }
    try await withBlackbird { db, _ in
      try await Dropped.Old(id: 1, title: "One", note: "kept", score: 1).write(to: db)
      let text = await impossible { try await Dropped.New.resolveSchema(in: db) }
      #expect(text.contains("1 row holds a value in the column note"), "\(text)")
      #expect(try await Dropped.Old.read(from: db, id: 1)?.note == "kept")
      #expect(try await Dropped.NewAtAnyPrice.resolveSchema(in: db) == .migratedTable)
      #expect(try await db.columns(of: "Dropped") == ["id", "title"])
      #expect(try await Dropped.NewAtAnyPrice.read(from: db, id: 1)?.title == "One")
    }
  }

  @Test func `type, nullability and key change with every row kept`() async throws {
    try await withBlackbird { db, _ in
      for id in 1...50 {
        try await Retyped.Old(id: id, title: "t\(id)", flags: id * 3, maybe: "m").write(to: db)
      }
      #expect(try await Retyped.New.resolveSchema(in: db) == .migratedTable)
      let rows = try await Retyped.New.read(from: db, orderBy: .ascending(\.$id))
      #expect(rows.count == 50)
      #expect(rows[6] == Retyped.New(id: 7, title: "t7", flags: "21", maybe: "m", more: 0))
      #expect(try await db.schema(of: "Retyped")?.contains("WITHOUT ROWID") == false)
      #expect(try await Retyped.New.resolveSchema(in: db) == [])
    }
  }

  @Test func `NULL where none may be is refused, unless the rows may go`() async throws {
    try await withBlackbird { db, _ in
      try await Retyped.Old(id: 1, title: "a", flags: 1, maybe: nil).write(to: db)
      try await Retyped.Old(id: 2, title: "b", flags: 2, maybe: "x").write(to: db)
      let text = await impossible { try await Retyped.New.resolveSchema(in: db) }
      #expect(text.contains("maybe"), "\(text)")
      #expect(try await Retyped.Old.count(in: db) == 2)
      #expect(try await Retyped.NewAtAnyPrice.resolveSchema(in: db) == .migratedTable)
      #expect(try await Retyped.NewAtAnyPrice.read(from: db).map(\.id) == [2])
    }
  }

  @Test func `a key that rows share is refused, unless they may go`() async throws {
    try await withBlackbird { db, _ in
      try await Retyped.Old(id: 1, title: "a", flags: 1, maybe: "x").write(to: db)
      try await Retyped.Old(id: 1, title: "b", flags: 2, maybe: "x").write(to: db)
      let text = await impossible { try await Retyped.New.resolveSchema(in: db) }
      #expect(text.contains("primary key"), "\(text)")
      #expect(try await Retyped.Old.count(in: db) == 2)
      #expect(try await Retyped.NewAtAnyPrice.resolveSchema(in: db) == .migratedTable)
      #expect(try await Retyped.NewAtAnyPrice.read(from: db).map(\.title) == ["a"])
    }
  }

  @Test func `a narrower type takes what fits, and is refused otherwise, unless rows may go`()
    async throws
  {
    try await withBlackbird { db, _ in
      try await Narrowed.Old(id: 1, value: "12").write(to: db)
      try await Narrowed.Old(id: 2, value: "-3").write(to: db)
      #expect(try await Narrowed.New.resolveSchema(in: db) == .migratedTable)
      #expect(
        try await Narrowed.New.read(from: db, orderBy: .ascending(\.$id)).map(\.value) == [12, -3])
    }
    try await withBlackbird { db, _ in
      for (id, value) in ["12", "a dozen", "012", "1.5", "9223372036854775808"].enumerated() {
        try await Narrowed.Old(id: id, value: value).write(to: db)
      }
      let text = await impossible { try await Narrowed.New.resolveSchema(in: db) }
      #expect(text.contains("4 rows hold a value in the column value"), "\(text)")
      #expect(try await Narrowed.Old.count(in: db) == 5)
      let other = await impossible { try await Narrowed.NewColour.resolveSchema(in: db) }
      #expect(other.contains("value"))
      #expect(try await Narrowed.NewAtAnyPrice.resolveSchema(in: db) == .migratedTable)
      #expect(try await Narrowed.NewAtAnyPrice.read(from: db).map(\.value) == [12])
    }
    try await withBlackbird { db, _ in
      try await Narrowed.Old(id: 1, value: "12").write(to: db)
      let text = await impossible { try await Narrowed.NewColour.resolveSchema(in: db) }
      #expect(text.contains("none of its type"), "\(text)")
    }
  }

  @Test func `indexes come and go, and those made by hand stay`() async throws {
    try await withBlackbird { db, _ in
      try await Indexed.Old(id: 1, a: "x", b: 1).write(to: db)
      try await db.execute("CREATE INDEX byHand ON Indexed (b, a)")
      #expect(try await Indexed.New.resolveSchema(in: db) == .migratedTable)
      let names = try await db.query(
        "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'Indexed' ORDER BY name"
      )
      #expect(
        names.map { $0["name"]?.stringValue } == ["Indexed+index+a+b", "Indexed+index+b", "byHand"])
      let clash = await failure(of: Blackbird.Database.Error.self) {
        try await Indexed.New(id: 2, a: "y", b: 1).write(to: db)
      }
      guard case .uniqueConstraintFailed? = clash else {
        Issue.record("\(String(describing: clash))")
        return
      }
    }
  }

  @Test func `a unique index over values that repeat is refused, unless rows may go`() async throws
  {
    try await withBlackbird { db, _ in
      for id in 1...3 { try await Indexed.Old(id: id, a: "x", b: id / 2).write(to: db) }
      let text = await impossible { try await Indexed.New.resolveSchema(in: db) }
      #expect(text.contains("(b)"), "\(text)")
      #expect(try await Indexed.Old.count(in: db) == 3)
      #expect(try await db.schema(of: "Indexed+index+a") != nil)
      #expect(try await Indexed.NewAtAnyPrice.resolveSchema(in: db) == .migratedTable)
      #expect(
        try await Indexed.NewAtAnyPrice.read(from: db, orderBy: .ascending(\.$id)).map(\.id) == [
          1, 2,
        ])
    }
  }

  @Test func `triggers and indexes made by hand outlive a rebuild, and views do not hinder it`()
    async throws
  {
    try await withBlackbird { db, _ in
      try await Dropped.Old(id: 1, title: "One", note: "", score: nil).write(to: db)
      try await db.execute(
        """
        CREATE TABLE log (text);
        CREATE TRIGGER noted AFTER INSERT ON Dropped BEGIN INSERT INTO log VALUES (new.title); END;
        CREATE INDEX byHand ON Dropped (title COLLATE NOCASE);
        CREATE VIEW titles AS SELECT title FROM Dropped
        """)
      #expect(try await Dropped.New.resolveSchema(in: db) == .migratedTable)
      try await Dropped.New(id: 2, title: "Two").write(to: db)
      let log = try await db.query("SELECT text FROM log")
      #expect(log == [["text": "Two"]])
      #expect(try await db.schema(of: "byHand") != nil)
      let titles = try await db.query("SELECT count(*) AS n FROM titles")
      #expect(titles == [["n": 2]])
    }
    try await withBlackbird { db, _ in
      try await Dropped.Old(id: 1, title: "One", note: "", score: nil).write(to: db)
      try await db.execute("CREATE INDEX byHand ON Dropped (note)")
      let text = await impossible { try await Dropped.New.resolveSchema(in: db) }
      #expect(text.contains("byHand"), "\(text)")
      #expect(try await db.columns(of: "Dropped").count == 4)
    }
  }

  @Test func `a rebuild keeps the rows that refer to the table`() async throws {
    try await withBlackbird { db, _ in
      try await Dropped.Old(id: 1, title: "One", note: "", score: nil).write(to: db)
      try await db.execute(
        """
        CREATE TABLE reference (to_id REFERENCES Dropped (id) ON DELETE CASCADE);
        INSERT INTO reference VALUES (1)
        """)
      let inside = await failure(of: BlackbirdTableError.self) {
        try await db.transaction { core in
          try Dropped.New(id: 2, title: "Two").writeIsolated(to: db, core: core)
        }
      }
      guard case .impossibleMigration(_, _, let text)? = inside else {
        Issue.record("\(String(describing: inside))")
        return
      }
      #expect(text.contains("reference refers to it"), "\(text)")
      #expect(try await Dropped.New.resolveSchema(in: db) == .migratedTable)
      let left = try await db.query("SELECT count(*) AS n FROM reference")
      #expect(left == [["n": 1]])
    }
  }

  @Test func `inside a transaction the table comes and goes with it`() async throws {
    try await withBlackbird { db, _ in
      let article = Story(id: 1, title: "One", url: nil)
      let result = try await db.cancellableTransaction { core in
        try article.writeIsolated(to: db, core: core)
        #expect(try Story.countIsolated(in: db, core: core) == 1)
        throw Blackbird.Error.cancelTransaction
      }
      guard case .rolledBack = result else {
        Issue.record("\(result)")
        return
      }
      #expect(try await db.schema(of: "Story") == nil)
      try await db.transaction { core in try article.writeIsolated(to: db, core: core) }
      #expect(try await Story.count(in: db) == 1)

      try await Added.Old(id: 1, title: "One").write(to: db)
      let evolved = try await db.cancellableTransaction { core in
        _ = try Added.New.readIsolated(from: db, core: core, id: 1)
        throw Blackbird.Error.cancelTransaction
      }
      guard case .rolledBack = evolved else {
        Issue.record("\(evolved)")
        return
      }
      #expect(try await db.columns(of: "Added") == ["id", "title"])
      #expect(try await Added.New.read(from: db, id: 1)?.body == "")
    }
  }

  @Test func `a part that is undone takes the table with it`() async throws {
    try await withBlackbird { db, _ in
      try await db.transaction { core in
        let part = try core.cancellableTransaction { core in
          try Story(id: 1, title: "One", url: nil).writeIsolated(to: db, core: core)
          throw Blackbird.Error.cancelTransaction
        }
        guard case .rolledBack = part else {
          Issue.record("committed")
          return
        }
        try Story(id: 2, title: "Two", url: nil).writeIsolated(to: db, core: core)
      }
      #expect(try await Story.read(from: db).map(\.id) == [2])
    }
  }

  @Test func `an older type works on where it can, and alters nothing back`() async throws {
    try await withBlackbird { db, _ in
      try await Dropped.New(id: 1, title: "One").write(to: db)
      try await Dropped.Old(id: 2, title: "Two", note: "n", score: 2).write(to: db)
      #expect(try await db.columns(of: "Dropped").count == 4)
      var one = try #require(try await Dropped.New.read(from: db, id: 1))
      one.title = "Uno"
      try await one.write(to: db)
      try await Dropped.New(id: 3, title: "Three").write(to: db)
      #expect(try await Dropped.New.resolveSchema(in: db) == [])
      #expect(try await db.columns(of: "Dropped").count == 4)
      let all = try await Dropped.Old.read(from: db, orderBy: .ascending(\.$id))
      #expect(all.map(\.title) == ["Uno", "Two", "Three"])
      #expect(all.map(\.note) == ["", "n", ""])
    }
  }

  @Test func `an older type that starts again knows that it is one`() async throws {
    try await withBlackbird { db, directory in
      try await Dropped.New(id: 1, title: "One").write(to: db)
      try await Dropped.Old.resolveSchema(in: db)
      try await Narrowed.Old(id: 1, value: "1").write(to: db)
      try await Narrowed.New.resolveSchema(in: db)
      await db.close()
      // Its columns hold nothing, so that without the history they would be dropped.
      let again = try Blackbird.Database(path: directory.file("test.db"))
      #expect(try await Dropped.New.resolveSchema(in: again) == [])
      #expect(try await Dropped.New.read(from: again).count == 1)
      #expect(try await again.columns(of: "Dropped").count == 4)
      let error = await failure(of: BlackbirdTableError.self) {
        _ = try await Narrowed.Old.read(from: again)
      }
      guard case .schemaChangedByAnother(_, _, let text)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(text.contains("value is INTEGER now"), "\(text)")
      #expect(try await Narrowed.New.read(from: again).map(\.value) == [1])
      await again.close()
    }
  }

  @Test func `a type in use gets an error when its table cannot serve it any more`() async throws {
    try await withBlackbird { db, _ in
      let old = Narrowed.Old(id: 1, value: "1")
      try await old.write(to: db)
      try await Narrowed.New.resolveSchema(in: db)
      for body in [
        { _ = try await Narrowed.Old.read(from: db, id: 1) },
        { try await Narrowed.Old(id: 2, value: "2").write(to: db) },
        { try await old.delete(from: db) },
        { try await Narrowed.Old.update(in: db, set: [\.$value: "3"], matching: .all) },
      ] as [@Sendable () async throws -> Void] {
        let error = await failure(of: BlackbirdTableError.self, body)
        guard case .schemaChangedByAnother? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
      }
      #expect(try await Narrowed.New.read(from: db).map(\.value) == [1])
    }
  }

  @Test func `what was altered by hand is put right, and a dropped table made again`() async throws
  {
    try await withBlackbird { db, directory in
      try await Story(id: 1, title: "One", url: nil).write(to: db)
      try await db.execute("DROP INDEX `Story+index+title`")
      await db.close()
      let again = try Blackbird.Database(path: directory.file("test.db"))
      #expect(try await Story.resolveSchema(in: again) == .migratedTable)
      #expect(try await Story.resolveSchema(in: again) == [])
      try await again.execute("DROP TABLE Story")
      #expect(try await Story.read(from: again) == [])
      try await again.execute("DROP TABLE Story")
      try await Story(id: 1, title: "One", url: nil).write(to: again)
      #expect(try await Story.count(in: again) == 1)
      await again.close()
      let third = try Blackbird.Database(path: directory.file("test.db"))
      #expect(try await Story.resolveSchema(in: third) == [])
      await third.close()
    }
  }

  @Test func `a name that is taken by something else is refused`() async throws {
    try await withBlackbird { db, _ in
      try await db.execute("CREATE TABLE t (id, title); CREATE VIEW Story AS SELECT * FROM t")
      let view = await impossible { _ = try await Story.read(from: db, id: 1) }
      #expect(view.contains("view"))
    }
  }

  @Test func `a database can ask that models are resolved before they are used`() async throws {
    try await withBlackbird(options: [.requireModelSchemaValidationBeforeUse]) { db, _ in
      let read = await failure(of: BlackbirdTableError.self) {
        _ = try await Story.read(from: db, id: 1)
      }
      #expect(read == .notResolved(type: "Story"))
      let write = await failure(of: BlackbirdTableError.self) {
        try await db.transaction { core in
          try Story(id: 1, title: "One", url: nil).writeIsolated(to: db, core: core)
        }
      }
      #expect(write == .notResolved(type: "Story"))
      try await Story.resolveSchema(in: db)
      #expect(try await Story.read(from: db, id: 1) == nil)
    }
  }

  @Test func `many tasks that use a model first make its table once`() async throws {
    try await withBlackbird { db, _ in
      try await withThrowingTaskGroup { group in
        for id in 0..<50 {
          group.addTask { try await Story(id: id, title: "x", url: nil).write(to: db) }
          group.addTask { _ = try await Episode.read(from: db) }
        }
        try await group.waitForAll()
      }
      #expect(try await Story.count(in: db) == 50)
    }
  }
}
