import BoutiqueDB

/// One search.
struct FullTextSearch<T: BlackbirdModel>: Sendable {
  /// What is done about rows that the index does not know yet.
  enum Notes {
    /// There is no result while there are any.
    case whereComplete
    /// They are indexed first.
    case afterNotes
    /// They are left out, since nothing can be written.
    case withoutNoted
  }

  let table: ModelTable
  let matching: BlackbirdModelColumnExpression<T>
  let limit: Int?
  let options: BlackbirdModelSearchOptions<T>

  var index: SearchIndex { SearchIndex(table.name) }

  init(
    matching: BlackbirdModelColumnExpression<T>, limit: Int?,
    options: BlackbirdModelSearchOptions<T>
  ) throws {
    table = try T.table
    guard !table.searchedColumns.isEmpty else {
      throw BlackbirdModelError.argumentInvalid(
        type: table.typeName, description: "it has no fullTextSearchableColumns")
    }
    self.matching = matching
    self.limit = limit
    self.options = options
  }

  /// Returns the results; nil where the index has to be written first.
  func results(
    _ core: isolated Blackbird.Database.Core, _ notes: Notes
  ) throws -> [BlackbirdModelSearchResult<T>]? {
    try Blackbird.Database.Error.translating {
      let connection = try core.connection()
      do {
        switch notes {
        case .whereComplete: if try index.hasNotes(on: connection) { return nil }
        case .afterNotes: try connection.savepoint { try index.applyNotes(on: connection) }
        case .withoutNoted: break
        }
        return try results(core, connection, skippingNoted: notes == .withoutNoted)
      } catch BoutiqueError.corrupt where notes != .withoutNoted {
        // The text is in the table: the index can be made anew, by whoever may write.
        guard notes == .afterNotes else { return nil }
        try index.rebuild(on: connection)
        return try results(core, connection, skippingNoted: false)
      }
    }
  }

  private func results(
    _ core: isolated Blackbird.Database.Core, _ connection: BoutiqueConnection,
    skippingNoted: Bool
  ) throws -> [BlackbirdModelSearchResult<T>] {
    let columns = try index.indexedColumns(on: connection)
    for column in table.searchedColumns
    where !columns.contains(SearchIndex.columnName(of: column.name)) {
      throw BlackbirdTableError.schemaChangedByAnother(
        type: table.typeName, table: table.name,
        description: "its column \(column.name) is not in the full-text index any more")
    }
    let condition = try SearchCondition(matching, index)
    var hits = try hits(condition, columns, skippingNoted: skippingNoted, core, connection)
    try addTexts(to: &hits, condition, columns, connection)
    return hits.map(result)
  }

  private func result(_ hit: Hit) -> BlackbirdModelSearchResult<T> {
    BlackbirdModelSearchResult(
      id: hit.key.map { Blackbird.Value($0) }, score: hit.score * options.scoreMultiple,
      preloadedInstance: hit.instance, highlights: hit.highlights,
      highlightMode: options.highlights, snippets: hit.snippets, snippetMode: options.snippets)
  }
}
