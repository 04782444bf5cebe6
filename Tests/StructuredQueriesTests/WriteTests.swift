import BoutiqueDB
import Foundation
import Testing

@Suite struct WriteTests {
  @Test func `insert one, several, a list, and nothing`() async throws {
    try await inLibrary { conn in
      try expect(
        conn,
        Author.insert {
          Author(id: 7, name: "Eliot", email: nil)
          [Author(id: 8, name: "Hardy", email: "h@x"), Author(id: 9, name: "Kafka", email: nil)]
        },
        #"INSERT INTO "author" ("id", "name", "email") VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?)"#,
        changes: 3)
      #expect(try Author.fetchNames(conn).suffix(3) == ["Eliot", "Hardy", "Kafka"])
      let nothing = Author.insert { [Author]() }
      #expect(nothing.query.isEmpty)
      #expect(try nothing.execute(conn) == 0)
      #expect(try nothing.returning(\.self).fetchAll(conn) == [])
    }
  }

  @Test func `insert or replace, or ignore`() async throws {
    try await inLibrary { conn in
      let other = Author(id: 1, name: "Blair", email: nil)
      try expect(
        conn, Author.insert(or: .ignore) { other },
        #"INSERT OR IGNORE INTO "author" ("id", "name", "email") VALUES (?, ?, ?)"#, changes: 0)
      try expect(
        conn, Author.insert(or: .replace) { other },
        #"INSERT OR REPLACE INTO "author" ("id", "name", "email") VALUES (?, ?, ?)"#, changes: 1)
      #expect(try Author.find(1).fetchOne(conn) == other)
      #expect(throws: BoutiqueError.self) { try Author.insert { other }.execute(conn) }
    }
  }

  @Test func `some columns, the others by default`() async throws {
    try await inLibrary { conn in
      try expect(
        conn,
        Ticket.insert {
          ($0.id, $0.code)
        } values: {
          (UUID(), "a")
          (UUID(), "bc")
        }.returning { ($0.size) },
        #"INSERT INTO "ticket" ("id", "code") VALUES (?, ?), (?, ?) RETURNING "size""#, [1, 2])
      #expect(try Ticket.select { $0.uses }.fetchAll(conn) == [0, 0])
      try expect(
        conn,
        Person.insert {
          $0.name
        } values: {
          "Eve"
        },
        #"INSERT INTO "person" ("name") VALUES (?)"#, changes: 1)
      try expect(
        conn,
        Loan.insert {
          ($0.bookID, $0.reader, $0.period)
        } values: {
          (2, "Eve", Period(start: 1, end: nil))
        },
        """
        INSERT INTO "loan" ("book_id", "reader", "start_day", "end_day") VALUES (?, ?, ?, ?)
        """, changes: 1)
      try expect(
        conn, BookText.insertDefaults(), #"INSERT INTO "bookText" DEFAULT VALUES"#, changes: 1)
    }
  }

  @Test func `rows of a query`() async throws {
    try await inLibrary { conn in
      try expect(
        conn,
        Person.insert {
          ($0.id, $0.name)
        } select: {
          Author.where { $0.id > 1 }.select { ($0.id + 10, $0.name) }
        },
        """
        INSERT INTO "person" ("id", "name") SELECT ("author"."id" + ?), "author"."name"
        FROM "author" WHERE ("author"."id" > ?)
        """, changes: 2)
      #expect(
        try Person.where { $0.id > 10 }.select { $0.name }.fetchAll(conn) == ["Woolf", "Nobody"])
      try expect(
        conn,
        Person.insert {
          ($0.id, $0.name)
        } select: {
          Author.where { $0.id > 1 }.select { ($0.id + 10, $0.name) }
        }.onConflict {
          $0.id
        } doUpdate: {
          $0.name = $1.name + "!"
        },
        """
        INSERT INTO "person" ("id", "name") SELECT * FROM (SELECT ("author"."id" + ?),
        "author"."name" FROM "author" WHERE ("author"."id" > ?)) WHERE 1
        ON CONFLICT ("id") DO UPDATE SET "name" = ("excluded"."name" || ?)
        """, changes: 2)
    }
  }

  @Test func `drafts leave the key to SQLite, or get a new UUID`() async throws {
    try await inLibrary { conn in
      try expect(
        conn, Author.insert { Author.Draft(name: "Eliot") }.returning(\.self),
        """
        INSERT INTO "author" ("name", "email") VALUES (?, ?) RETURNING "id", "name", "email"
        """, [Author(id: 4, name: "Eliot", email: nil)])
      try expect(
        conn,
        Author.insert {
          Author.Draft(id: 20, name: "Hardy")
          Author.Draft(name: "Kafka")
        }.returning(\.id),
        """
        INSERT INTO "author" ("id", "name", "email") VALUES (?, ?, ?), (?, ?, ?) RETURNING "id"
        """, [20, 21])
      let ticket = try Ticket.insert { Ticket.Draft(code: "abc") }.returning(\.self).fetchOne(conn)
      #expect(ticket?.size == 3)
      #expect(try Ticket.find(ticket?.id ?? UUID()).fetchOne(conn) == ticket)
      let draft = try #require(ticket.map(Ticket.Draft.init))
      #expect(draft.id == ticket?.id)
      #expect(
        try conn.query("INSERT INTO ticket (id, code) VALUES (uuid(), 'q') RETURNING id").count == 1
      )
    }
  }

  @Test func `upsert of a key that is there changes the other columns`() async throws {
    try await inLibrary { conn in
      try expect(
        conn,
        Author.upsert { Author.Draft(id: 1, name: "Blair") }.returning(\.self),
        """
        INSERT INTO "author" ("id", "name", "email") VALUES (?, ?, ?)
        ON CONFLICT ("id") DO UPDATE SET "name" = "excluded"."name", "email" = "excluded"."email"
        RETURNING "id", "name", "email"
        """, [Author(id: 1, name: "Blair", email: nil)])
      #expect(
        try Author.upsert { Author.Draft(name: "New") }.returning(\.id).fetchAll(conn) == [4])
    }
  }

  @Test func `upsert of a key of two columns`() async throws {
    try await inLibrary { conn in
      let loan = Loan(bookID: 1, reader: "Ann", period: Period(start: 7, end: 8))
      try expect(
        conn, Loan.upsert { loan },
        """
        INSERT INTO "loan" ("book_id", "reader", "start_day", "end_day") VALUES (?, ?, ?, ?)
        ON CONFLICT ("book_id", "reader")
        DO UPDATE SET "start_day" = "excluded"."start_day", "end_day" = "excluded"."end_day"
        """, changes: 1)
      #expect(try Loan.find((1, "Ann")).fetchOne(conn) == loan)
    }
  }

  @Test func `the constraints of the model are SQLite's`() async throws {
    try await inLibrary { conn in
      func code(_ statement: some Statement) -> Int? {
        do {
          try conn.savepoint { _ = try statement.execute(conn) }
          return nil
        } catch BoutiqueError.sql(let code, _) {
          return code
        } catch {
          return -1
        }
      }
      var book = Book.Draft(title: "X", authorID: 1, price: 1, publishedAt: Date())
      #expect(code(Book.insert { book }) == nil)
      // SQLITE_CONSTRAINT_UNIQUE, _CHECK, _FOREIGNKEY, _NOTNULL, _DATATYPE.
      #expect(code(Book.insert { book }) == 2067)
      book.title = "Y"
      book.price = -1
      #expect(code(Book.insert { book }) == 275)
      book.price = 1
      book.authorID = 99
      #expect(code(Book.insert { book }) == 787)
      #expect(code(#sql("INSERT INTO person (id, name) VALUES (9, NULL)")) == 1299)
      #expect(code(#sql("INSERT INTO ticket (id, code, uses) VALUES ('i', 'c', 'many')")) == 3091)
      let plan = try conn.query(
        "EXPLAIN QUERY PLAN SELECT price FROM book WHERE stock = 1 AND stock > 0")
      #expect("\(plan[0].values)".contains("in_stock"))
    }
  }

  @Test func `on conflict do update and do nothing`() async throws {
    try await inLibrary { conn in
      let ticket = Ticket(id: UUID(), code: "abc", uses: 1, size: 0)
      try Ticket.insert { ticket }.execute(conn)
      let again = Ticket(id: UUID(), code: "ABC", uses: 5, size: 0)
      try expect(
        conn,
        Ticket.insert { again }.onConflict {
          $0.code
        } doUpdate: {
          $0.uses += $1.uses
        } where: { old, _ in
          old.uses < 10
        },
        """
        INSERT INTO "ticket" ("id", "code", "uses") VALUES (?, ?, ?) ON CONFLICT ("code")
        DO UPDATE SET "uses" = ("ticket"."uses" + "excluded"."uses") WHERE ("ticket"."uses" < ?)
        """, changes: 1)
      #expect(try Ticket.find(ticket.id).select { $0.uses }.fetchOne(conn) == 6)
      try expect(
        conn, Ticket.insert { again }.onConflictDoNothing { $0.code },
        """
        INSERT INTO "ticket" ("id", "code", "uses") VALUES (?, ?, ?)
        ON CONFLICT ("code") DO NOTHING
        """, changes: 0)
      try expect(
        conn, Ticket.insert { again }.onConflictDoNothing(),
        #"INSERT INTO "ticket" ("id", "code", "uses") VALUES (?, ?, ?) ON CONFLICT DO NOTHING"#,
        changes: 0)
    }
  }

  @Test func `updates in both spellings`() async throws {
    try await inLibrary { conn in
      try expect(
        conn, Book.where { $0.id.eq(1) }.update { $0.isAvailable.set(false) },
        #"UPDATE "book" SET "isAvailable" = ? WHERE ("book"."id" = ?)"#, changes: 1)
      try expect(
        conn, Book.where { $0.id.eq(1) }.update { $0.isAvailable = true },
        #"UPDATE "book" SET "isAvailable" = ? WHERE ("book"."id" = ?)"#, changes: 1)
      try expect(
        conn,
        Book.find(1).update {
          $0.title = $0.title.upper()
          $0.stock += 2
          $0.price *= 2
          $0.rating = nil
          $0.kind = .audio
          $0.labels = ["a", "b"]
          $0.isAvailable.toggle()
          $0.publishedAt.set(Date(timeIntervalSince1970: 1))
        },
        """
        UPDATE "book" SET "title" = upper("book"."title"), "stock" = ("book"."stock" + ?),
        "price" = ("book"."price" * ?), "rating" = ?, "kind" = ?, "labels" = ?,
        "isAvailable" = (NOT "book"."isAvailable"), "publishedAt" = ? WHERE ("book"."id" = ?)
        """, changes: 1)
      #expect(
        try Book.find(1).fetchOne(conn)
          == Book(
            id: 1, title: "ANIMAL FARM", authorID: 1, price: 15, stock: 5, isAvailable: false,
            rating: nil, publishedAt: Date(timeIntervalSince1970: 1), labels: ["a", "b"],
            kind: .audio))
      try expect(
        conn, Loan.all.update { $0.period.end = 9 }.returning { ($0.reader) },
        #"UPDATE "loan" SET "end_day" = ? RETURNING "reader""#, ["Ann", "Bob"])
      let suffix: String? = nil
      let nothing = Book.all.update { if let suffix { $0.title += suffix } }
      #expect(nothing.query.isEmpty)
      #expect(try nothing.execute(conn) == 0)
    }
  }

  @Test func `update and delete of one row, by key before or after`() async throws {
    try await inLibrary { conn in
      var author = Library.woolf
      author.email = "v@x"
      try expect(
        conn, Author.update(author),
        #"UPDATE "author" SET "name" = ?, "email" = ? WHERE ("author"."id" = ?)"#, changes: 1)
      #expect(try Author.find(2).fetchOne(conn) == author)
      try expect(
        conn, Author.update { $0.name = "V" }.find(2),
        #"UPDATE "author" SET "name" = ? WHERE ("author"."id" = ?)"#, changes: 1)
      try expect(
        conn, Author.delete(author), #"DELETE FROM "author" WHERE ("author"."id" = ?)"#, changes: 1)
      try expect(
        conn, Author.delete().find(3), #"DELETE FROM "author" WHERE ("author"."id" = ?)"#,
        changes: 1)
      // The foreign key has taken the books along.
      #expect(try Book.all.fetchCount(conn) == 2)
      let loan = Loan(bookID: 1, reader: "Ann", period: Period(start: 2, end: 3))
      try expect(
        conn, Loan.update(loan),
        """
        UPDATE "loan" SET "start_day" = ?, "end_day" = ?
        WHERE (("loan"."book_id" = ?) AND ("loan"."reader" = ?))
        """, changes: 1)
    }
  }

  @Test func `update from another table`() async throws {
    try await inLibrary { conn in
      try expect(
        conn,
        Book.where { $0.stock == 0 }.update(from: Author.all) {
          $0.authorID == $1.id
        } _: {
          $0.title = $1.name + ": " + $0.title
        },
        """
        UPDATE "book" SET "title" = (("author"."name" || ?) || "book"."title") FROM "author"
        WHERE (("book"."stock" = ?) AND ("book"."author_id" = "author"."id"))
        """, changes: 1)
      #expect(try Book.find(2).select { $0.title }.fetchOne(conn) == "Orwell: 1984")
    }
  }

  @Test func `delete, with rows returned`() async throws {
    try await inLibrary { conn in
      try expect(
        conn, Book.where { $0.kind == .audio }.delete().returning { ($0.id) },
        #"DELETE FROM "book" WHERE ("book"."kind" = ?) RETURNING "id""#, [3])
      try expect(conn, Loan.delete(), #"DELETE FROM "loan""#, changes: 2)
      #expect(try Author.delete().returning(\.name).fetchOne(conn) == "Orwell")
      #expect(try Author.all.fetchCount(conn) == 0)
    }
  }

  @Test func `a value that SQLite cannot hold stops the statement`() async throws {
    try await inLibrary { conn in
      #expect {
        try Book.find(1).update { $0.price = .nan }.execute(conn)
      } throws: { error in
        guard case BoutiqueError.bindingFailed(let failure) = error else { return false }
        return failure.type == "Double"
      }
      #expect(throws: BoutiqueError.self) {
        try conn.execute(#sql("INSERT INTO \(Person.self) (id, name) VALUES (\(UInt64.max), 'x')"))
      }
      let count = try Person.all.fetchCount(conn)
      #expect(count == 3)
    }
  }
}

extension Author {
  static func fetchNames(_ conn: BoutiqueConnection) throws -> [String] {
    try order { $0.id }.select { $0.name }.fetchAll(conn)
  }
}
