import BoutiqueDB
import Testing

@Suite struct JoinTests {
  @Test func `an inner join gives pairs, filters go along`() async throws {
    try await inLibrary { conn in
      try expect(
        conn,
        Author.where { $0.name.like("O%") }
          .join(Book.where { $0.stock > 0 }) { $0.id == $1.authorID }
          .select { ($1.title) },
        """
        SELECT "book"."title" FROM "author"
        INNER JOIN "book" ON ("author"."id" = "book"."author_id")
        WHERE (("author"."name" LIKE ?) AND ("book"."stock" > ?))
        """, ["Animal Farm"])
      let pairs = try Author.join(Book.all) { $0.id == $1.authorID }.order { $1.id }.fetchAll(conn)
      #expect(pairs.map(\.0) == [Library.orwell, Library.orwell, Library.woolf])
      #expect(pairs.map(\.1) == [Library.farm, Library.year, Library.waves])
    }
  }

  @Test func `the side of an outer join that can be missing is optional`() async throws {
    try await inLibrary { conn in
      let left = Author.leftJoin(Book.where { $0.stock > 0 }) { $0.id == $1.authorID }
        .order { author, _ in author.id }
      let rows = try left.fetchAll(conn)
      #expect(rows.map(\.0) == [Library.orwell, Library.woolf, Library.nobody])
      #expect(rows.map(\.1) == [Library.farm, Library.waves, nil])
      let titles = try left.select { ($0.name, $1.title, $1.rating) }.fetchAll(conn)
      #expect(titles.map(\.1) == ["Animal Farm", "The Waves", nil])
      #expect(titles.map(\.2) == [5, nil, nil])
      #expect(
        left.select { ($1.title) }.query.sql
          == """
          SELECT "book"."title" FROM "author" LEFT JOIN
          (SELECT \(SelectTests.bookColumns) FROM "book" WHERE ("book"."stock" > ?)) AS "book"
          ON ("author"."id" = "book"."author_id") ORDER BY "author"."id"
          """.unwrapped)
      let lonely = left.where { _, book in book.id.is(nil) }.select { author, _ in author.name }
      #expect(try lonely.fetchAll(conn) == ["Nobody"])
    }
  }

  @Test func `right and full joins`() async throws {
    try await inLibrary { conn in
      let right = try Book.where { $0.id == 3 }.asSelect()
        .rightJoin(Author.all) { $0.authorID == $1.id }.fetchAll(conn)
      #expect(right.map(\.0) == [Library.waves])
      let all = try Book.all.rightJoin(Author.all) { $0.authorID == $1.id && $0.stock > 2 }
        .order { _, author in author.id }.fetchAll(conn)
      #expect(all.map(\.0) == [Library.farm, nil, nil])
      #expect(all.map(\.1.id) == [1, 2, 3])
      try expect(
        conn,
        Person.all.fullJoin(Author.all) { $0.id == $1.id && $0.id > 2 }
          .select { ($0.name.ifnull("-") + $1.name.ifnull("-")) }
          .order { person, _ in person.id },
        """
        SELECT (ifnull("person"."name", ?) || ifnull("author"."name", ?)) FROM "person"
        FULL JOIN "author" ON (("person"."id" = "author"."id") AND ("person"."id" > ?))
        ORDER BY "person"."id"
        """, ["-Orwell", "-Woolf", "Ada-", "Ben-", "CidNobody"])
    }
  }

  @Test func `three tables, a cross join, and a table joined with itself`() async throws {
    try await inLibrary { conn in
      let joined = Author.join(Book.all) { $0.id == $1.authorID }
        .leftJoin(Loan.all) { _, book, loan in book.id == loan.bookID }
      let ordered = joined.order { _, book, loan in (book.id, loan.reader) }
      let three = try ordered.select { author, book, loan in
        (author.name, book.title, loan.reader, loan.period)
      }
      .fetchAll(conn)
      #expect(three.map { $0.2 } == ["Ann", "Bob", nil, nil])
      #expect(
        three.map { $0.3 } == [Period(start: 1, end: 5), Period(start: 6, end: nil), nil, nil])
      #expect(try Author.all.crossJoin(Person.all).fetchCount(conn) == 9)
      try expect(
        conn,
        Person.leftJoin(Person.as("boss")) { $0.bossID == $1.id }.order { person, _ in person.id }
          .select { ($1.name) },
        """
        SELECT "boss"."name" FROM "person"
        LEFT JOIN "person" AS "boss" ON ("person"."bossID" IS "boss"."id") ORDER BY "person"."id"
        """, [nil, "Ada", "Ben"])
    }
  }
}
