/// What a row of a result is read from; one conformer is a statement of SQLite.
///
/// It is used on one thread, between two steps of the statement.
package protocol ColumnSource: AnyObject {
  /// The number of columns of the current row.
  var columnCount: Int { get }
  /// The columns of the current row, or nil where they are read one by one; see ``RowCells``.
  ///
  /// The memory lives as long as the source.
  var cells: UnsafePointer<UInt64>? { get }
  /// Returns the value of a column, counted from zero.
  func sqlValue(at index: Int) -> SQLValue
  /// Returns whether a column is NULL.
  func isNull(at index: Int) -> Bool
  /// Returns the table and the name of a column, for messages.
  func place(of index: Int) -> (table: String?, column: String)
}

extension ColumnSource {
  /// None.
  package var cells: UnsafePointer<UInt64>? { nil }
}

/// How the columns of a row lie in memory: the number of columns, 0 while there is no row, and then three words
/// for each: its class as a `RowCells` constant, its bits or address, its length in bytes.
///
/// Plain words, since those who write them and those who read them share no type.
@usableFromInline
enum RowCells {
  @usableFromInline static var integer: UInt64 { 1 }
  @usableFromInline static var real: UInt64 { 2 }
  @usableFromInline static var text: UInt64 { 3 }
  @usableFromInline static var null: UInt64 { 5 }
}

/// Reads the columns of one row from left to right.
public struct RowDecoder {
  private let source: any ColumnSource
  @usableFromInline let cells: UnsafePointer<UInt64>?
  private let count: Int
  @usableFromInline var index = 0

  package init(_ source: any ColumnSource) {
    self.source = source
    cells = source.cells
    count = source.columnCount
  }

  /// Starts over with the next row of the same result.
  package mutating func rewind() { index = 0 }

  /// Returns the value made from the next columns.
  ///
  /// - Throws: ``DecodingFailure`` that names table, column, expected and found.
  @inlinable public mutating func decode<Value: QueryRow>(
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
  @usableFromInline
  mutating func skipNulls(_ width: Int, for type: Any.Type) throws(DecodingFailure) -> Bool {
    guard index + width <= count else { throw tooFew(type) }
    for column in index..<index + width where !isNull(at: column) { return false }
    index += width
    return true
  }

  private func isNull(at column: Int) -> Bool {
    guard let cells, column < Int(truncatingIfNeeded: cells[0]) else {
      return source.isNull(at: column)
    }
    return cells[1 + 3 * column] == RowCells.null
  }

  private func tooFew(_ type: Any.Type) -> DecodingFailure {
    DecodingFailure(
      column: String(index), expected: String(describing: type), found: "a row of \(count) columns")
  }
}

// The usual classes are taken from memory without a call; everything else goes the way of all types, which
// knows what is wrong.
extension RowDecoder {
  /// Returns where the next column's words are when it has a class.
  @inlinable func cell(of kind: UInt64) -> UnsafePointer<UInt64>? {
    guard let cells, index < Int(truncatingIfNeeded: cells[0]) else { return nil }
    let cell = cells + (1 + 3 * index)
    return cell[0] == kind ? cell : nil
  }

  @inlinable mutating func decodeInteger<Value: FixedWidthInteger & QueryDecodable>()
    throws(DecodingFailure) -> Value
  {
    if let cell = cell(of: RowCells.integer),
      let value = Value(exactly: Int64(bitPattern: cell[1]))
    {
      index += 1
      return value
    }
    return try decodeValue()
  }

  @inlinable mutating func decodeDouble() throws(DecodingFailure) -> Double {
    if let cell = cell(of: RowCells.real) {
      index += 1
      return Double(bitPattern: cell[1])
    }
    return try decodeValue()
  }

  @usableFromInline
  mutating func decodeText() throws(DecodingFailure) -> String {
    if let cell = cell(of: RowCells.text) {
      index += 1
      let bytes = UnsafePointer<UInt8>(bitPattern: UInt(cell[1]))
      return String(
        decoding: UnsafeBufferPointer(start: bytes, count: Int(cell[2])), as: UTF8.self)
    }
    return try decodeValue()
  }

  @usableFromInline
  mutating func decodeValue<Value: QueryDecodable>() throws(DecodingFailure) -> Value {
    let value = try nextValue(for: Value.self)
    do {
      return try Value(sqlValue: value)
    } catch {
      throw locate(error)
    }
  }
}
