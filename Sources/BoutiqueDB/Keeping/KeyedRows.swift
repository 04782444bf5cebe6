import SQLiteConnection
import StructuredQueries

extension BoutiqueConnection {
  /// As many keys as these are asked for at once; there is a statement for each.
  private static var chunks: [Int] { [256, 16, 1] }

  /// Gives `body` the rows of a statement.
  func withRows(
    of query: SQLFragment, _ body: (inout StatementSteps) throws -> Void
  ) throws {
    guard var steps = try StatementSteps(query, on: self) else { return }
    defer { steps.end() }
    try body(&steps)
  }

  /// Reads rows by their row ids, beside what the closure's queries depend on.
  ///
  /// - Parameters:
  ///   - head: a SELECT up to the list of row ids, its parenthesis included.
  ///   - body: called with the rows of each part of the list.
  func readRows(
    _ head: SQLFragment, _ rowIDs: some Sequence<Int64>,
    _ body: (inout StatementSteps) throws -> Void
  ) throws {
    var rest = Array(rowIDs)[...]
    while let last = rest.last {
      // A few are filled up with more of the last, rather than asked for one by one.
      let width =
        rest.count > 1 && rest.count < 16 ? 16 : Self.chunks.first { $0 <= rest.count } ?? 1
      var keys = Array(rest.prefix(width))
      keys += Array(repeating: last, count: width - keys.count)
      rest = rest.dropFirst(width)
      var fragment = head
      for (index, key) in keys.enumerated() {
        fragment.append(index == 0 ? "\(key)" : ", \(key)")
      }
      fragment.append(")")
      let statement = try sqlite.prepare(fragment.sql)
      defer { statement.reset() }
      var index: Int32 = 1
      try fragment.forEachBinding { value in
        try statement.bind(value, at: index)
        index += 1
      }
      var steps = StatementSteps(statement, on: self)
      try body(&steps)
    }
  }
}
