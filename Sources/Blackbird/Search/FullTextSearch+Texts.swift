import BoutiqueDB

extension FullTextSearch {
  /// Up to this many results are asked for their texts one by one, and more in one go over all matches.
  private static var singly: Int { 200 }

  /// Adds highlights and snippets.
  ///
  /// In a statement of its own: the first one would make the texts of all matches before it sorts them.
  func addTexts(
    to hits: inout [Hit], _ condition: SearchCondition, _ columns: [String],
    _ connection: BoutiqueConnection
  ) throws {
    var expressions: [String] = []
    var values: [SQLValue] = []
    let places = table.searchedColumns.compactMap { column in
      columns.firstIndex(of: SearchIndex.columnName(of: column.name)).map { (column.name, $0) }
    }
    let name = SearchIndex.quoted(index.name)
    let marks: [SQLValue] = [.text(MarkedText.prefix), .text(MarkedText.suffix)]
    var hasHighlights = false
    if case .generate = options.highlights {
      hasHighlights = true
      for (_, place) in places {
        expressions.append("highlight(\(name), \(place), ?, ?)")
        values += marks
      }
    }
    var hasSnippets = false
    if case .generate(let words, _, _, let ellipsis) = options.snippets {
      hasSnippets = true
      for (_, place) in places {
        expressions.append("snippet(\(name), \(place), ?, ?, ?, \(min(64, max(1, words))))")
        values += marks + [.text(ellipsis)]
      }
    }
    guard !expressions.isEmpty, !hits.isEmpty else { return }
    var conditions = condition.matches.map { match in
      "\(SearchIndex.quoted(match.column ?? index.name)) MATCH ?"
    }
    values += condition.matches.map { .text($0.query) }
    let isSingle = hits.count <= Self.singly
    if isSingle { conditions.append("rowid = ?") }
    var sql = "SELECT rowid, \(expressions.joined(separator: ", ")) FROM \(name)"
    if !conditions.isEmpty { sql += " WHERE \(conditions.joined(separator: " AND "))" }

    func take(_ row: Row, _ hit: inout Hit) {
      for (offset, (column, _)) in places.enumerated() {
        if hasHighlights, case .text(let text) = row[1 + offset] {
          hit.highlights[column] = MarkedText(text: text)
        }
        let place = 1 + offset + (hasHighlights ? places.count : 0)
        if hasSnippets, case .text(let text) = row[place] {
          hit.snippets[column] = MarkedText(text: text)
        }
      }
    }
    let statement = try connection.prepare(sql)
    guard !isSingle else {
      for place in hits.indices {
        try statement.forEachRow(arguments: values + [.integer(hits[place].document)]) {
          take($0, &hits[place])
        }
      }
      return
    }
    let placeOf = Dictionary(
      hits.indices.map { (hits[$0].document, $0) }, uniquingKeysWith: { a, _ in a })
    try statement.forEachRow(arguments: values) { row in
      guard case .integer(let document) = row[0], let place = placeOf[document] else { return }
      take(row, &hits[place])
    }
  }
}
