public import StructuredQueries

/// One row of a result, with its values by name and by position.
public struct Row: Sendable, Hashable {
  /// The names of the columns, in order.
  ///
  /// Names can repeat in joins.
  public var columns: [String] { names.list }
  /// The values, in the columns' order.
  public let values: [SQLValue]

  let names: ColumnNames

  init(names: ColumnNames, values: [SQLValue]) {
    self.names = names
    self.values = values
  }

  /// The value at a position.
  ///
  /// - Precondition: `index` is below the number of columns.
  public subscript(index: Int) -> SQLValue { values[index] }

  /// The value of the first column with a name, or nil when the result has no such column.
  public subscript(name: String) -> SQLValue? {
    names.index(of: name).map { values[$0] }
  }

  /// Returns a column's value as a Swift type.
  ///
  /// - Throws: ``BoutiqueError/decodingFailed(_:)`` when there is no such column or its value does not
  ///   fit the type.
  public func decode<T: QueryDecodable>(_ name: String, as type: T.Type = T.self) throws -> T {
    guard let index = names.index(of: name) else {
      throw BoutiqueError.decodingFailed(
        DecodingFailure(
          column: name, expected: String(describing: T.self),
          found: "no such column (there are: \(columns.joined(separator: ", ")))"))
    }
    return try decode(index, as: type)
  }

  /// Returns the value at a position as a Swift type.
  ///
  /// - Throws: ``BoutiqueError/decodingFailed(_:)`` when there is no such position or its value does
  ///   not fit the type.
  public func decode<T: QueryDecodable>(_ index: Int, as type: T.Type = T.self) throws -> T {
    guard values.indices.contains(index) else {
      throw BoutiqueError.decodingFailed(
        DecodingFailure(
          column: String(index), expected: String(describing: T.self),
          found: "a row of \(values.count) columns"))
    }
    do {
      return try T(sqlValue: values[index])
    } catch {
      var failure = error
      failure.column = columns[index]
      throw BoutiqueError.decodingFailed(failure)
    }
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

  init(_ list: [String]) { self.list = list }

  // Results are narrow; a scan beats a dictionary made for every query.
  func index(of name: String) -> Int? { list.firstIndex(of: name) }
}
