import BoutiqueDB

extension Blackbird {
  /// A row of a query, typed by key path: `row[\.$title]` is a `String`.
  ///
  /// It is a collection of its columns' names and values, in the query's order.
  public struct ModelRow<T: BlackbirdModel>: Sendable {
    private let values: [SQLValue]
    private let shape: ModelRowShape

    init(_ values: [SQLValue], _ shape: ModelRowShape) {
      self.values = values
      self.shape = shape
    }

    /// The value of a column.
    ///
    /// Values were held against the model's types when they were read, so it fits.
    ///
    /// - Precondition: the query selected the column.
    public subscript<Value>(_ column: KeyPath<T, BlackbirdColumn<Value>>) -> Value {
      do {
        return try value(of: column)
      } catch {
        // Only a column that the query's own text does not have comes here.
        preconditionFailure(String(describing: error))
      }
    }

    /// Returns the value of a column.
    ///
    /// - Throws: ``BlackbirdTableError/notAColumn(type:keyPath:)`` where the query did not select it.
    public func value<Value>(of column: KeyPath<T, BlackbirdColumn<Value>>) throws -> Value {
      let index = try shape.table.index(of: column)
      guard let place = shape.places[index] else {
        throw BlackbirdModelError.argumentInvalid(
          type: shape.table.typeName,
          description: "the query did not select the column \(shape.table.columns[index].name)")
      }
      guard let value = Value._restored(values[place]) else {
        throw BlackbirdModelError.storedValueInvalid(
          BlackbirdModelError.StoredValue(
            table: shape.table.name, column: shape.table.columns[index].name, expected: Value.self,
            found: values[place]))
      }
      return value
    }

    /// Returns the value of a column as the database has it; nil where the query did not select it.
    public func value(keyPath: T.BlackbirdColumnKeyPath) -> Blackbird.Value? {
      guard let index = try? shape.table.index(of: keyPath), let place = shape.places[index] else {
        return nil
      }
      return Blackbird.Value(values[place])
    }

    /// The value of the column with a name; nil where the query has none.
    public subscript(_ name: String) -> Blackbird.Value? {
      shape.names.lastIndex(of: name).map { Blackbird.Value(values[$0]) }
    }

    /// The names of the columns, in the query's order.
    public var keys: [String] { shape.names }

    /// The row by column name.
    public var row: Blackbird.Row {
      Dictionary(zip(shape.names, values.map { Blackbird.Value($0) }), uniquingKeysWith: { $1 })
    }
  }
}

extension Blackbird.ModelRow: Equatable {
  /// Rows are equal when their names and values are.
  public static func == (a: Self, b: Self) -> Bool {
    a.values == b.values && a.shape.names == b.shape.names
  }
}

extension Blackbird.ModelRow: RandomAccessCollection {
  /// The first column's position: 0.
  public var startIndex: Int { 0 }
  /// The number of columns.
  public var endIndex: Int { values.count }
  /// The name and value at a position.
  public subscript(position: Int) -> (key: String, value: Blackbird.Value) {
    (shape.names[position], Blackbird.Value(values[position]))
  }
}

/// The columns of a result, shared by its rows.
final class ModelRowShape: Sendable {
  let table: ModelTable
  let names: [String]
  /// The place in the row of each of the model's columns, by index.
  let places: [Int?]

  init(_ names: [String], _ table: ModelTable) {
    self.table = table
    self.names = names
    places = table.columns.map { column in names.lastIndex(of: column.name) }
  }

  /// Returns the values of a row, where those that are named as the model's columns fit their types.
  ///
  /// - Throws: ``BlackbirdModelError/storedValueInvalid(_:)``; a query that means something else by such a name
  ///   gives it another with `AS`.
  func checked(_ values: [SQLValue]) throws -> [SQLValue] {
    for (index, place) in places.enumerated() {
      guard let place else { continue }
      let column = table.columns[index]
      guard column.accepts(values[place]) else {
        throw BlackbirdModelError.storedValueInvalid(
          BlackbirdModelError.StoredValue(
            table: table.name, column: column.name, expected: column.valueType, found: values[place]
          ))
      }
    }
    return values
  }
}
