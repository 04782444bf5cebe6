import BoutiqueDB
public import Foundation

/// A row that a full-text search has found.
public struct BlackbirdModelSearchResult<T: BlackbirdModel>: Identifiable, Sendable {
  /// The values of the row's primary key.
  public let id: [Blackbird.Value]
  /// How well the row fits, among the results of one search: the higher the better.
  public let score: Double
  /// The instance, where the search was told to preload instances.
  public let preloadedInstance: T?

  /// Text by column name, with words that were found between marks.
  let highlights: [String: MarkedText]
  let highlightMode: BlackbirdModelSearchOptions<T>.HighlightMode
  let snippets: [String: MarkedText]
  let snippetMode: BlackbirdModelSearchOptions<T>.SnippetMode

  // MARK: The row

  /// Returns the row's instance; nil where the row is gone.
  public func instance(from database: Blackbird.Database) async throws -> T? {
    if let preloadedInstance { return preloadedInstance }
    return try await T.read(from: database, multicolumnPrimaryKey: id)
  }

  /// Returns the row's instance, inside a transaction; nil where the row is gone.
  public func instanceIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core
  ) throws -> T? {
    try core.require(database)
    if let preloadedInstance { return preloadedInstance }
    return try T.readIsolated(from: database, core: core, multicolumnPrimaryKey: id)
  }

  /// Returns some columns of the row; nil where it is gone.
  public func row(
    from database: Blackbird.Database, columns: [T.BlackbirdColumnKeyPath]
  ) async throws -> Blackbird.ModelRow<T>? {
    try await T.query(in: database, columns: columns, multicolumnPrimaryKey: id)
  }

  /// Returns some columns of the row, inside a transaction; nil where it is gone.
  public func rowIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    columns: [T.BlackbirdColumnKeyPath]
  ) throws -> Blackbird.ModelRow<T>? {
    try core.require(database)
    return try T.queryIsolated(
      in: database, core: core, columns: columns, multicolumnPrimaryKey: id)
  }

  // MARK: Text

  /// Returns a column's whole text with the words that were found marked.
  ///
  /// - Returns: nil where the column is not searched, or the search was told to make none.
  public func highlighted(_ column: T.BlackbirdColumnKeyPath) -> String? {
    guard case .generate(let prefix, let suffix) = highlightMode else { return nil }
    return text(highlights, column)?.string(prefix: prefix, suffix: suffix)
  }

  /// Returns a column's whole text with the words that were found carrying attributes.
  public func highlighted(
    _ column: T.BlackbirdColumnKeyPath, matchAttributes: AttributeContainer
  ) -> AttributedString? {
    guard case .generate = highlightMode else { return nil }
    return text(highlights, column)?.attributed(matchAttributes)
  }

  /// Returns a piece of a column's text around the words that were found.
  ///
  /// - Returns: nil where none was found in the column, or the search was told to make none.
  public func snippet(_ column: T.BlackbirdColumnKeyPath) -> String? {
    guard case .generate(_, let prefix, let suffix, _) = snippetMode,
      let text = text(snippets, column), text.hasMarks
    else { return nil }
    return text.string(prefix: prefix, suffix: suffix)
  }

  /// Returns a piece of a column's text around the words that were found, which carry attributes.
  public func snippet(
    _ column: T.BlackbirdColumnKeyPath, matchAttributes: AttributeContainer
  ) -> AttributedString? {
    guard case .generate = snippetMode, let text = text(snippets, column), text.hasMarks else {
      return nil
    }
    return text.attributed(matchAttributes)
  }

  private func text(
    _ texts: [String: MarkedText], _ column: T.BlackbirdColumnKeyPath
  ) -> MarkedText? {
    (try? T.table.name(of: column)).flatMap { texts[$0] }
  }

  // MARK: Several searches

  /// Returns the results of several searches as one: each row once, with its highest score, the best first.
  public static func merge(results: [Self]...) -> [Self] {
    var best: [[Blackbird.Value]: Int] = [:]
    var merged: [Self] = []
    for result in results.joined() {
      if let place = best[result.id] {
        if merged[place].score < result.score { merged[place] = result }
      } else {
        best[result.id] = merged.count
        merged.append(result)
      }
    }
    // Stable, so that equal scores keep the order of the searches.
    return merged.enumerated()
      .sorted { ($1.element.score, $0.offset) < ($0.element.score, $1.offset) }
      .map(\.element)
  }
}

/// A text in which FTS5 has marked words.
///
/// The marks are private to the library, so that text which holds what a user chose for a mark is not taken
/// for one.
struct MarkedText: Sendable {
  static let prefix = "\u{E000}\u{1}"
  static let suffix = "\u{E001}\u{1}"

  let text: String

  var hasMarks: Bool { text.contains(Self.prefix) }

  func string(prefix: String, suffix: String) -> String {
    text.replacing(Self.prefix, with: prefix).replacing(Self.suffix, with: suffix)
  }

  func attributed(_ attributes: AttributeContainer) -> AttributedString {
    var result = AttributedString()
    var rest = text[...]
    while let start = rest.firstRange(of: Self.prefix) {
      result += AttributedString(String(rest[..<start.lowerBound]))
      rest = rest[start.upperBound...]
      let end = rest.firstRange(of: Self.suffix)
      result += AttributedString(
        String(rest[..<(end?.lowerBound ?? rest.endIndex)]), attributes: attributes)
      rest = rest[(end?.upperBound ?? rest.endIndex)...]
    }
    return result + AttributedString(String(rest))
  }
}
