/// What a row of a result is read from; one conformer is a statement of SQLite.
///
/// It is used on one thread, between two steps of the statement.
package protocol ColumnSource: AnyObject {
  /// The number of columns of the current row.
  var columnCount: Int { get }
  /// Returns the value of a column, counted from zero.
  func sqlValue(at index: Int) -> SQLValue
  /// Returns whether a column is NULL.
  func isNull(at index: Int) -> Bool
  /// Returns the table and the name of a column, for messages.
  func place(of index: Int) -> (table: String?, column: String)
}

/// Reads the columns of one row from left to right.
public struct RowDecoder {
  private let source: any ColumnSource
  private let count: Int
  private var index = 0

  package init(_ source: any ColumnSource) {
    self.source = source
    count = source.columnCount
  }

  /// Starts over with the next row of the same result.
  package mutating func rewind() { index = 0 }

  /// Returns the value made from the next columns.
  ///
  /// - Throws: ``DecodingFailure`` that names table, column, expected and found.
  public mutating func decode<Value: QueryRow>(
    _ type: Value.Type
  ) throws(DecodingFailure) -> Value.Output {
    try Value.decode(from: &self)
  }

  /// Returns the next column's value as it is stored.
  public mutating func nextValue(for type: Any.Type) throws(DecodingFailure) -> SQLValue {
    guard index < count else { throw tooFew(type) }
    defer { index += 1 }
    return source.sqlValue(at: index)
  }

  /// Adds the place of the column read last to a failure.
  public func locate(_ failure: DecodingFailure) -> DecodingFailure {
    guard failure.column == nil, index > 0 else { return failure }
    var failure = failure
    let place = source.place(of: index - 1)
    failure.table = place.table
    failure.column = place.column
    return failure
  }

  /// Passes over the next columns when all of them are NULL, and says whether it did.
  mutating func skipNulls(_ width: Int, for type: Any.Type) throws(DecodingFailure) -> Bool {
    guard index + width <= count else { throw tooFew(type) }
    for column in index..<index + width where !source.isNull(at: column) { return false }
    index += width
    return true
  }

  private func tooFew(_ type: Any.Type) -> DecodingFailure {
    DecodingFailure(
      column: String(index), expected: String(describing: type), found: "a row of \(count) columns")
  }
}
