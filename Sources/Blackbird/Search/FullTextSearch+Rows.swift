import BoutiqueDB

extension FullTextSearch {
  struct Hit {
    var document: Int64
    var score: Double
    var key: [SQLValue]
    var instance: T?
    var highlights: [String: MarkedText] = [:]
    var snippets: [String: MarkedText] = [:]
  }

  func hits(
    _ condition: SearchCondition, _ columns: [String], skippingNoted: Bool,
    _ core: isolated Blackbird.Database.Core, _ connection: BoutiqueConnection
  ) throws -> [Hit] {
    guard let key = try index.key(on: connection) else { return [] }
    let selected =
      options.preloadInstances ? Array(table.columns.indices) : table.primaryKey
    let (sql, values) = try statement(
      condition, columns, key, selected, skippingNoted: skippingNoted)
    core.database.log(sql, .list(values.map { Blackbird.Value($0) }))
    let decoder = RowDecoder(table, database: core.database.id)
    defer { decoder.forgetContainer() }
    var hits: [Hit] = []
    try connection.forEachRow(sql, arguments: values) { row in
      guard case .integer(let document) = row[0] else { return }
      let stored = Array(row.values[2...])
      hits.append(
        Hit(
          document: document, score: Blackbird.Value(row[1]).doubleValue ?? 0,
          key: options.preloadInstances ? table.primaryKey.map { stored[$0] } : stored,
          instance: options.preloadInstances
            ? try decoder.instance(T.self, of: stored) : nil))
    }
    return hits
  }

  /// The statement that finds documents and joins their rows.
  ///
  /// What comes of the index is in a subquery, under names that no column has: conditions name the columns
  /// of the table without the table's name. CROSS JOIN keeps the index first.
  private func statement(
    _ condition: SearchCondition, _ columns: [String], _ key: SearchIndex.Key, _ selected: [Int],
    skippingNoted: Bool
  ) throws -> (sql: String, values: [SQLValue]) {
    let name = SearchIndex.quoted(index.name)
    var values: [SQLValue] = []
    var matches: [String] = []
    for match in condition.matches {
      matches.append("s.\(SearchIndex.quoted(match.column ?? index.name)) MATCH ?")
      values.append(.text(match.query))
    }
    let weights = columns.map { column in
      let own = table.searchedColumns.first { SearchIndex.columnName(of: $0.name) == column }
      return Blackbird.Value.double(own?.weight ?? 1).sqliteLiteral()
    }
    let places = key.names.indices
    let keys =
      key.isRowID ? "" : places.map { ", m.\"k\($0)\" AS \"search+k\($0)\"" }.joined()
    let map =
      key.isRowID
      ? "" : " CROSS JOIN \(SearchIndex.quoted(index.keys)) m ON m.\"doc\" = s.rowid"
    let rows = SQLName.quoted(table.name)
    let row = places.map { place in
      "\(rows).\(SQLName.quoted(key.names[place])) IS f."
        + (key.isRowID ? "\"search+doc\"" : "\"search+k\(place)\"")
    }
    var score = "f.\"search+score\""
    if let factor = options.scoreMultipleColumn {
      score += " * coalesce(\(SQLName.quoted(try table.name(of: factor))), 0)"
    }
    let columnNames = selected.map { SQLName.quoted(table.columns[$0].name) }
    var found = "SELECT s.rowid AS \"search+doc\"\(keys), "
    found += "-1.0 * bm25(\(name), \(weights.joined(separator: ", "))) AS \"search+score\" "
    found += "FROM \(name) s\(map)"
    if !matches.isEmpty { found += " WHERE \(matches.joined(separator: " AND "))" }
    var sql = "SELECT f.\"search+doc\", \(score) AS \"search+total\", "
    sql += columnNames.joined(separator: ", ")
    sql += " FROM (\(found)) f CROSS JOIN \(rows) ON \(row.joined(separator: " AND "))"
    var filters = condition.filters
    if skippingNoted {
      let noted = places.map { "n.\"k\($0)\" IS \(rows).\(SQLName.quoted(key.names[$0]))" }
      filters.append(
        (
          "NOT EXISTS (SELECT 1 FROM \(SearchIndex.quoted(index.notes)) n "
            + "WHERE \(noted.joined(separator: " AND ")))", []
        ))
    }
    if !filters.isEmpty {
      sql += " WHERE " + filters.map { "(\($0.sql))" }.joined(separator: " AND ")
      values += filters.flatMap(\.values)
    }
    let order =
      options.orderBy.isEmpty
      ? ["\"search+total\" DESC"] : try options.orderBy.map { try $0.text() }
    sql += " ORDER BY \((order + ["f.\"search+doc\""]).joined(separator: ", "))"
    if let limit {
      sql += " LIMIT ?"
      values.append(.integer(Int64(max(0, limit))))
    }
    return (sql, values)
  }
}
