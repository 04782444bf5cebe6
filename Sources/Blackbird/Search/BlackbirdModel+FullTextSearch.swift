import BoutiqueDB

extension BlackbirdModel {
  /// A row that a search has found.
  public typealias SearchResult = BlackbirdModelSearchResult<Self>

  /// Searches the model's full-text index.
  ///
  /// Whatever any process has committed before is found, or not found any more. Where a program without this
  /// library has written since, its rows are indexed first, in a transaction.
  ///
  /// - Parameters:
  ///   - matching: what to look for: `.match("sports")`, with conditions on any columns beside.
  ///   - limit: how many results are returned at most; all without it.
  ///   - options: what results hold, and their order.
  /// - Returns: the results, the best first unless `options` say otherwise.
  /// - Throws: ``BlackbirdModelError`` where the model is not searched, ``Blackbird/Database/Error``; with
  ///   full syntax ``Blackbird/Database/Error/queryError(query:error:)`` for a text that is no query.
  public static func fullTextSearch(
    from database: Blackbird.Database, matching: BlackbirdModelColumnExpression<Self>,
    limit: Int? = nil, options: BlackbirdModelSearchOptions<Self> = .default
  ) async throws -> [SearchResult] {
    let search = try FullTextSearch(matching: matching, limit: limit, options: options)
    let isReadOnly = database.options.contains(.readOnly)
    let found = try await database.read(search.table) { core in
      try search.results(core, isReadOnly ? .withoutNoted : .whereComplete)
    }
    if let found { return found }
    return try await database.write(search.table) { core in
      try search.results(core, .afterNotes) ?? []
    }
  }

  /// Searches the model's full-text index, inside a transaction.
  public static func fullTextSearchIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    matching: BlackbirdModelColumnExpression<Self>, limit: Int? = nil,
    options: BlackbirdModelSearchOptions<Self> = .default
  ) throws -> [SearchResult] {
    try core.require(database)
    let search = try FullTextSearch(matching: matching, limit: limit, options: options)
    try core.prepare(search.table)
    return try search.results(core, .afterNotes) ?? []
  }

  /// Puts the full-text index into its fastest form.
  ///
  /// It may take long, and others wait meanwhile to write.
  public static func optimizeFullTextIndex(in database: Blackbird.Database) async throws {
    let table = try table
    try await database.write(table) { core in try optimize(core, table) }
  }

  /// Puts the full-text index into its fastest form, inside a transaction.
  public static func optimizeFullTextIndexIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core
  ) throws {
    try core.require(database)
    let table = try table
    try core.prepare(table)
    try optimize(core, table)
  }

  private static func optimize(
    _ core: isolated Blackbird.Database.Core, _ table: ModelTable
  ) throws {
    guard !table.searchedColumns.isEmpty else { return }
    try Blackbird.Database.Error.translating {
      try SearchIndex(table.name).optimize(on: core.connection())
    }
  }
}
