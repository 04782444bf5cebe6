import BoutiqueDB

extension BlackbirdModelColumnExpression {
  /// The condition that words are found in any searched column of the model; for
  /// ``BlackbirdModel/fullTextSearch(from:matching:limit:options:)``.
  ///
  /// - Parameters:
  ///   - text: what to look for: anything at all, unless `syntaxMode` allows the full query language.
  ///   - syntaxMode: how the text is understood.
  public static func match(
    _ text: String,
    syntaxMode: BlackbirdFullTextQuerySyntaxMode = .escapeQuerySyntaxAndPrefixMatchLastPhrase
  ) -> Self {
    Self(
      .match(column: nil, query: SearchText.query(text, mode: syntaxMode)), isRepeatable: false)
  }

  /// The condition that words are found in one searched column; otherwise as ``match(_:syntaxMode:)``.
  public static func match(
    column: T.BlackbirdColumnKeyPath, _ text: String,
    syntaxMode: BlackbirdFullTextQuerySyntaxMode = .escapeQuerySyntaxAndPrefixMatchLastPhrase
  ) -> Self {
    do {
      let table = try T.table
      let name = try table.name(of: column)
      guard table.searchedColumns.contains(where: { $0.name == name }) else {
        throw BlackbirdModelError.argumentInvalid(
          type: table.typeName,
          description: "match(column:) needs \(name) in fullTextSearchableColumns, as text")
      }
      return Self(
        .match(
          column: SearchIndex.columnName(of: name), query: SearchText.query(text, mode: syntaxMode)),
        isRepeatable: false)
    } catch {
      return Self(.failed(error))
    }
  }
}

/// A condition taken apart for FTS5: it ranks only by matches that stand in the statement on their own.
struct SearchCondition {
  /// Matches that must all hold: the index's column, or nil for all, and the query.
  private(set) var matches: [(column: String?, query: String)] = []
  /// What else must hold, over the columns of the table.
  private(set) var filters: [(sql: String, values: [SQLValue])] = []

  /// - Throws: what the condition carries: a key path that is no column, a value that cannot be stored.
  init<T>(_ expression: BlackbirdModelColumnExpression<T>, _ index: SearchIndex) throws {
    try take(expression.node, as: T.self, index)
  }

  private mutating func take<T>(
    _ node: BlackbirdModelColumnExpression<T>.Node, as type: T.Type, _ index: SearchIndex
  ) throws {
    switch node {
    case .all: return
    case .match(let column, let query): matches.append((column, query))
    case .joined("AND", let chain):
      for part in chain.parts { try take(part, as: type, index) }
    default:
      if let query = Self.query(of: node) {
        matches.append((nil, query))
      } else {
        filters.append(try Self.filter(of: node, index))
      }
    }
  }

  /// One query for a condition that is made of matches alone.
  private static func query<T>(of node: BlackbirdModelColumnExpression<T>.Node) -> String? {
    switch node {
    case .match(nil, let query): return "(\(query))"
    case .match(let column?, let query): return "{\(SearchIndex.quoted(column))} : (\(query))"
    case .joined(let word, let chain):
      var isQuery = true
      let queries = chain.map { part -> String? in
        let found = query(of: part)
        if found == nil { isQuery = false }
        return found
      }
      return isQuery ? queries.text(joinedBy: word) : nil
    default: return nil
    }
  }

  /// The condition in SQL; matches inside it are found, but do not rank.
  private static func filter<T>(
    of node: BlackbirdModelColumnExpression<T>.Node, _ index: SearchIndex
  ) throws -> (sql: String, values: [SQLValue]) {
    switch node {
    case .match(let column, let query):
      let target = SearchIndex.quoted(column ?? index.name)
      return (
        "(f.\"search+doc\" IN (SELECT rowid FROM \(SearchIndex.quoted(index.name)) "
          + "WHERE \(target) MATCH ?))", [.text(query)]
      )
    case .joined(let word, let chain):
      var values: [SQLValue] = []
      let texts = try chain.map { part -> String? in
        let (sql, more) = try filter(of: part, index)
        values += more
        return sql
      }
      return (texts.text(joinedBy: word) ?? "1", values)
    case .not(let node):
      let inner = try filter(of: node, index)
      return ("NOT (\(inner.sql))", inner.values)
    case .all: return ("1", [])
    case .condition(let sql, let values): return (sql, values)
    case .failed(let error): throw error
    }
  }
}
