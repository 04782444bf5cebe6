/// What a full-text search gives beside the rows, and in which order.
public struct BlackbirdModelSearchOptions<T: BlackbirdModel>: Sendable {
  /// Whether results have their whole text with the words that were found marked.
  public enum HighlightMode: Sendable {
    /// They have not.
    case none
    /// They have; a word that was found stands between `prefix` and `suffix`.
    case generate(prefix: String, suffix: String)
  }

  /// Whether results have a piece of their text around the words that were found.
  public enum SnippetMode: Sendable {
    /// They have not.
    case none
    /// They have: as many words as `contextWords` says, 64 at most, with `ellipsis` where text was left out; a word
    /// that was found stands between `prefix` and `suffix`.
    case generate(contextWords: Int, prefix: String, suffix: String, ellipsis: String)
  }

  /// Whether results have their text with marks.
  public let highlights: HighlightMode
  /// Whether results have pieces of their text with marks.
  public let snippets: SnippetMode
  /// Whether results have their instances already.
  public let preloadInstances: Bool
  /// What every score is multiplied by; of use where results of several searches are merged.
  public let scoreMultiple: Double
  /// The column whose number each row's score is multiplied by; NULL counts as 0.
  public let scoreMultipleColumn: T.BlackbirdColumnKeyPath?
  /// The order of the results; the best score first when empty.
  public let orderBy: [BlackbirdModelOrderClause<T>]

  /// Highlights, snippets and instances, the best score first.
  public static var `default`: Self { Self() }

  /// Creates options.
  public init(
    highlights: HighlightMode = .generate(prefix: "<b>", suffix: "</b>"),
    snippets: SnippetMode = .generate(
      contextWords: 7, prefix: "<b>", suffix: "</b>", ellipsis: "…"),
    preloadInstances: Bool = true, scoreMultiple: Double = 1,
    orderBy: [BlackbirdModelOrderClause<T>] = []
  ) {
    self.init(highlights, snippets, preloadInstances, scoreMultiple, nil, orderBy)
  }

  /// Creates options with a column whose number each row's score is multiplied by.
  public init(
    highlights: HighlightMode = .generate(prefix: "<b>", suffix: "</b>"),
    snippets: SnippetMode = .generate(
      contextWords: 7, prefix: "<b>", suffix: "</b>", ellipsis: "…"),
    preloadInstances: Bool = true, scoreMultiple: Double = 1,
    scoreMultipleColumn: T.BlackbirdColumnKeyPath, orderBy: [BlackbirdModelOrderClause<T>] = []
  ) {
    self.init(highlights, snippets, preloadInstances, scoreMultiple, scoreMultipleColumn, orderBy)
  }

  // Not one initialiser with an optional column: the compiler finds no type for `\.$name` there.
  private init(
    _ highlights: HighlightMode, _ snippets: SnippetMode, _ preloadInstances: Bool,
    _ scoreMultiple: Double, _ scoreMultipleColumn: T.BlackbirdColumnKeyPath?,
    _ orderBy: [BlackbirdModelOrderClause<T>]
  ) {
    self.highlights = highlights
    self.snippets = snippets
    self.preloadInstances = preloadInstances
    self.scoreMultiple = scoreMultiple
    self.scoreMultipleColumn = scoreMultipleColumn
    self.orderBy = orderBy
  }
}
