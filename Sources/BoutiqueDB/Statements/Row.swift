public import StructuredQueries

/// One row of a result, with its values by name and by position.
public struct Row: Sendable, Hashable {
  /// The names of the columns, in order.
  ///
  /// Names can repeat in joins.
  public var columns: [String] { names.list }
  /// The values, in the columns' order.
  public var values: [SQLValue] {
    names.list.indices.map { block.value($0, ofRowAt: start) }
  }

  let names: ColumnNames
  private let block: RowBlock
  /// Where in the block it begins.
  private let start: Int

  init(names: ColumnNames, block: RowBlock, start: Int) {
    self.names = names
    self.block = block
    self.start = start
  }

  /// - Parameter values: as many as there are names.
  init(names: ColumnNames, values: [SQLValue]) {
    self.init(names: names, block: RowBlock(values), start: 0)
  }

  /// The value at a position.
  ///
  /// - Precondition: `index` is below the number of columns.
  public subscript(index: Int) -> SQLValue {
    precondition(names.list.indices.contains(index), "no such column")
    return block.value(index, ofRowAt: start)
  }

  /// The value of the first column with a name, or nil when the result has no such column.
  public subscript(name: String) -> SQLValue? {
    names.index(of: name).map { self[$0] }
  }

  /// Returns a column's value as a Swift type.
  ///
  /// - Throws: ``BoutiqueError/decodingFailed(_:)`` when there is no such column or its value does not
  ///   fit the type.
  @inlinable public func decode<T: QueryDecodable>(
    _ name: String, as type: T.Type = T.self
  ) throws -> T {
    try decode(position(of: name, for: type), as: type)
  }

  @usableFromInline
  func position(of name: String, for type: Any.Type) throws -> Int {
    guard let index = names.index(of: name) else {
      throw BoutiqueError.decodingFailed(
        DecodingFailure(
          column: name, expected: String(describing: type),
          found: "no such column (there are: \(columns.joined(separator: ", ")))"))
    }
    return index
  }

  /// Returns the value at a position as a Swift type.
  ///
  /// - Throws: ``BoutiqueError/decodingFailed(_:)`` when there is no such position or its value does
  ///   not fit the type.
  @inlinable public func decode<T: QueryDecodable>(
    _ index: Int, as type: T.Type = T.self
  ) throws -> T {
    let value = try value(at: index, for: type)
    do {
      return try T(sqlValue: value)
    } catch {
      throw located(error, at: index)
    }
  }

  @usableFromInline
  func value(at index: Int, for type: Any.Type) throws -> SQLValue {
    guard names.list.indices.contains(index) else {
      throw BoutiqueError.decodingFailed(
        DecodingFailure(
          column: String(index), expected: String(describing: type),
          found: "a row of \(names.list.count) columns"))
    }
    return block.value(index, ofRowAt: start)
  }

  @usableFromInline
  func located(_ failure: DecodingFailure, at index: Int) -> BoutiqueError {
    var failure = failure
    failure.column = columns[index]
    return .decodingFailed(failure)
  }

  /// Rows are equal when their names and values are.
  public static func == (a: Row, b: Row) -> Bool {
    a.values == b.values && (a.names === b.names || a.names.list == b.names.list)
  }

  /// Feeds names and values.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(values)
    hasher.combine(names.list)
  }
}

/// The column names of one result, shared by its rows.
final class ColumnNames: Sendable {
  let list: [String]
  private let lengths: [Int]

  init(_ list: [String]) {
    self.list = list
    lengths = list.map(\.utf8.count)
  }

  // Results are narrow; a scan beats a dictionary made for every query, and the lengths rule most names out.
  func index(of name: String) -> Int? {
    let length = name.utf8.count
    for index in lengths.indices where lengths[index] == length && list[index] == name {
      return index
    }
    // Names that Unicode holds equal can be of different lengths.
    return list.firstIndex(of: name)
  }
}
