import BoutiqueDB

/// Makes instances of a model out of rows whose values stand in the order of the table's columns.
///
/// One decoder serves all rows of a result. Models ask for their keys in the same order each time, so the
/// column of a key is found by one comparison with the next key that is expected.
final class RowDecoder: Decoder {
  let table: ModelTable
  private let database: Int64
  /// The origin of the row's columns.
  private(set) var origin: ColumnOrigin
  private var values: [SQLValue] = []
  /// The next key that is expected.
  private var position = 0
  /// The column that is being decoded.
  private var column = 0

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ table: ModelTable, database: Int64) {
    self.table = table
    self.database = database
    origin = ColumnOrigin(savedIn: database)
  }

  /// Returns the instance of a row.
  ///
  /// - Throws: ``BlackbirdModelError/storedValueInvalid(_:)``, or what the model's own `init(from:)` throws.
  func instance<Model: BlackbirdModel>(_ type: Model.Type, of values: [SQLValue]) throws -> Model {
    self.values = values
    position = 0
    origin = ColumnOrigin(savedIn: database)
    let instance = try Model(from: self)
    if !table.decodesEveryColumn {
      // Its own `init(from:)` has set columns, which are then taken for changed.
      for column in table.columns(of: instance) { column.origin.markSaved(in: database) }
    }
    return instance
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RowContainer<Key>(row: self))
  }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { EmptyDecodingContainer() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    StoredValueContainer(row: self)
  }

  /// Returns the value of the column that is being decoded.
  @inline(__always)
  func value<Value: BlackbirdColumnWrappable>(_ type: Value.Type) throws -> Value {
    guard let value = Value._restored(values[column]) else { throw failure(type) }
    return value
  }

  private func failure(_ type: Any.Type) -> BlackbirdModelError {
    .storedValueInvalid(
      BlackbirdModelError.StoredValue(
        table: table.name, column: table.columns[column].name, expected: type,
        found: values[column]))
  }

  // MARK: Keys

  /// Finds a key, and expects the one after it next; nil for what the table has no column for.
  fileprivate func find(_ key: some CodingKey) -> ModelTable.PlannedKey? {
    let plan = table.decodingPlan
    if position < plan.count, plan[position].key == key.stringValue {
      position += 1
      return plan[position - 1]
    }
    guard let found = plan.firstIndex(where: { $0.key == key.stringValue }) else {
      return table.columnIndex[codedName(of: key)].map {
        ModelTable.PlannedKey(key: key.stringValue, column: $0, isWrapper: false)
      }
    }
    position = found + 1
    return plan[found]
  }

  fileprivate func has(_ key: some CodingKey) -> Bool {
    let before = position
    defer { position = before }
    return (find(key)?.column ?? -1) >= 0
  }

  fileprivate func isNull(_ key: some CodingKey) -> Bool {
    let before = position
    defer { position = before }
    guard let found = find(key), found.column >= 0 else { return true }
    return !found.isWrapper && values[found.column].isNull
  }

  fileprivate func load<Item: Decodable>(_ type: Item.Type, _ key: some CodingKey) throws -> Item {
    guard let found = find(key), found.column >= 0 else {
      return try BlackbirdDefaultsDecoder().value(type)
    }
    column = found.column
    if found.isWrapper { return try Item(from: self) }
    return try load(type)
  }

  /// Returns the value for a model's own `init(from:)`, which asks for types that are not the column's.
  fileprivate func load<Item: Decodable>(_ type: Item.Type) throws -> Item {
    if type is any AnyBlackbirdColumn.Type { return try Item(from: self) }
    guard let wrappable = type as? any BlackbirdColumnWrappable.Type else {
      return try Item(from: self)
    }
    let value = values[column]
    guard
      let item = (wrappable._restored(value) ?? wrappable.fromValue(Blackbird.Value(value)))
        as? Item
    else { throw failure(type) }
    return item
  }

  fileprivate var isNull: Bool { values[column].isNull }
}

private struct RowContainer<Key: CodingKey>: UniformDecodingContainer {
  let row: RowDecoder
  var decoder: any Decoder { row }
  var allKeys: [Key] { row.table.decodingPlan.compactMap { Key(stringValue: $0.key) } }
  func contains(_ key: Key) -> Bool { row.has(key) }
  func decodeNil(forKey key: Key) throws -> Bool { row.isNull(key) }
  func load<Item: Decodable>(_ type: Item.Type, _ key: Key) throws -> Item {
    try row.load(type, key)
  }
}

private struct StoredValueContainer: UniformSingleValueContainer {
  let row: RowDecoder
  func decodeNil() -> Bool { row.isNull }
  func load<Item: Decodable>(_ type: Item.Type) throws -> Item { try row.load(type) }
}
