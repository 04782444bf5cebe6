import BoutiqueDB

/// A condition on the columns of a model, as `matching:` takes it.
///
/// ```swift
/// \.$title == "Sports" && (\.$score >= 3 || \.$url == nil)
/// .valueIn(\.$id, [1, 2, 3])
/// .like(\.$title, "the%")
/// .literal("id % 5 = ?", 1)
/// ```
///
/// `==` and `!=` compare as Swift does: nil is equal to nil, and different from every value. A key path that is
/// no column, and a value that cannot be stored, become the error of the call that uses the condition.
public struct BlackbirdModelColumnExpression<T: BlackbirdModel>: Sendable {
  indirect enum Node: Sendable {
    case all
    case condition(String, [SQLValue])
    /// Conditions between which there is one and the same word.
    case joined(String, ConditionChain<Node>)
    case not(Node)
    /// Words to be found in a column's place of the full-text index, or in all of it.
    case match(column: String?, query: String)
    case failed(any Error)
  }

  let node: Node
  /// Whether it asks for columns of the row alone, so that it is the same as long as the rows are.
  let isRepeatable: Bool
  /// How many conditions stand inside each other.
  private let depth: Int

  /// More than SQLite can take, and few enough to go down in recursion.
  private static var depthLimit: Int { 256 }

  init(_ node: Node, isRepeatable: Bool = false) {
    self.init(node, isRepeatable: isRepeatable, depth: 0)
  }

  private init(_ node: Node, isRepeatable: Bool, depth: Int) {
    self.isRepeatable = isRepeatable
    guard depth <= Self.depthLimit else {
      self.depth = 0
      self.node = .failed(
        BlackbirdModelError.argumentInvalid(
          type: String(describing: T.self),
          description: "more than \(Self.depthLimit) conditions stand inside each other"))
      return
    }
    self.depth = depth
    self.node = node
  }

  /// Creates a condition from SQL and its values; what throws in making them is thrown by the call.
  ///
  /// - Parameter isRepeatable: whether it asks for columns of the row alone.
  init(
    isRepeatable: Bool = false, _ make: () throws -> (sql: String, values: [SQLValue])
  ) {
    self.isRepeatable = isRepeatable
    depth = 0
    do {
      let (sql, values) = try make()
      node = .condition(sql, values)
    } catch {
      node = .failed(error)
    }
  }

  /// Every row.
  public static var all: Self { Self(.all, isRepeatable: true) }

  /// The condition that a column has one of some values.
  public static func valueIn<Value>(
    _ column: KeyPath<T, BlackbirdColumn<Value>>, _ values: [Value]
  ) -> Self {
    Self(isRepeatable: true) {
      let name = try T.sqlName(of: column)
      let stored = try values.map { try $0._stored() }
      // NULL is in no list.
      let hasNull = Value._isOptional && stored.contains(.null)
      let others = stored.filter { !$0.isNull }
      let list = try SQLList.text(others)
      let sql =
        hasNull ? "(\(name) IN (\(list.text)) OR \(name) IS NULL)" : "\(name) IN (\(list.text))"
      return (sql, list.values)
    }
  }

  /// The condition that a column has one of some values.
  public static func `in`<Value>(
    _ column: KeyPath<T, BlackbirdColumn<Value>>, _ values: [Value]
  ) -> Self { valueIn(column, values) }

  /// The condition that a column's text matches a pattern: `%` is any text, `_` any character.
  ///
  /// Letters of ASCII match in either case.
  public static func like<Value>(
    _ column: KeyPath<T, BlackbirdColumn<Value>>, _ pattern: String
  ) -> Self {
    Self(isRepeatable: true) { ("\(try T.sqlName(of: column)) LIKE ?", [.text(pattern)]) }
  }

  /// A condition in SQL, with `?` for each value.
  public static func literal(_ sql: String, _ arguments: (any Sendable)?...) -> Self {
    Self { ("(\(sql))", try arguments.map { try ModelArgument.stored($0) }) }
  }

  static func joined(_ a: Self, _ word: String, _ b: Self) -> Self {
    let (first, second) = (a.parts(joinedBy: word), b.parts(joinedBy: word))
    return Self(
      .joined(word, first.chain + second.chain), isRepeatable: a.isRepeatable && b.isRepeatable,
      depth: max(first.depth, second.depth))
  }

  /// The conditions that can stand in a chain with a word, and the chain's depth with them.
  private func parts(joinedBy word: String) -> (chain: ConditionChain<Node>, depth: Int) {
    if case .joined(word, let chain) = node { return (chain, depth) }
    return (ConditionChain(node), depth + 1)
  }

  static func not(_ a: Self) -> Self {
    Self(.not(a.node), isRepeatable: a.isRepeatable, depth: a.depth + 1)
  }

  /// Returns the condition as SQL, nil for every row, and its values.
  func compiled() throws -> (sql: String?, values: [SQLValue]) {
    var values: [SQLValue] = []
    let sql = try Self.text(node, &values)
    return (sql, values)
  }

  private static func text(_ node: Node, _ values: inout [SQLValue]) throws -> String? {
    switch node {
    case .all: return nil
    case .failed(let error): throw error
    case .match:
      throw BlackbirdModelError.argumentInvalid(
        type: try T.table.typeName,
        description: "match is for fullTextSearch(from:matching:), not for other reads")
    case .condition(let sql, let more):
      values += more
      return sql
    case .not(let node):
      return try text(node, &values).map { "NOT (\($0))" } ?? "0"
    case .joined(let word, let chain):
      let before = values.count
      var holdsAlways = false
      let texts = try chain.map { part -> String? in
        let found = try text(part, &values)
        if found == nil { holdsAlways = true }
        return found
      }
      if word == "OR", holdsAlways {
        values.removeSubrange(before...)
        return nil
      }
      return texts.text(joinedBy: word)
    }
  }
}

/// Lists of values in SQL.
private enum SQLList {
  /// Above this many values their number would come near what SQLite takes in one statement.
  private static let bound = 10_000

  static func text(_ values: [SQLValue]) throws -> (text: String, values: [SQLValue]) {
    guard values.count > bound else {
      return (Array(repeating: "?", count: values.count).joined(separator: ", "), values)
    }
    // As literals, which are not counted.
    return (values.map { Blackbird.Value($0).sqliteLiteral() }.joined(separator: ", "), [])
  }
}

extension BlackbirdModel {
  /// Returns the name of a column for SQL.
  static func sqlName(of path: AnyKeyPath) throws -> String {
    SQLName.quoted(try table.name(of: path))
  }
}
