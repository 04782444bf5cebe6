// Changes of the usual types, as those of `StoredValue`; where nothing is stored they begin with false or
// with nothing.

extension SecurelyStoredValue where Item == Bool {
  /// Makes true of false and false of true; true where nothing is stored.
  ///
  /// - Throws: as ``modify(_:)``.
  @discardableResult
  public func toggle() throws -> ValueCommit { try modify { $0 = !($0 ?? false) } }
}

extension SecurelyStoredValue {
  /// Adds an element at the end.
  ///
  /// - Throws: as ``modify(_:)``.
  @discardableResult
  public func append<Element: Sendable>(_ element: Element) throws -> ValueCommit
  where Item == [Element] {
    try modify { $0 = ($0 ?? []) + [element] }
  }

  /// Puts an element in the place of the first that is equal to another one.
  ///
  /// - Returns: whether there was one, as far as this process knows; nothing is changed where not.
  /// - Throws: as ``modify(_:)``.
  @discardableResult
  public func replace<Element: Sendable & Equatable>(
    _ element: Element, with replacement: Element
  ) throws -> Bool where Item == [Element] {
    guard try get()?.contains(element) == true else { return false }
    try modify { array in
      if let index = array?.firstIndex(of: element) { array?[index] = replacement }
    }
    return true
  }

  /// Removes an element where it is there, and adds it at the end where it is not.
  ///
  /// - Throws: as ``modify(_:)``.
  @discardableResult
  public func togglePresence<Element: Sendable & Equatable>(_ element: Element) throws
    -> ValueCommit where Item == [Element]
  {
    try modify { stored in
      var array = stored ?? []
      if array.contains(element) {
        array.removeAll { $0 == element }
      } else {
        array.append(element)
      }
      stored = array
    }
  }

  /// Sets the value of a key; nil removes the key.
  ///
  /// - Throws: as ``modify(_:)``.
  @discardableResult
  public func update<Key: Sendable & Hashable, Value: Sendable>(key: Key, value: Value?) throws
    -> ValueCommit where Item == [Key: Value]
  {
    try modify { stored in
      if stored == nil, value == nil { return }
      var dictionary = stored ?? [:]
      dictionary[key] = value
      stored = dictionary
    }
  }
}
