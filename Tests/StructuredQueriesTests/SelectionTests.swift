import BoutiqueDB
import Testing

/// What is selected in several steps.
@Suite struct SelectionTests {
  @Test func `each select adds to those before`() async throws {
    try await inLibrary { conn in
      let titles = Book.where { $0.id < 3 }.order { $0.id }.select { $0.title }
      let withStock = titles.select { $0.stock }
      #expect(
        withStock.query.sql
          == """
          SELECT "book"."title", "book"."stock" FROM "book" WHERE ("book"."id" < ?)
          ORDER BY "book"."id"
          """.unwrapped)
      let two = try withStock.fetchAll(conn)
      #expect(two.map(\.0) == ["Animal Farm", "1984"])
      #expect(two.map(\.1) == [3, 0])
      #expect(try withStock.fetchCount(conn) == 2)
      // A tuple gets longer; the types of its parts stay.
      let three = try withStock.select { $0.rating }.fetchAll(conn)
      #expect(three.map(\.2) == [5, 4])
      let pair: [(String, (Int, Double))] = try titles.select { ($0.id, $0.price) }.fetchAll(conn)
      #expect(pair.map(\.1.0) == [1, 2])
      #expect(pair.map(\.1.1) == [7.5, 9])
      // What a branch adds is not in the others.
      #expect(try titles.fetchAll(conn) == ["Animal Farm", "1984"])
    }
  }

  @Test func `a join keeps what was selected`() async throws {
    try await inLibrary { conn in
      try expect(
        conn,
        Author.select { $0.name }.join(Book.all) { $0.id == $1.authorID }.order { $1.id },
        """
        SELECT "author"."name" FROM "author" INNER JOIN "book"
        ON ("author"."id" = "book"."author_id") ORDER BY "book"."id"
        """, ["Orwell", "Orwell", "Woolf"])
      let named = Author.select { ($0.id, $0.name) }
        .leftJoin(Book.where { $0.stock > 0 }) { $0.id == $1.authorID }
        .order { author, _ in author.id }
        .select { $1.title }
      let rows: [(Int, String, String?)] = try named.fetchAll(conn)
      #expect(rows.map(\.0) == [1, 2, 3])
      #expect(rows.map(\.1) == ["Orwell", "Woolf", "Nobody"])
      #expect(rows.map(\.2) == ["Animal Farm", "The Waves", nil])
      let third = Author.select { $0.name }
        .join(Book.all) { $0.id == $1.authorID }.select { $1.title }
        .join(Loan.all) { _, book, loan in book.id == loan.bookID }
        .select { _, _, loan in loan.reader }
        .order { _, _, loan in loan.reader }
      #expect(
        third.query.sql
          == """
          SELECT "author"."name", "book"."title", "loan"."reader" FROM "author"
          INNER JOIN "book" ON ("author"."id" = "book"."author_id")
          INNER JOIN "loan" ON ("book"."id" = "loan"."book_id") ORDER BY "loan"."reader"
          """.unwrapped)
      let loans: [(String, String, String)] = try third.fetchAll(conn)
      #expect(loans.map(\.2) == ["Ann", "Bob"])
      #expect(loans.map(\.1) == ["Animal Farm", "Animal Farm"])
      #expect(
        try Author.select { $0.name }.crossJoin(Person.all).select { $1.name }.fetchCount(conn)
          == 9)
    }
  }
}
