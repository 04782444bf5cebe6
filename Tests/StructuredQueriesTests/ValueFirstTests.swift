import BoutiqueDB
import Testing

/// Operators with the value on the left and the column on the right.
@Suite struct ValueFirstTests {
  @Test func `arithmetic`() async throws {
    try await inLibrary { conn in
      let one = Book.find(1)
      let rest = #"FROM "book" WHERE ("book"."id" = ?)"#
      try expect(
        conn, one.select { 10 + $0.stock }, #"SELECT (? + "book"."stock") \#(rest)"#, [13])
      try expect(
        conn, one.select { 10 - $0.stock }, #"SELECT (? - "book"."stock") \#(rest)"#, [7])
      try expect(
        conn, one.select { 10 * $0.stock }, #"SELECT (? * "book"."stock") \#(rest)"#, [30])
      try expect(
        conn, one.select { 10 / $0.stock }, #"SELECT (? / "book"."stock") \#(rest)"#, [3])
      try expect(
        conn, one.select { 15 / $0.price }, #"SELECT (? / "book"."price") \#(rest)"#, [2])
      try expect(
        conn, one.select { "The " + $0.title + "!" },
        #"SELECT ((? || "book"."title") || ?) \#(rest)"#, ["The Animal Farm!"])
      try expect(
        conn, Book.order { $0.id }.select { 1 - $0.rating },
        #"SELECT (? - "book"."rating") FROM "book" ORDER BY "book"."id""#, [-4, -3, nil])
      let two = 2
      try expect(
        conn, one.select { 1 + two * ($0.stock - 1) - 2 * $0.id },
        #"SELECT ((? + (? * ("book"."stock" - ?))) - (? * "book"."id")) \#(rest)"#, [3])
    }
  }

  @Test func `comparisons`() async throws {
    try await inLibrary { conn in
      func ids(
        _ sql: String, _ expected: [Int], at place: SourceLocation = #_sourceLocation,
        @PredicateBuilder _ condition: (Book.TableColumns) -> [SQLFragment]
      ) throws {
        try expect(
          conn, Book.where(condition).select { $0.id }.order { $0.id },
          #"SELECT "book"."id" FROM "book" WHERE \#(sql) ORDER BY "book"."id""#, expected, at: place
        )
      }
      try ids(#"(? < "book"."stock")"#, [1]) { 2 < $0.stock }
      try ids(#"(? <= "book"."stock")"#, [1, 3]) { 2 <= $0.stock }
      try ids(#"(? > "book"."stock")"#, [2]) { 2 > $0.stock }
      try ids(#"(? >= "book"."stock")"#, [2, 3]) { 2 >= $0.stock }
      // Equality has no direction; the column stays on the left, as everywhere.
      try ids(#"("book"."title" = ?)"#, [2]) { "1984" == $0.title }
      try ids(#"("book"."title" <> ?)"#, [1, 3]) { "1984" != $0.title }
      try ids(#"("book"."rating" IS NULL)"#, [3]) { nil == $0.rating }
      try ids(#"("book"."rating" IS NOT ?)"#, [2, 3]) { 5 != $0.rating }
      let limit = 1
      try ids(#"((? < "book"."stock") AND ("book"."kind" = ?))"#, [1]) {
        limit < $0.stock && .paper == $0.kind
      }
    }
  }

  @Test func `in updates`() async throws {
    try await inLibrary { conn in
      try expect(
        conn, Book.find(1).update { $0.stock = 1 + $0.stock },
        #"UPDATE "book" SET "stock" = (? + "book"."stock") WHERE ("book"."id" = ?)"#, changes: 1)
      try expect(
        conn,
        Book.find(1).update {
          $0.title = "The " + $0.title
          $0.price = 2 * $0.price
          $0.stock.set(10 - $0.stock)
          $0.rating = 1 + $0.rating
          $0.isAvailable = 5 > $0.stock
        },
        """
        UPDATE "book" SET "title" = (? || "book"."title"), "price" = (? * "book"."price"),
        "stock" = (? - "book"."stock"), "rating" = (? + "book"."rating"),
        "isAvailable" = (? > "book"."stock") WHERE ("book"."id" = ?)
        """, changes: 1)
      let book = try Book.find(1).fetchOne(conn)
      #expect(book?.title == "The Animal Farm")
      #expect(book?.price == 15)
      #expect(book?.stock == 6)
      #expect(book?.rating == 6)
      #expect(book?.isAvailable == true)
    }
  }
}
