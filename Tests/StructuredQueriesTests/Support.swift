import BoutiqueDB
import Testing

/// Runs a test on a library of its own, in memory.
func inLibrary(
  _ body: @escaping @Sendable (BoutiqueConnection) throws -> Void
) async throws {
  let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
  do {
    try await db.write { conn in
      try Library.make(on: conn)
      try body(conn)
    }
  } catch {
    await db.close()
    throw error
  }
  await db.close()
}

/// Checks the text of a statement and its rows.
func expect<S: Statement>(
  _ conn: BoutiqueConnection, _ statement: S, _ sql: String, _ rows: [S.QueryValue.Output],
  at place: SourceLocation = #_sourceLocation
) throws where S.QueryValue.Output: Equatable {
  #expect(statement.query.sql == sql.unwrapped, sourceLocation: place)
  #expect(try statement.fetchAll(conn) == rows, sourceLocation: place)
}

/// Checks the text of a statement that writes and how many rows it changes.
func expect(
  _ conn: BoutiqueConnection, _ statement: some Statement, _ sql: String, changes: Int,
  at place: SourceLocation = #_sourceLocation
) throws {
  #expect(statement.query.sql == sql.unwrapped, sourceLocation: place)
  #expect(try statement.execute(conn) == changes, sourceLocation: place)
}

extension String {
  /// The text on one line; statements in tests are broken for reading.
  var unwrapped: String {
    split(separator: "\n").map { line in String(line.drop { $0 == " " }) }.joined(separator: " ")
  }
}
