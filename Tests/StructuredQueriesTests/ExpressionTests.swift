import BoutiqueDB
import Foundation
import Testing

@Suite struct ExpressionTests {
  /// Checks an expression over the book with id 1: its SQL and its value.
  private func check<E: QueryExpression>(
    _ conn: BoutiqueConnection, _ sql: String, _ value: E.QueryValue.Output,
    at place: SourceLocation = #_sourceLocation, _ make: (Book.TableColumns) -> E
  ) throws where E.QueryValue.Output: Equatable {
    let statement = Book.find(1).select { make($0) }
    let text = statement.query.sql
    #expect(
      text == "SELECT \(sql) FROM \"book\" WHERE (\"book\".\"id\" = ?)", sourceLocation: place)
    #expect(try statement.fetchOne(conn) == value, sourceLocation: place)
  }

  @Test func `comparisons, named and as operators`() async throws {
    try await inLibrary { conn in
      try check(conn, #"("book"."stock" = ?)"#, true) { $0.stock.eq(3) }
      try check(conn, #"("book"."stock" <> ?)"#, false) { $0.stock.neq(3) }
      try check(conn, #"("book"."stock" < ?)"#, true) { $0.stock.lt(4) }
      try check(conn, #"("book"."stock" <= ?)"#, true) { $0.stock.lte(3) }
      try check(conn, #"("book"."stock" > ?)"#, false) { $0.stock.gt(3) }
      try check(conn, #"("book"."stock" >= ?)"#, true) { $0.stock.gte(3) }
      try check(conn, #"("book"."stock" = ?)"#, true) { $0.stock == 3 }
      try check(conn, #"("book"."stock" <> ?)"#, true) { $0.stock != 4 }
      try check(conn, #"("book"."stock" < "book"."rating")"#, true) { $0.stock < $0.rating }
      try check(conn, #"("book"."stock" >= ?)"#, false) { $0.stock >= 4 }
      try check(conn, #"("book"."kind" = ?)"#, true) { $0.kind == .paper }
      try check(conn, #"("book"."publishedAt" < ?)"#, true) { $0.publishedAt < Date() }
    }
  }

  @Test func `NULL: eq is never true, is and the operators compare it`() async throws {
    try await inLibrary { conn in
      #expect(try Book.where { $0.rating.eq(nil) }.fetchCount(conn) == 0)
      #expect(try Book.where { $0.rating.is(nil) }.fetchCount(conn) == 1)
      #expect(try Book.where { $0.rating == nil }.fetchCount(conn) == 1)
      #expect(try Book.where { $0.rating != nil }.fetchCount(conn) == 2)
      #expect(try Book.where { $0.rating != 5 }.fetchCount(conn) == 2)
      #expect(try Book.where { $0.rating.neq(5) }.fetchCount(conn) == 1)
      try check(conn, #"("book"."rating" IS NULL)"#, false) { $0.rating.is(nil) }
      try check(conn, #"("book"."rating" IS NULL)"#, false) { $0.rating == nil }
      try check(conn, #"("book"."rating" IS NOT ?)"#, false) { $0.rating.isNot(5) }
      try check(conn, #"("book"."rating" IS ?)"#, true) { $0.rating == 5 }
      try check(conn, #"ifnull("book"."rating", ?)"#, 5) { $0.rating.ifnull(1) }
      try check(conn, #"coalesce("book"."rating", ?)"#, 5) { $0.rating ?? 1 }
      try check(conn, #"coalesce("book"."rating", "book"."stock")"#, 5) { $0.rating ?? $0.stock }
      try check(conn, #"nullif("book"."stock", ?)"#, nil) { $0.stock.nullif(3) }
    }
  }

  @Test func `logic, lists, ranges, subqueries`() async throws {
    try await inLibrary { conn in
      try check(conn, #"(("book"."stock" > ?) AND "book"."isAvailable")"#, true) {
        $0.stock > 1 && $0.isAvailable
      }
      try check(conn, #"(("book"."stock" > ?) OR (NOT "book"."isAvailable"))"#, false) {
        $0.stock > 5 || !$0.isAvailable
      }
      try check(conn, #"("book"."stock" IN (?, ?))"#, true) { $0.stock.in([1, 3]) }
      try check(conn, #"("book"."stock" IN ())"#, false) { $0.stock.in([]) }
      try check(conn, #"("book"."stock" NOT IN (?))"#, true) { $0.stock.notIn([1]) }
      try check(conn, #"("book"."kind" IN (?, ?))"#, true) { $0.kind.in(Kind.allCases) }
      try check(
        conn, #"("book"."author_id" IN (SELECT "author"."id" FROM "author"))"#, true
      ) { $0.authorID.in(Author.select { $0.id }) }
      try check(conn, #"("book"."stock" BETWEEN ? AND ?)"#, true) { $0.stock.between(1, and: 3) }
      try check(
        conn,
        #"("book"."stock" BETWEEN (SELECT min("book"."stock") FROM "book") AND ?)"#, true
      ) { $0.stock.between(Book.select { $0.stock.min() }, and: bind(3)) }
      try check(
        conn, #"("book"."price" > (SELECT avg("book"."price") FROM "book"))"#, false
      ) { $0.price.gt(Book.select { $0.price.avg() }) }
      try check(
        conn,
        #"EXISTS (SELECT "loan"."reader" FROM "loan" WHERE ("loan"."book_id" = "book"."id"))"#, true
      ) { book in Loan.where { $0.bookID == book.id }.select { $0.reader }.exists() }
    }
  }

  @Test func `text`() async throws {
    try await inLibrary { conn in
      try check(conn, #"("book"."title" LIKE ?)"#, true) { $0.title.like("animal%") }
      try check(conn, #"("book"."title" LIKE ? ESCAPE ?)"#, false) {
        $0.title.like("a!%", escape: "!")
      }
      try check(conn, #"("book"."title" LIKE ? ESCAPE ?)"#, false) { $0.title.contains("A%F") }
      try check(conn, #"("book"."title" LIKE ? ESCAPE ?)"#, true) { $0.title.hasPrefix("Animal") }
      try check(conn, #"("book"."title" LIKE ? ESCAPE ?)"#, true) { $0.title.hasSuffix("Farm") }
      try check(conn, #"("book"."title" GLOB ?)"#, true) { $0.title.glob("A*m") }
      try check(conn, #"(("book"."title" COLLATE "NOCASE") = ?)"#, true) {
        $0.title.collate(.nocase) == "ANIMAL FARM"
      }
      try check(conn, #"("book"."title" || ?)"#, "Animal Farm!") { $0.title + "!" }
      try check(conn, #"lower("book"."title")"#, "animal farm") { $0.title.lower() }
      try check(conn, #"length("book"."title")"#, 11) { $0.title.length() }
      try check(conn, #"octet_length("book"."title")"#, 11) { $0.title.octetLength() }
      try check(conn, #"trim("book"."title", ?)"#, "nimal Far") { $0.title.trim("Am") }
      try check(conn, #"ltrim("book"."title")"#, "Animal Farm") { $0.title.ltrim() }
      try check(conn, #"replace("book"."title", ?, ?)"#, "Animal Barn") {
        $0.title.replace("Farm", with: "Barn")
      }
      try check(conn, #"substr("book"."title", ?, ?)"#, "Farm") { $0.title.substr(8, 4) }
      try check(conn, #"substr("book"."title", ?)"#, "rm") { $0.title.substr(-2) }
      try check(conn, #"instr("book"."title", ?)"#, 8) { $0.title.instr("Farm") }
      try check(conn, #"hex(substr("book"."title", ?, ?))"#, "41") { $0.title.substr(1, 1).hex() }
      try check(conn, #"unhex(hex("book"."title"))"#, [UInt8]("Animal Farm".utf8)) {
        $0.title.hex().unhex()
      }
      try check(conn, #"quote("book"."title")"#, "'Animal Farm'") { $0.title.quote() }
      try check(conn, #"typeof("book"."title")"#, "text") { $0.title.typeof() }
      try check(conn, #"concat("book"."title", ?, "book"."stock")"#, "Animal Farm 3") {
        concat($0.title, bind(" "), $0.stock)
      }
      try check(conn, #"length(uuid())"#, 36) { _ in uuid().length() }
    }
  }

  @Test func `arithmetic and mathematics`() async throws {
    try await inLibrary { conn in
      try check(conn, #"(("book"."stock" + ?) * ?)"#, 10) { ($0.stock + 2) * 2 }
      try check(
        conn, #"(-("book"."stock" - "book"."authorID"))"#.replacing("authorID", with: "author_id"),
        -2
      ) {
        -($0.stock - $0.authorID)
      }
      try check(conn, #"("book"."stock" / ?)"#, 1) { $0.stock / 2 }
      try check(conn, #"("book"."stock" % ?)"#, 1) { $0.stock % 2 }
      try check(conn, #"(("book"."stock" & ?) | ?)"#, 9) { ($0.stock & 1) | 8 }
      try check(conn, #"("book"."stock" << ?)"#, 12) { $0.stock << 2 }
      try check(conn, #"(~"book"."stock")"#, -4) { ~$0.stock }
      try check(conn, #"abs((-"book"."price"))"#, 7.5) { (-$0.price).abs() }
      try check(conn, #"round("book"."price", ?)"#, 8) { $0.price.round() }
      try check(conn, #"floor("book"."price")"#, 7) { $0.price.floor() }
      try check(conn, #"sqrt(("book"."stock" + ?))"#, 2) { ($0.stock + 1).sqrt() }
      try check(conn, #"pow("book"."stock", ?)"#, 9) { $0.stock.pow(2) }
    }
  }

  @Test func `dates, JSON, casts and calls`() async throws {
    try await inLibrary { conn in
      try check(conn, #"date("book"."publishedAt", 'unixepoch')"#, "1945-08-22") {
        $0.publishedAt.date()
      }
      try check(conn, #"strftime(?, "book"."publishedAt", 'unixepoch', ?)"#, "1946") {
        $0.publishedAt.strftime("%Y", "+1 year")
      }
      try check(conn, #"json_extract("book"."labels", ?)"#, "satire") {
        $0.labels.jsonExtract("$[0]", as: String.self)
      }
      try check(conn, #"json_array_length("book"."labels", ?)"#, 1) { $0.labels.jsonArrayLength() }
      try check(conn, #"json_set("book"."labels", ?, ?)"#, ["satire", "new"]) {
        $0.labels.jsonSet("$[1]", "new")
      }
      try check(conn, #"json_object(?, "book"."stock")"#, #"{"n":3}"#) {
        jsonObject(("n", $0.stock))
      }
      try check(conn, #"CAST("book"."price" AS INTEGER)"#, 7) { $0.price.cast(as: Int.self) }
      try check(conn, #"CAST("book"."stock" AS TEXT)"#, "3") { $0.stock.cast(as: String.self) }
      try check(conn, #""printf"(?, "book"."stock")"#, "003") {
        sqlFunction("printf", bind("%03d"), $0.stock, as: String.self)
      }
      try check(conn, #"(? || upper("book"."title"))"#, "> ANIMAL FARM") {
        #sql("\("> ") || upper(\($0.title))", as: String.self)
      }
    }
  }

  @Test func `case and iif`() async throws {
    try await inLibrary { conn in
      try check(
        conn, #"CASE "book"."stock" WHEN ? THEN ? WHEN ? THEN ? ELSE ? END"#, "three"
      ) { Case($0.stock).when(1, then: "one").when(3, then: "three").else("many") }
      try check(conn, #"CASE WHEN ("book"."stock" > ?) THEN ? END"#, nil) {
        Case().when($0.stock > 5, then: "much")
      }
      try check(conn, #"iif("book"."isAvailable", ?, ?)"#, "yes") {
        iif($0.isAvailable, "yes", "no")
      }
    }
  }

  @Test func `aggregates with distinct and filter`() async throws {
    try await inLibrary { conn in
      func check<E: QueryExpression>(
        _ sql: String, _ value: E.QueryValue.Output, at place: SourceLocation = #_sourceLocation,
        _ make: (Book.TableColumns) -> E
      ) throws where E.QueryValue.Output: Equatable {
        try expect(
          conn, Book.select { make($0) }, "SELECT \(sql) FROM \"book\"", [value], at: place)
      }
      try check("count(*)", 3) { $0.count() }
      try check(#"count(*) FILTER (WHERE ("book"."stock" > ?))"#, 2) {
        $0.count(filter: $0.stock > 0)
      }
      try check(#"count("book"."rating")"#, 2) { $0.rating.count() }
      try check(#"count(DISTINCT "book"."author_id")"#, 2) { $0.authorID.count(distinct: true) }
      try check(#"sum("book"."stock")"#, 5) { $0.stock.sum() }
      try check(#"sum("book"."stock") FILTER (WHERE ("book"."stock" > ?))"#, nil) {
        $0.stock.sum(filter: $0.stock > 100)
      }
      try check(#"total("book"."stock")"#, 5) { $0.stock.total() }
      try check(#"avg("book"."rating")"#, 4.5) { $0.rating.avg() }
      try check(#"min("book"."title")"#, "1984") { $0.title.min() }
      try check(#"max("book"."publishedAt")"#, Library.year.publishedAt) { $0.publishedAt.max() }
      try check(#"group_concat("book"."id", ?)"#, "1/2/3") { $0.id.groupConcat("/") }
      try check(#"json_group_array("book"."id")"#, "[1,2,3]") { $0.id.jsonGroupArray() }
      try expect(
        conn, Book.group(by: \.authorID).select { ($0.stock.sum()) }.order { $0.authorID },
        """
        SELECT sum("book"."stock") FROM "book" GROUP BY "book"."author_id"
        ORDER BY "book"."author_id"
        """, [3, 2])
    }
  }

  @Test func `windows`() async throws {
    try await inLibrary { conn in
      try expect(
        conn,
        Book.select {
          Window.rowNumber().over(partitionBy: $0.authorID, orderBy: $0.price.desc())
        }.order { $0.id },
        """
        SELECT row_number() OVER (PARTITION BY "book"."author_id" ORDER BY "book"."price" DESC)
        FROM "book" ORDER BY "book"."id"
        """, [2, 1, 1])
      try expect(
        conn,
        Book.select {
          $0.stock.sum().over(orderBy: $0.id, frame: .rows(.preceding(1), .currentRow))
        },
        """
        SELECT sum("book"."stock") OVER (ORDER BY "book"."id" ROWS BETWEEN ? PRECEDING AND
        CURRENT ROW) FROM "book"
        """, [3, 3, 2])
      try expect(
        conn, Book.select { Window.lag($0.title).over(orderBy: $0.id) },
        #"SELECT lag("book"."title", ?) OVER (ORDER BY "book"."id") FROM "book""#,
        [nil, "Animal Farm", "1984"])
    }
  }

  @Test func `union, intersect, except`() async throws {
    try await inLibrary { conn in
      let names = Author.select { $0.name }.union(Person.select { $0.name })
      try expect(
        conn, names.order(byColumn: 1).limit(2),
        """
        SELECT "author"."name" FROM "author" UNION SELECT "person"."name" FROM "person"
        ORDER BY 1 ASC LIMIT ?
        """, ["Ada", "Ben"])
      try expect(
        conn, Author.select { $0.id }.union(all: true, Person.select { $0.id }.limit(1)),
        """
        SELECT "author"."id" FROM "author" UNION ALL
        SELECT * FROM (SELECT "person"."id" FROM "person" LIMIT ?)
        """, [1, 2, 3, 1])
      #expect(try names.fetchCount(conn) == 6)
      #expect(
        try Author.where { $0.id > 1 }.except(Author.find(3)).fetchAll(conn) == [Library.woolf])
      #expect(
        try Author.all.intersect(Author.find(3)).order { $0.name }.fetchAll(conn)
          == [Library.nobody])
      #expect(try Author.none.union(Author.find(3)).fetchAll(conn) == [Library.nobody])
      #expect(Author.none.union(Author.none).query.isEmpty)
    }
  }

  @Test func `common table expressions, recursive too`() async throws {
    try await inLibrary { conn in
      try expect(
        conn,
        With {
          Values { Counter.Columns(value: bind(1)) }
            .union(
              all: true,
              Counter.where { $0.value < 100 }.select { Counter.Columns(value: $0.value + 1) })
        } query: {
          Counter.select { $0.value.sum() }
        },
        """
        WITH "counter" ("value") AS (SELECT ? AS "value" UNION ALL SELECT
        ("counter"."value" + ?) AS "value" FROM "counter" WHERE ("counter"."value" < ?))
        SELECT sum("counter"."value") FROM "counter"
        """, [5050])
      let limited = With {
        Values { Counter.Columns(value: bind(1)) }
          .union(all: true, Counter.select { Counter.Columns(value: $0.value + 1) })
      } query: {
        Counter.select { $0.value }.limit(100)
      }
      #expect(try limited.fetchAll(conn) == Array(1...100))
      let chain = With {
        Person.find(3).select { Chain.Columns(id: $0.id, depth: bind(0)) }
          .union(
            all: true,
            Person.join(Chain.all) { $0.id == $1.id }.where { person, _ in person.bossID != nil }
              .select { Chain.Columns(id: $0.bossID.ifnull(0), depth: $1.depth + 1) })
      } query: {
        Person.join(Chain.all) { $0.id == $1.id }.order { _, chain in chain.depth }
          .select { person, _ in person.name }
      }
      #expect(try chain.fetchAll(conn) == ["Cid", "Ben", "Ada"])
      let cleared = With {
        Counter.counting
      } query: {
        Book.where { $0.id.in(Counter.select { $0.value }) }.delete()
      }
      #expect(try cleared.execute(conn) == 3)
    }
  }

  @Test func `full-text search`() async throws {
    try await inLibrary { conn in
      try expect(
        conn,
        BookText.where { $0.match("equal OR watching") }.order { $0.rank }.select { $0.title },
        """
        SELECT "bookText"."title" FROM "bookText" WHERE ("bookText" MATCH ?)
        ORDER BY "bookText"."rank"
        """, ["1984", "Animal Farm"])
      try expect(
        conn,
        BookText.where { $0.body.match("brother") }
          .select { ($0.highlight(\.body, "[", "]")) },
        """
        SELECT highlight("bookText", 1, ?, ?) FROM "bookText" WHERE ("bookText"."body" MATCH ?)
        """, ["Big [Brother] is watching"])
      try expect(
        conn,
        BookText.where { $0.match("animals") }
          .select { $0.snippet(\.body, "<", ">", tokens: 3) },
        """
        SELECT snippet("bookText", 1, ?, ?, ?, ?) FROM "bookText" WHERE ("bookText" MATCH ?)
        """, ["All <animals> are…"])
      let weighted = BookText.where { $0.match("animal") }.select { $0.bm25(10, 1) }
      #expect(weighted.query.sql.hasPrefix(#"SELECT bm25("bookText", ?, ?) FROM"#))
      let score = try #require(try weighted.fetchOne(conn))
      #expect(score < 0)
    }
  }
}

extension Counter {
  static var counting: Compound<Counter> {
    Values { Counter.Columns(value: bind(1)) }
      .union(
        all: true, Counter.where { $0.value < 5 }.select { Counter.Columns(value: $0.value + 1) })
  }
}
