// Changes of the usual types. Each is a function of what is stored when its transaction begins, so that
// two processes that change one value at the same time both have their way.

extension StoredValue where Item == Bool {
  /// Makes true of false and false of true.
  @discardableResult
  public func toggle() -> ValueCommit { modify { $0.toggle() } }
}

extension StoredValue {
  /// Adds an element at the end.
  @discardableResult
  public func append<Element: Sendable>(_ element: Element) -> ValueCommit
  where Item == [Element] {
    modify { $0.append(element) }
  }

  /// Puts an element in the place of the first that is equal to another one.
  ///
  /// - Returns: whether there was one, as far as this process knows; nothing is changed where not.
  @discardableResult
  public func replace<Element: Sendable & Equatable>(
    _ element: Element, with replacement: Element
  ) -> Bool where Item == [Element] {
    guard wrappedValue.contains(element) else { return false }
    modify { array in
      if let index = array.firstIndex(of: element) { array[index] = replacement }
    }
    return true
  }

  /// Removes an element where it is there, and adds it at the end where it is not.
  @discardableResult
  public func togglePresence<Element: Sendable & Equatable>(_ element: Element) -> ValueCommit
  where Item == [Element] {
    modify { array in
      if array.contains(element) {
        array.removeAll { $0 == element }
      } else {
        array.append(element)
      }
    }
  }

  /// Sets the value of a key; nil removes the key.
  @discardableResult
  public func update<Key: Sendable & Hashable, Value: Sendable>(key: Key, value: Value?)
    -> ValueCommit where Item == [Key: Value]
  {
    modify { $0[key] = value }
  }
}
