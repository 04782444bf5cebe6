import BoutiqueDB
import Testing

/// `#sql` beside what is written in Swift.
@Suite struct SQLByHandTests {
  @Test func `as a term to order or to group by`() async throws {
    try await inLibrary { conn in
      try expect(
        conn, Book.order { _ in #sql("title COLLATE NOCASE DESC") }.select { $0.id },
        #"SELECT "book"."id" FROM "book" ORDER BY title COLLATE NOCASE DESC"#, [3, 1, 2])
      let first = 2
      try expect(
        conn,
        Book.order {
          #sql("\($0.id) = \(first) DESC")
          $0.title.desc()
        }.select { $0.id },
        """
        SELECT "book"."id" FROM "book" ORDER BY "book"."id" = ? DESC, "book"."title" DESC
        """, [2, 3, 1])
      try expect(
        conn,
        Author.join(Book.all) { $0.id == $1.authorID }
          .order { _, book in #sql("\(book.id) DESC") }.select { $1.id },
        """
        SELECT "book"."id" FROM "author" INNER JOIN "book" ON ("author"."id" = "book"."author_id")
        ORDER BY "book"."id" DESC
        """, [3, 2, 1])
      try expect(
        conn,
        Book.group { #sql("\($0.authorID)") }.having { $0.count() > 1 && #sql("1") }
          .select { $0.authorID },
        """
        SELECT "book"."author_id" FROM "book" GROUP BY "book"."author_id"
        HAVING ((count(*) > ?) AND (1))
        """, [1])
    }
  }

  @Test func `beside and, or, not`() async throws {
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
      let title = "1984"
      try ids(#"("book"."isAvailable" AND (stock > 2))"#, [1]) {
        $0.isAvailable && #sql("stock > 2")
      }
      try ids(#"((title = ?) OR "book"."isAvailable")"#, [1, 2, 3]) {
        #sql("title = \(title)") || $0.isAvailable
      }
      try ids(#"((title = ?) OR ("book"."id" = ?))"#, [2, 3]) {
        #sql("title = \(title)") || $0.id == 3
      }
      // Nothing of the SQL by hand gets out of its parentheses.
      try ids(#"(("book"."id" > ?) AND (id = 1 OR id = 2))"#, [2]) {
        $0.id > 1 && #sql("id = 1 OR id = 2")
      }
      try ids("((stock > 0) AND (NOT (id = 3)))", [1]) { _ in
        #sql("stock > 0") && !#sql("id = 3")
      }
      try ids(#"("book"."isAvailable" AND (NOT (id = ?)))"#, [1]) {
        $0.isAvailable && !#sql("id = \(3)", as: Bool.self)
      }
      try ids(#"((id = 1) OR ("book"."stock" = ?))"#, [1, 2]) {
        #sql("id = 1", as: Bool.self) || $0.stock == 0
      }
    }
  }
}
