// The short way from a row to a model.
//
// A model's decoding, as the compiler makes it, asks a keyed container for each column in turn. Codable leads such a
// call through four functions that know none of the types. The functions below are better candidates for it than
// Codable's own, are compiled in the model's module, where key and value are known, and take the value out of the
// row themselves:
//
// 1. Only for the container that the row decoder of this thread has given to the model. `RowReading.current` is set
//    while rows are decoded, and the identity of the container is compared.
// 2. Only for the key that comes next in the order that the model's first decoding had.
// 3. In every other case the call goes to Codable, and gives the same.

/// What a thread that decodes rows knows of the row.
@usableFromInline
struct RowReading {
  @usableFromInline var track: KeyTrack
  /// The row as the engine has it in memory; nil between rows, and for a row that lies elsewhere.
  @usableFromInline var cells: UnsafePointer<UInt64>?
  /// The origin of the row's columns.
  @usableFromInline var origin: ColumnOrigin
  /// For errors.
  let table: ModelTable

  private static let slot = ThreadSlot()

  /// That of the rows that this thread decodes at the moment.
  @usableFromInline
  static var current: UnsafeMutablePointer<RowReading>? {
    slot.pointer?.assumingMemoryBound(to: RowReading.self)
  }

  /// Calls `body` with another as the current one.
  static func with<R>(_ reading: UnsafeMutablePointer<RowReading>, _ body: () throws -> R) rethrows
    -> R
  {
    let before = slot.pointer
    slot.pointer = UnsafeMutableRawPointer(reading)
    defer { slot.pointer = before }
    return try body()
  }

  @usableFromInline
  func failure(_ type: Any.Type, _ column: Int, _ cell: BlackbirdCell) -> BlackbirdModelError {
    .storedValueInvalid(
      BlackbirdModelError.StoredValue(
        table: table.name, column: table.columns[column].name, expected: type,
        found: cell.sqlValue))
  }

  /// Returns the column of a key; nil where the short way does not apply.
  @inlinable
  static func column<Value, Key: CodingKey>(
    _ type: Value.Type, _ key: Key, in container: KeyedDecodingContainer<Key>
  ) throws -> BlackbirdColumn<Value>? {
    // A container is a reference and nothing else.
    guard MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<UnsafeRawPointer>.size,
      let reading = current, let cells = reading.pointee.cells,
      let column = reading.pointee.track.take(
        key, in: unsafeBitCast(container, to: UnsafeRawPointer.self))
    else { return nil }
    let cell = BlackbirdCell(cells, column)
    guard let value = Value._restored(cell) else {
      throw reading.pointee.failure(type, column, cell)
    }
    return BlackbirdColumn(value, origin: reading.pointee.origin)
  }
}

extension KeyedDecodingContainer {
  /// Decodes a column.
  @inlinable
  public func decode<Value>(
    _ type: BlackbirdColumn<Value>.Type, forKey key: Key
  ) throws -> BlackbirdColumn<Value> {
    try RowReading.column(Value.self, key, in: self) ?? decodeAny(type, forKey: key)
  }

  /// Decodes an optional column, nil where the key is missing.
  @inlinable
  public func decode<Wrapped>(
    _ type: BlackbirdColumn<Wrapped?>.Type, forKey key: Key
  ) throws -> BlackbirdColumn<Wrapped?> where Wrapped: BlackbirdColumnWrappable {
    if let column = try RowReading.column(Wrapped?.self, key, in: self) { return column }
    guard contains(key) else { return BlackbirdColumn(wrappedValue: nil) }
    return try decodeAny(type, forKey: key)
  }

  // The name is another's, or the functions above would call themselves.
  @usableFromInline
  func decodeAny<Item: Decodable>(_ type: Item.Type, forKey key: Key) throws -> Item {
    try decode(type, forKey: key)
  }
}
