import BoutiqueDB

/// Makes instances of a model out of rows whose values stand in the order of the table's columns.
///
/// One decoder serves all rows of a result. Models ask for their keys in the same order each time, so the
/// column of a key is found by one comparison with the next key that is expected.
final class RowDecoder: Decoder {
  let table: ModelTable
  private let database: Int64
  private let reading: UnsafeMutablePointer<RowReading>
  /// The row's values, where it does not lie in the engine's memory.
  private var values: [SQLValue] = []
  /// The column that is being decoded.
  private var column = 0
  /// The container for the keys of a type, which refers to this object.
  private var known: (type: ObjectIdentifier, container: AnyObject)?

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The origin of the row's columns.
  var origin: ColumnOrigin { reading.pointee.origin }

  init(_ table: ModelTable, database: Int64) {
    self.table = table
    self.database = database
    reading = .allocate(capacity: 1)
    reading.initialize(
      to: RowReading(
        track: KeyTrack(table.decodingPlan), cells: nil, origin: ColumnOrigin(savedIn: database),
        table: table))
  }

  deinit {
    reading.pointee.track.deallocate()
    reading.deinitialize(count: 1)
    reading.deallocate()
  }

  /// Lets the container go, which would keep this object alive.
  func forgetContainer() {
    known = nil
    reading.pointee.track.container = nil
  }

  /// Calls `body`, in which this thread decodes rows with this decoder.
  func decodingRows<R>(_ body: () throws -> R) rethrows -> R {
    try RowReading.with(reading, body)
  }

  /// Returns the instance of a row.
  ///
  /// - Throws: ``BlackbirdModelError/storedValueInvalid(_:)``, or what the model's own `init(from:)` throws.
  func instance<Model: BlackbirdModel>(_ type: Model.Type, of values: [SQLValue]) throws -> Model {
    self.values = values
    defer { self.values = [] }
    return try instance(type)
  }

  /// Returns the instance of a row that lies in memory as `BoutiqueConnection.readRows` has it.
  ///
  /// - Throws: ``BlackbirdModelError/storedValueInvalid(_:)``, or what the model's own `init(from:)` throws.
  func instance<Model: BlackbirdModel>(
    _ type: Model.Type, at cells: UnsafePointer<UInt64>
  ) throws -> Model {
    guard Int(truncatingIfNeeded: cells[0]) >= table.columns.count else {
      let columns = 0..<Int(truncatingIfNeeded: cells[0])
      return try instance(type, of: columns.map { BlackbirdCell(cells, $0).sqlValue })
    }
    reading.pointee.cells = cells
    defer { reading.pointee.cells = nil }
    return try instance(type)
  }

  private func instance<Model: BlackbirdModel>(_ type: Model.Type) throws -> Model {
    reading.pointee.track.position = 0
    reading.pointee.origin = ColumnOrigin(savedIn: database)
    // Handed on as it is: a copy would retain and release every column.
    if table.decodesEveryColumn { return try Model(from: self) }
    let instance = try Model(from: self)
    // Its own `init(from:)` has set columns, which are then taken for changed.
    for column in table.columns(of: instance) { column.origin.markSaved(in: database) }
    return instance
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<AnyObject>.size else {
      return KeyedDecodingContainer(RowContainer<Key>(row: self))
    }
    let id = ObjectIdentifier(type)
    if let known, known.type == id {
      // Sound: it was made for the same type of keys, and is a reference and nothing else.
      return unsafeBitCast(known.container, to: KeyedDecodingContainer<Key>.self)
    }
    let container = KeyedDecodingContainer(RowContainer<Key>(row: self))
    known = (id, unsafeBitCast(container, to: AnyObject.self))
    reading.pointee.track.expect(
      type, table.decodingPlan, in: unsafeBitCast(container, to: UnsafeRawPointer.self))
    return container
  }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { EmptyDecodingContainer() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    StoredValueContainer(row: self)
  }

  /// Returns the value of the column that is being decoded.
  @inline(__always)
  func value<Value: BlackbirdColumnWrappable>(_ type: Value.Type) throws -> Value {
    if let cells = reading.pointee.cells {
      guard let value = Value._restored(BlackbirdCell(cells, column)) else { throw failure(type) }
      return value
    }
    guard let value = Value._restored(stored(column)) else { throw failure(type) }
    return value
  }

  /// The stored value of a column; NULL where there is no row, for who has kept the decoder.
  private func stored(_ column: Int) -> SQLValue {
    if let cells = reading.pointee.cells { return BlackbirdCell(cells, column).sqlValue }
    return values.indices.contains(column) ? values[column] : .null
  }

  private func isNull(at column: Int) -> Bool {
    if let cells = reading.pointee.cells { return BlackbirdCell(cells, column).isNull }
    return stored(column).isNull
  }

  private func failure(_ type: Any.Type) -> BlackbirdModelError {
    .storedValueInvalid(
      BlackbirdModelError.StoredValue(
        table: table.name, column: table.columns[column].name, expected: type,
        found: stored(column)))
  }

  // MARK: Keys

  /// Finds a key, and expects the one after it next; nil for what the table has no column for.
  fileprivate func find(_ key: some CodingKey) -> ModelTable.PlannedKey? {
    let plan = table.decodingPlan
    let position = reading.pointee.track.position
    if position < plan.count, plan[position].key == key.stringValue {
      reading.pointee.track.position = position + 1
      return plan[position]
    }
    guard let found = plan.firstIndex(where: { $0.key == key.stringValue }) else {
      return table.columnIndex[codedName(of: key)].map {
        ModelTable.PlannedKey(key: key.stringValue, column: $0, isWrapper: false)
      }
    }
    reading.pointee.track.position = found + 1
    return plan[found]
  }

  fileprivate func has(_ key: some CodingKey) -> Bool {
    let before = reading.pointee.track.position
    defer { reading.pointee.track.position = before }
    return (find(key)?.column ?? -1) >= 0
  }

  fileprivate func isNull(_ key: some CodingKey) -> Bool {
    let before = reading.pointee.track.position
    defer { reading.pointee.track.position = before }
    guard let found = find(key), found.column >= 0 else { return true }
    return !found.isWrapper && isNull(at: found.column)
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
    let value = stored(column)
    guard
      let item = (wrappable._restored(value) ?? wrappable.fromValue(Blackbird.Value(value)))
        as? Item
    else { throw failure(type) }
    return item
  }

  fileprivate var isNull: Bool { isNull(at: column) }
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
