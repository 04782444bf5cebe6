import BoutiqueDB
import Foundation
import Testing

@Suite struct SelectTests {
  static let bookColumns = """
    "book"."id", "book"."title", "book"."author_id", "book"."price", "book"."stock", \
    "book"."isAvailable", "book"."rating", "book"."publishedAt", "book"."labels", "book"."kind"
    """

  @Test func `all rows, columns named in their order`() async throws {
    try await inLibrary { conn in
      try expect(
        conn, Author.all,
        #"SELECT "author"."id", "author"."name", "author"."email" FROM "author""#,
        [Library.orwell, Library.woolf, Library.nobody])
      #expect(try Book.all.fetchAll(conn) == [Library.farm, Library.year, Library.waves])
    }
  }

  @Test func `conditions add up`() async throws {
    try await inLibrary { conn in
      try expect(
        conn,
        Book.where { $0.isAvailable }.where { $0.price.gt(8) }.select { $0.title },
        """
        SELECT "book"."title" FROM "book"
        WHERE ("book"."isAvailable" AND ("book"."price" > ?))
        """,
        ["The Waves"])
      let wanted: String? = nil
      try expect(
        conn,
        Book.where {
          if let wanted { $0.title == wanted }
          $0.stock > 0
        }.order { $0.id }.select { $0.id },
        #"SELECT "book"."id" FROM "book" WHERE ("book"."stock" > ?) ORDER BY "book"."id""#, [1, 3])
      try expect(
        conn, Book.where(\.isAvailable).count(),
        #"SELECT count(*) FROM "book" WHERE "book"."isAvailable""#, [2])
    }
  }

  @Test func `columns, tuples, whole rows and selections`() async throws {
    try await inLibrary { conn in
      let rows = try Book.select { ($0.title, $0.rating, $0.kind) }.order { $0.id }.fetchAll(conn)
      #expect(rows.map(\.0) == ["Animal Farm", "1984", "The Waves"])
      #expect(rows.map(\.1) == [5, 4, nil])
      #expect(rows.map(\.2) == [.paper, .paper, .audio])
      let mixed = try Author.where { $0.id == 2 }.select { ($0, $0.name.upper()) }.fetchOne(conn)
      #expect(mixed?.0 == Library.woolf && mixed?.1 == "WOOLF")
      try expect(
        conn,
        Author.join(Book.all) { $0.id.eq($1.authorID) }
          .group { author, _ in author.id }
          .having { _, book in book.count() > 1 }
          .select {
            AuthorStock.Columns(name: $0.name, books: $1.id.count(), stock: $1.stock.sum())
          },
        """
        SELECT "author"."name" AS "name", count("book"."id") AS "books", \
        sum("book"."stock") AS "stock"
        FROM "author" INNER JOIN "book" ON ("author"."id" = "book"."author_id")
        GROUP BY "author"."id" HAVING (count(*) > ?)
        """, [AuthorStock(name: "Orwell", books: 2, stock: 3)])
      #expect(
        try Book.leftJoin(Author.all) { $0.authorID == $1.id }.order { book, _ in book.id.desc() }
          .select { BookAndAuthor.Columns(book: $0, author: $1) }.fetchOne(conn)
          == BookAndAuthor(book: Library.waves, author: Library.woolf))
    }
  }

  @Test func `orders add up, limits replace`() async throws {
    try await inLibrary { conn in
      try expect(
        conn,
        Book.order { $0.rating.desc(nulls: .first) }.order { ($0.kind, $0.title.lower().asc()) }
          .select { $0.id }.limit(9).limit(2).limit(nil).offset(nil),
        """
        SELECT "book"."id" FROM "book"
        ORDER BY "book"."rating" DESC NULLS FIRST, "book"."kind", lower("book"."title") ASC LIMIT ?
        """, [3, 1])
      try expect(
        conn, Book.order(by: \.price).select { $0.id }.offset(1),
        #"SELECT "book"."id" FROM "book" ORDER BY "book"."price" LIMIT -1 OFFSET ?"#, [2, 3])
      let byPrice = true
      try expect(
        conn,
        Book.order {
          if byPrice { $0.price.desc() } else { $0.title }
        }.select { $0.id }.limit(1, offset: 1),
        #"SELECT "book"."id" FROM "book" ORDER BY "book"."price" DESC LIMIT ? OFFSET ?"#, [2])
      try expect(
        conn, Book.select { $0.authorID }.distinct().order { $0.authorID },
        #"SELECT DISTINCT "book"."author_id" FROM "book" ORDER BY "book"."author_id""#, [1, 2])
    }
  }

  @Test func `or takes the other side when one has no conditions`() async throws {
    try await inLibrary { conn in
      let cheap = Book.where { $0.price < 8 }
      let audio = Book.where { $0.kind == .audio }
      try expect(
        conn, cheap.or(audio).select { $0.id },
        """
        SELECT "book"."id" FROM "book"
        WHERE (("book"."price" < ?) OR ("book"."kind" = ?))
        """, [1, 3])
      #expect(cheap.or(Book.all).query == cheap.query)
      #expect(Book.all.or(cheap).query == cheap.query)
      #expect(Book.none.or(cheap).query == cheap.query)
      try expect(
        conn, cheap.and(audio.not()).select { $0.id },
        """
        SELECT "book"."id" FROM "book"
        WHERE (("book"."price" < ?) AND (NOT ("book"."kind" = ?)))
        """, [1])
      #expect(try Book.all.not().fetchAll(conn).isEmpty)
    }
  }

  @Test func `nothing is run for none, whatever is chained`() async throws {
    try await inLibrary { conn in
      let none = Book.none.where { $0.id == 1 }.order { $0.id }.limit(3)
      #expect(none.query.isEmpty)
      try none.execute(conn)
      #expect(try none.fetchAll(conn).isEmpty)
      #expect(try none.fetchOne(conn) == nil)
      #expect(try none.fetchCount(conn) == 0)
      #expect(Author.join(Book.none) { $0.id == $1.authorID }.query.isEmpty)
      #expect(Book.none.update { $0.stock = 1 }.query.isEmpty)
      #expect(try Book.none.delete().execute(conn) == 0)
      #expect(try Author.where { $0.id.in(Book.none.select { $0.authorID }) }.fetchAll(conn) == [])
    }
  }

  @Test func `rows by key`() async throws {
    try await inLibrary { conn in
      try expect(
        conn, Author.find(2),
        """
        SELECT "author"."id", "author"."name", "author"."email" FROM "author"
        WHERE ("author"."id" = ?)
        """, [Library.woolf])
      try expect(
        conn, Author.find([3, 1]).select { $0.id },
        #"SELECT "author"."id" FROM "author" WHERE ("author"."id" IN (?, ?))"#, [1, 3])
      try expect(
        conn, Loan.find((1, "Bob")).select { $0.period.start },
        """
        SELECT "loan"."start_day" FROM "loan"
        WHERE (("loan"."book_id", "loan"."reader") = (?, ?))
        """, [6])
      try expect(
        conn, Loan.find([(1, "Ann"), (2, "Ann")]),
        """
        SELECT "loan"."book_id", "loan"."reader", "loan"."start_day", "loan"."end_day" FROM "loan"
        WHERE (("loan"."book_id", "loan"."reader") IN (VALUES (?, ?), (?, ?)))
        """, [Loan(bookID: 1, reader: "Ann", period: Period(start: 1, end: 5))])
      #expect(try Loan.find([]).fetchAll(conn).isEmpty)
      try expect(
        conn, Author.find(Book.where { $0.stock > 2 }.select { $0.authorID }),
        """
        SELECT "author"."id", "author"."name", "author"."email" FROM "author" WHERE ("author"."id"
        IN (SELECT "book"."author_id" FROM "book" WHERE ("book"."stock" > ?)))
        """, [Library.orwell])
      try expect(
        conn, Author.update { $0.email = nil }.find([1, 2]),
        #"UPDATE "author" SET "email" = ? WHERE ("author"."id" IN (?, ?))"#, changes: 2)
      try expect(
        conn, Loan.delete().find([(1, "Ann")]),
        """
        DELETE FROM "loan" WHERE (("loan"."book_id", "loan"."reader") IN (VALUES (?, ?)))
        """, changes: 1)
    }
  }

  @Test func `counting, one row, cursors and loops`() async throws {
    try await inLibrary { conn in
      #expect(try Book.where { $0.stock > 0 }.fetchCount(conn) == 2)
      try expect(
        conn, Book.count { $0.isAvailable },
        #"SELECT count(*) FILTER (WHERE "book"."isAvailable") FROM "book""#, [2])
      #expect(try Book.where { $0.id > 1 }.count { $0.stock > 0 }.fetchOne(conn) == 1)
      #expect(try Book.limit(2).fetchCount(conn) == 2)
      #expect(try Book.select { $0.authorID }.distinct().fetchCount(conn) == 2)
      #expect(try Book.order { $0.id.desc() }.fetchOne(conn) == Library.waves)
      var ids: [Int] = []
      try Book.select { $0.id }.forEach(conn) { id in
        ids.append(id)
        // Another statement of the same text while this one is on a row.
        let all = try Book.select { $0.id }.fetchAll(conn)
        #expect(all == [1, 2, 3])
      }
      #expect(ids == [1, 2, 3])
      let cursor = try Book.select { $0.id }.fetchCursor(conn)
      #expect(try cursor.next() == 1)
      #expect(try conn.fetchOne(Book.select { $0.id }) == 1)
      #expect(try cursor.next() == 2)
      #expect(try cursor.next() == 3)
      #expect(try cursor.next() == nil)
      #expect(try cursor.next() == nil)
      // A loop that is left, by an error too, leaves nothing behind that keeps the table locked.
      struct Stop: Error {}
      #expect(throws: Stop.self) { try Book.all.forEach(conn) { _ in throw Stop() } }
      try Book.dropTable().execute(conn)
    }
  }
}
