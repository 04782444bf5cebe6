public import BoutiqueDB

// The short way from a model to its columns, see `RowReading.swift`: the same three rules.

/// What a thread that takes the columns out of a model has of them.
@usableFromInline
struct ColumnCollecting {
  @usableFromInline var track: KeyTrack
  /// For each column what is stored; nil where that is not asked for.
  @usableFromInline var values: UnsafeMutablePointer<SQLValue>?
  @usableFromInline let origins: UnsafeMutablePointer<ColumnOrigin>
  /// How many columns were met.
  @usableFromInline var collected = 0
  /// For errors.
  let table: ModelTable

  private static let slot = ThreadSlot()

  /// That of the model whose columns this thread takes out at the moment.
  @usableFromInline
  static var current: UnsafeMutablePointer<ColumnCollecting>? {
    slot.pointer?.assumingMemoryBound(to: ColumnCollecting.self)
  }

  /// Calls `body` with another as the current one.
  static func with<R>(
    _ collecting: UnsafeMutablePointer<ColumnCollecting>, _ body: () throws -> R
  ) rethrows -> R {
    let before = slot.pointer
    slot.pointer = UnsafeMutableRawPointer(collecting)
    defer { slot.pointer = before }
    return try body()
  }

  /// Takes a column.
  @inlinable
  mutating func collect<Value: BlackbirdColumnWrappable>(
    _ value: Value, _ origin: ColumnOrigin, at column: Int
  ) throws {
    if let values {
      do {
        values[column] = try value._stored()
      } catch {
        throw located(error, column)
      }
    }
    origins[column] = origin
    collected += 1
  }

  /// Says which column an error is about.
  @usableFromInline
  func located(_ error: any Error, _ column: Int) -> any Error {
    guard let failure = error as? ColumnValueFailure else { return error }
    return BlackbirdModelError.valueNotStorable(
      BlackbirdModelError.Unstorable(
        table: table.name, column: table.columns[column].name, failure: failure))
  }
}

extension KeyedEncodingContainer {
  /// Encodes a column as its value.
  @inlinable
  public mutating func encode<Value>(_ value: BlackbirdColumn<Value>, forKey key: Key) throws {
    // A container is a reference and nothing else.
    guard MemoryLayout<Self>.size == MemoryLayout<UnsafeRawPointer>.size,
      let collecting = ColumnCollecting.current,
      let column = collecting.pointee.track.take(
        key, in: unsafeBitCast(self, to: UnsafeRawPointer.self))
    else { return try encodeAny(value, forKey: key) }
    try collecting.pointee.collect(value.value, value.origin, at: column)
  }

  // The name is another's, or the function above would call itself.
  @usableFromInline
  mutating func encodeAny<Item: Encodable>(_ value: Item, forKey key: Key) throws {
    try encode(value, forKey: key)
  }
}
