internal import CSQLite

/// Memory for the values of a statement's parameters, which are put there one behind the other and bound by one call.
///
/// SQLite does not copy them: they lie there until the statement is reset. Three words for each value: SQLite's
/// number of its storage class, its bits or where its bytes begin, how many bytes these are.
package struct ParameterMemory {
  /// Where the next value's words go.
  package private(set) var words: UnsafeMutablePointer<UInt64>?
  /// The bytes of texts and blobs.
  package private(set) var bytes: UnsafeMutablePointer<UInt8>?
  /// How many bytes there is room for.
  package private(set) var capacity = 0
  private var wordCapacity = 0

  /// What a statement in the cache may keep.
  private static let keptBytes = 16_384

  var isLarge: Bool { capacity > Self.keptBytes }

  mutating func reserve(values count: Int) {
    guard count * 3 > wordCapacity else { return }
    words?.deallocate()
    wordCapacity = count * 3
    words = .allocate(capacity: wordCapacity)
  }

  mutating func reserve(bytes count: Int, keeping used: Int) {
    guard count > capacity else { return }
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: max(count, 2 * capacity, 256))
    if let bytes {
      larger.update(from: bytes, count: used)
      bytes.deallocate()
    }
    bytes = larger
    capacity = max(count, 2 * capacity, 256)
  }

  mutating func deallocate() {
    words?.deallocate()
    bytes?.deallocate()
    self = ParameterMemory()
  }
}

extension PreparedStatement {
  /// Returns the memory for some values.
  ///
  /// - Precondition: the statement has been reset since it was bound last.
  package func parameterMemory(values count: Int) -> ParameterMemory {
    parameters.reserve(values: count)
    return parameters
  }

  /// Returns the memory with room for some bytes, those that are used already included.
  package func parameterMemory(bytes count: Int, keeping used: Int) -> ParameterMemory {
    parameters.reserve(bytes: count, keeping: used)
    return parameters
  }

  /// Binds the first parameters to the values in the memory.
  package func bindParameters(_ count: Int) throws(SQLiteError) {
    guard count > 0 else { return }
    var index: Int32 = 0
    let code = boutique_sqlite_bind_words(
      pointer, Int32(clamping: count), parameters.words, parameters.bytes, &index)
    try check(code, index)
  }
}
