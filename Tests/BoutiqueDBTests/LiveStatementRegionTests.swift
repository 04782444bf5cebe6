import BoutiqueDB
import Foundation
import Testing

/// Regions of statements of the query language: what is asked for by key depends on rows.
@Suite struct LiveStatementRegionTests {
  @BoutiqueTable
  struct Doc: Equatable {
    let id: Int
    var title: String
    var pages: Int = 1
  }

  @BoutiqueTable(strict: true)
  struct Card: Equatable {
    @Column(primaryKey: true) let id: UUID
    var title: String
  }

  @BoutiqueTable(withoutRowID: true)
  struct Loan: Equatable {
    @Column("book_id", primaryKey: true) let bookID: Int
    @Column(primaryKey: true) let reader: String
    var day: Int
  }

  private static let first = UUID()
  private static let second = UUID()

  private func withDatabase(
    isolation: isolated (any Actor)? = #isolation, _ body: (BoutiqueDB) async throws -> Void
  ) async throws {
    let plan = BoutiqueMigrationPlan {
      BoutiqueMigration("v1") { conn in
        for sql in [Doc.createTable(), Card.createTable(), Loan.createTable()] {
          try sql.execute(conn)
        }
        try Doc.insert { (1...5).map { Doc(id: $0, title: "d\($0)") } }.execute(conn)
        try Card.insert {
          [Card(id: Self.first, title: "a"), Card(id: Self.second, title: "b")]
        }.execute(conn)
        try Loan.insert {
          [Loan(bookID: 1, reader: "x", day: 1), Loan(bookID: 1, reader: "y", day: 2)]
        }.execute(conn)
      }
    }
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL(), migrations: plan)
    try await body(db)
    await db.close()
  }

  /// Observes a statement through changes that must not and one that must touch it.
  private func check<S: Statement>(
    _ query: @escaping @Sendable () -> S, quiet: [any Statement], heard: any Statement,
    in db: BoutiqueDB
  ) async throws {
    var values = db.observe(query).makeAsyncIterator()
    _ = try await values.next()
    for change in quiet {
      try await db.write { _ = try $0.execute(change) }
      #expect(values.isCurrent, "\(query().query.sql) after \(change.query.sql)")
    }
    try await db.write { _ = try $0.execute(heard) }
    #expect(!values.isCurrent, "\(heard.query.sql)")
    _ = try await values.next()
    #expect(values.isCurrent)
  }

  @Test func `integer keys, by find, by comparison, in lists, beside other conditions`()
    async throws
  {
    try await withDatabase { db in
      let others: [any Statement] = [
        Doc.find(2).update { $0.title = "z" }, Doc.insert { Doc(id: 77, title: "new") },
        Doc.find(77).delete(),
      ]
      func change(_ id: Int, _ title: String) -> any Statement {
        Doc.find(id).update { $0.title = title }
      }
      try await check({ Doc.find(1) }, quiet: others, heard: change(1, "a"), in: db)
      try await check(
        { Doc.where { $0.id.eq(1) } }, quiet: others, heard: change(1, "b"), in: db)
      try await check(
        { Doc.where { $0.id == 1 && $0.pages > 0 }.order { $0.title } }, quiet: others,
        heard: change(1, "c"), in: db)
      try await check(
        { Doc.where { $0.id.in([1, 3]) }.where { $0.title != "none" }.limit(5) }, quiet: others,
        heard: change(3, "d"), in: db)
      try await check({ Doc.find([1, 4]) }, quiet: others, heard: change(4, "e"), in: db)
      try await check(
        { Doc.find(1).select { $0.title } }, quiet: others + [Doc.find(1).update { $0.pages = 9 }],
        heard: change(1, "f"), in: db)
      // A row that comes with the key later.
      try await check(
        { Doc.find(50) }, quiet: others, heard: Doc.insert { Doc(id: 50, title: "here") }, in: db)
      // The other table of a join counts as a whole.
      try await check(
        { Doc.find(1).join(Loan.all) { $0.id.eq($1.bookID) }.select { ($0.title, $1.day) } },
        quiet: others, heard: Loan.find((1, "y")).update { $0.day = 50 }, in: db)
    }
  }

  @Test func `keys of text and of several columns`() async throws {
    try await withDatabase { db in
      func rename(_ id: UUID, _ title: String) -> any Statement {
        Card.find(id).update { $0.title = title }
      }
      try await check(
        { Card.find(Self.first) },
        quiet: [rename(Self.second, "z"), Card.insert { Card(id: UUID(), title: "new") }],
        heard: rename(Self.first, "y"), in: db)
      try await check(
        { Card.where { $0.id.in([Self.first, Self.second]) } },
        quiet: [Card.insert { Card(id: UUID(), title: "new") }],
        heard: rename(Self.second, "x"), in: db)
      try await check(
        { Loan.find((1, "x")) },
        quiet: [
          Loan.find((1, "y")).update { $0.day = 9 },
          Loan.insert { Loan(bookID: 2, reader: "x", day: 1) },
        ], heard: Loan.find((1, "x")).delete(), in: db)
    }
  }

  @MainActor @Test func `a property of one row runs for that row alone`() async throws {
    try await withDatabase { db in
      let calls = TickCounter()
      let card = LiveQueryOne(db) {
        calls.add()
        return Card.where { $0.id.eq(Self.first) }
      }
      try await card.projectedValue.refresh()
      let before = calls.value
      try await db.write { conn in try Card.find(Self.second).delete().execute(conn) }
      try await db.write { conn in
        try Card.find(Self.first).update { $0.title = "mine" }.execute(conn)
      }
      #expect(card.wrappedValue?.title == "mine")
      #expect(calls.value == before + 1)
    }
  }
}
