import BoutiqueDB
import Foundation

// A small library: the tables that all statements here are tried on.

enum Kind: String, QueryBindable, CaseIterable {
  case paper
  case audio
}

@BoutiqueTable
struct Author: Equatable {
  let id: Int
  var name: String
  var email: String?
}

@BoutiqueTable(
  checks: ["price >= 0"], unique: [["title", "author_id"]],
  indexes: [TableIndex("stock", "price", where: "stock > 0", name: "in_stock")])
struct Book: Equatable {
  let id: Int
  var title: String
  @Column("author_id", indexed: true, references: ForeignKey(Author.self, onDelete: .cascade))
  var authorID: Int
  var price: Double
  var stock: Int = 1
  var isAvailable: Bool = true
  var rating: Int?
  var publishedAt: Date
  @Column(as: [String].JSONRepresentation.self) var labels: [String] = []
  var kind: Kind = .paper
}

/// A key of two columns, and a group of columns.
@BoutiqueTable(strict: true, withoutRowID: true)
struct Loan: Equatable {
  @Column("book_id", primaryKey: true) let bookID: Int
  @Column(primaryKey: true) let reader: String
  @Columns var period: Period
}

@Selection
struct Period: Equatable {
  @Column("start_day") var start: Int
  @Column("end_day") var end: Int?
}

@BoutiqueTable
struct Person: Equatable {
  let id: Int
  var name: String
  var bossID: Int?
}

/// A key that is a UUID, and a column that SQLite computes.
@BoutiqueTable(strict: true)
struct Ticket: Equatable {
  @Column(primaryKey: true) let id: UUID
  @Column(unique: true, collate: .nocase) var code: String
  var uses: Int = 0
  @Column(generated: .stored, as: "length(code)") let size: Int
}

@Table
struct BookText: FTS5, Equatable {
  var title: String
  var body: String
}

@Selection
struct AuthorStock: Equatable {
  var name: String
  var books: Int
  var stock: Int?
}

@Selection
struct BookAndAuthor: Equatable {
  let book: Book
  let author: Author?
}

@Selection
struct Counter: Equatable {
  let value: Int
}

@Selection
struct Chain: Equatable {
  let id: Int
  let depth: Int
}

enum Library {
  static let orwell = Author(id: 1, name: "Orwell", email: "george@example.org")
  static let woolf = Author(id: 2, name: "Woolf", email: nil)
  static let nobody = Author(id: 3, name: "Nobody", email: nil)

  static let farm = Book(
    id: 1, title: "Animal Farm", authorID: 1, price: 7.5, stock: 3, rating: 5,
    publishedAt: Date(timeIntervalSince1970: -768_787_200), labels: ["satire"])
  static let year = Book(
    id: 2, title: "1984", authorID: 1, price: 9, stock: 0, isAvailable: false, rating: 4,
    publishedAt: Date(timeIntervalSince1970: -648_172_800), labels: ["novel", "dystopia"])
  static let waves = Book(
    id: 3, title: "The Waves", authorID: 2, price: 12.25, stock: 2, rating: nil,
    publishedAt: Date(timeIntervalSince1970: -1_206_662_400), kind: .audio)

  /// Makes the tables and their rows.
  static func make(on conn: BoutiqueConnection) throws {
    for statement in [
      Author.createTable(), Book.createTable(), Loan.createTable(), Person.createTable(),
      Ticket.createTable(), BookText.createTable(),
    ] + Book.createIndexes() {
      try statement.execute(conn)
    }
    try Author.insert { [orwell, woolf, nobody] }.execute(conn)
    try Book.insert { [farm, year, waves] }.execute(conn)
    try Loan.insert {
      Loan(bookID: 1, reader: "Ann", period: Period(start: 1, end: 5))
      Loan(bookID: 1, reader: "Bob", period: Period(start: 6, end: nil))
    }.execute(conn)
    try Person.insert {
      Person(id: 1, name: "Ada", bossID: nil)
      Person(id: 2, name: "Ben", bossID: 1)
      Person(id: 3, name: "Cid", bossID: 2)
    }.execute(conn)
    try BookText.insert {
      BookText(title: "Animal Farm", body: "All animals are equal")
      BookText(title: "1984", body: "Big Brother is watching")
    }.execute(conn)
  }
}
