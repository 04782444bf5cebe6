import Blackbird
import BoutiqueDB
import TestDatabase
import Testing

/// A model whose key is the row id.
struct Essay: BlackbirdModel {
  static let fullTextSearchableColumns: FullTextIndex = [
    \.$title: .text(weight: 4), \.$body: .text, \.$state: .filterOnly,
  ]
  static let uniqueIndexes: [[BlackbirdColumnKeyPath]] = [[\.$slug]]

  @BlackbirdColumn var id: Int
  @BlackbirdColumn var slug: String
  @BlackbirdColumn var title: String
  @BlackbirdColumn var body: String?
  @BlackbirdColumn var state: Int
}

/// A model without a row id, and with a key of two columns.
struct Page: BlackbirdModel {
  static let primaryKey: [BlackbirdColumnKeyPath] = [\.$book, \.$number]
  static let fullTextSearchableColumns: FullTextIndex = [\.$text: .text, \.$rank: .text]

  @BlackbirdColumn var book: String
  @BlackbirdColumn var number: Int
  @BlackbirdColumn var text: String
  /// FTS5 has this name for itself.
  @BlackbirdColumn var rank: String
}

func essay(
  _ id: Int, _ title: String, _ body: String? = nil, state: Int = 0
) -> Essay {
  Essay(id: id, slug: "slug \(id)", title: title, body: body, state: state)
}

extension Essay {
  /// The keys of what a search finds, in its order.
  static func found(
    _ text: String, in db: Blackbird.Database,
    _ mode: BlackbirdFullTextQuerySyntaxMode = .escapeQuerySyntax
  ) async throws -> [Int] {
    try await found(.match(text, syntaxMode: mode), in: db)
  }

  static func found(
    _ matching: BlackbirdModelColumnExpression<Essay>, in db: Blackbird.Database
  ) async throws -> [Int] {
    try await fullTextSearch(from: db, matching: matching).map { $0.preloadedInstance?.id ?? -1 }
  }
}

extension Page {
  static func found(_ text: String, in db: Blackbird.Database) async throws -> Set<String> {
    let results = try await fullTextSearch(
      from: db, matching: .match(text, syntaxMode: .escapeQuerySyntax))
    return Set(results.map { "\($0.id[0].stringValue ?? "") \($0.id[1].stringValue ?? "")" })
  }
}

/// Runs a test with a new database in a file.
func withFile(_ body: (Blackbird.Database, String) async throws -> Void) async throws {
  let directory = try TestDirectory()
  let path = directory.file("app.db")
  let db = try await Blackbird.Database.open(path: path)
  do {
    try await body(db, path)
  } catch {
    await db.close()
    throw error
  }
  await db.close()
  try await TestDatabaseCheck.isWhole(path: path)
}
