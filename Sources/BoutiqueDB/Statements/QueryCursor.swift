import SQLiteConnection
public import StructuredQueries

/// The rows of a statement, read one by one as they are asked for.
///
/// It ends with the closure in which it was made.
public final class QueryCursor<QueryValue: QueryRow> {
  private let owner: BoutiqueConnection
  private let statement: PreparedStatement?
  private var steps: StatementSteps?

  init(_ query: SQLFragment, on owner: BoutiqueConnection) throws {
    self.owner = owner
    guard !query.isEmpty else {
      statement = nil
      return
    }
    let statement = try owner.statement(query)
    self.statement = statement
    do {
      try owner.bind(query, to: statement)
    } catch {
      statement.reset()
      throw error
    }
    steps = StatementSteps(statement, on: owner)
  }

  deinit {
    // One that escaped from its closure must leave the statement alone: by now it may be another's.
    if steps != nil, (try? owner.guardUse(of: "")) != nil { statement?.reset() }
  }

  /// Returns the next row, or nil at the end.
  public func next() throws -> QueryValue.Output? {
    try owner.guardUse(of: statement?.sql ?? "")
    do {
      if let row = try steps?.next(QueryValue.self) { return row }
    } catch {
      end()
      throw error
    }
    end()
    return nil
  }

  private func end() {
    guard steps != nil else { return }
    steps = nil
    statement?.reset()
  }
}
