import BoutiqueDB
import StructuredQueries
import Testing

/// The statements about single rows, which share their text instead of making it each time.
@Suite struct ShapeTests {
  @Test func `statements of one shape share their text`() {
    func template(_ statement: some Statement) -> SQLTemplate? { statement.query.template }
    #expect(template(Author.find(1)) != nil)
    #expect(template(Author.find(1)) === template(Author.find(2)))
    #expect(template(Author.find(1).delete()) === template(Author.find(2).delete()))
    #expect(template(Author.find(1)) !== template(Author.find(1).delete()))
    #expect(
      template(Author.find(1).update { $0.name = "a" })
        === template(Author.find(2).update { $0.name = "b" }))
    #expect(
      template(Author.find(1).update { $0.name = "a" })
        !== template(Author.find(1).update { $0.email = "a" }))
    let author = Author(id: 1, name: "a", email: nil)
    #expect(template(Author.insert { author }) === template(Author.insert { author }))
    #expect(template(Author.insert(or: .ignore) { author }) == nil)
    #expect(template(Author.find(1).update { $0.name += "a" }) == nil)
  }

  @Test func `the shared text is the one that the clauses make`() {
    #expect(Author.find(1).query == Author.all.find(1).query)
    #expect(Author.find(1).delete().query == Author.all.find(1).delete().query)
    #expect(
      Author.find(1).update { $0.name = "a" }.query
        == Author.all.find(1).update { $0.name = "a" }.query)
    #expect(Loan.find((1, "r")).query == Loan.all.find((1, "r")).query)
    #expect(
      Author.insert { Author(id: 1, name: "a", email: nil) }.query.sql
        == #"INSERT INTO "author" ("id", "name", "email") VALUES (?, ?, ?)"#)
    #expect(Author.find(1).countQuery == Author.all.find(1).countQuery)
    #expect(
      Author.find(1).where { $0.name == "a" }.query
        == Author.all.find(1).where { $0.name == "a" }.query)
  }

  @Test func `a statement inside another brings its text and its values`() throws {
    let fragment: SQLFragment =
      "SELECT 'ü?', \("a"), EXISTS (\(Author.find(7).query)), \(2)"
    #expect(
      fragment.sql
        == #"SELECT 'ü?', ?, EXISTS (SELECT "author"."id", "author"."name", "author"."email" "#
        + #"FROM "author" WHERE ("author"."id" = ?)), ?"#)
    #expect(try fragment.bindings == [.text("a"), .integer(7), .integer(2)])
    #expect(
      fragment.debugDescription
        == #"SELECT 'ü?', 'a', EXISTS (SELECT "author"."id", "author"."name", "author"."email" "#
        + #"FROM "author" WHERE ("author"."id" = 7)), 2"#)
  }

  @Test func `each statement of a shape has its own values`() async throws {
    try await inLibrary { conn in
      for id in 100..<140 {
        #expect(
          try Author.insert { Author(id: id, name: "n\(id)", email: nil) }.execute(conn) == 1)
      }
      for id in 100..<140 {
        #expect(
          try Author.find(id).update {
            $0.name = "other \(id)"
            $0.email = id % 2 == 0 ? "e\(id)" : nil
          }.execute(conn) == 1)
        #expect(try Author.find(id).update { $0.email = "x" }.execute(conn) == 1)
        let found = try Author.find(id).fetchOne(conn)
        #expect(found == Author(id: id, name: "other \(id)", email: "x"))
      }
      // While one is under way, another of the same shape is run.
      var names: [String] = []
      try Author.find(100).forEach(conn) { author in
        names.append(author.name)
        names.append(try Author.find(101).fetchOne(conn)?.name ?? "")
      }
      #expect(names == ["other 100", "other 101"])
      for id in 100..<140 { #expect(try Author.find(id).delete().execute(conn) == 1) }
      #expect(try Author.find(100).delete().execute(conn) == 0)
      #expect(try Author.find(100).fetchOne(conn) == nil)
    }
  }

  @Test func `a table made anew is read as it is now`() async throws {
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
    try await db.write { conn in
      for type in ["TEXT", "BLOB"] {
        try conn.execute("CREATE TABLE author (id INTEGER PRIMARY KEY, name \(type), email TEXT)")
        try Author.insert { Author(id: 1, name: "a", email: nil) }.execute(conn)
        #expect(try Author.find(1).fetchOne(conn)?.name == "a")
        try conn.execute("DROP TABLE author")
        #expect(throws: BoutiqueError.self) { try Author.find(1).fetchOne(conn) }
      }
    }
    await db.close()
  }

  @Test func `a value that cannot be stored is refused in every shape`() async throws {
    try await inLibrary { conn in
      let count = try Book.all.fetchCount(conn)
      #expect(throws: BoutiqueError.self) {
        try Book.find(1).update { $0.price = .nan }.execute(conn)
      }
      #expect(try Book.all.fetchCount(conn) == count)
      #expect(try Book.find(1).update { $0.price = 7 }.execute(conn) == 1)
    }
  }
}
