extension Store {
  /// Several changes to a store that happen at once: one transaction on the disk, one change in memory.
  ///
  /// ```swift
  /// try await store.removeAll().insert(notes).run()
  /// ```
  ///
  /// Nothing happens before ``run()``.
  @MainActor
  public final class Operation {
    private let store: Store
    private var changes: [StoreChange<Item>]
    private var hasRun = false

    init(_ store: Store, _ change: StoreChange<Item>) {
      self.store = store
      changes = [change]
    }

    /// Adds the insertion of an item.
    public func insert(_ item: Item) -> Operation { adding(.insert([item])) }

    /// Adds the insertion of several items.
    public func insert(_ items: [Item]) -> Operation { adding(.insert(items)) }

    /// Adds the removal of an item.
    public func remove(_ item: Item) -> Operation { adding(.remove([item])) }

    /// Adds the removal of several items.
    public func remove(_ items: [Item]) -> Operation { adding(.remove(items)) }

    /// Adds the removal of all items.
    public func removeAll() -> Operation { adding(.removeAll) }

    private func adding(_ change: StoreChange<Item>) -> Operation {
      changes.append(change)
      return self
    }

    /// Makes all changes, in their order, and returns when they are in memory.
    ///
    /// A second call does nothing, unless the first one failed.
    ///
    /// - Throws: what ``Store/insert(_:)-(Item)`` throws; then nothing was changed.
    public func run() async throws {
      guard !hasRun else { return }
      hasRun = true
      do {
        try await store.perform(changes)
      } catch {
        hasRun = false
        throw error
      }
    }
  }

  // MARK: Chains

  /// Begins a chain of changes with the insertion of an item; ``Operation/run()`` makes them.
  public func insert(_ item: Item) -> Operation { Operation(self, .insert([item])) }

  /// Begins a chain of changes with the insertion of several items.
  public func insert(_ items: [Item]) -> Operation { Operation(self, .insert(items)) }

  /// Begins a chain of changes with the removal of an item.
  public func remove(_ item: Item) -> Operation { Operation(self, .remove([item])) }

  /// Begins a chain of changes with the removal of several items.
  public func remove(_ items: [Item]) -> Operation { Operation(self, .remove(items)) }

  /// Begins a chain of changes with the removal of all items.
  public func removeAll() -> Operation { Operation(self, .removeAll) }

  // MARK: Single changes

  /// Inserts an item, or replaces the one with its identifier, in its place.
  ///
  /// Returns when it is on the disk, where other processes see it, and in memory.
  ///
  /// - Throws: what encoding the item or the engine throws; then nothing was changed.
  ///   ``StoreError/notReadBack(message:)`` alone says that it is on the disk.
  public func insert(_ item: Item) async throws { try await perform([.insert([item])]) }

  /// Inserts several items at once; of those with the same identifier the last one counts.
  ///
  /// - Throws: as ``insert(_:)-(Item)`` does.
  public func insert(_ items: [Item]) async throws { try await perform([.insert(items)]) }

  /// Removes the item with this one's identifier, if there is one.
  ///
  /// - Throws: as ``insert(_:)-(Item)`` does.
  public func remove(_ item: Item) async throws { try await perform([.remove([item])]) }

  /// Removes the items with these items' identifiers at once.
  ///
  /// - Throws: as ``insert(_:)-(Item)`` does.
  public func remove(_ items: [Item]) async throws { try await perform([.remove(items)]) }

  /// Removes all items, also those that another process has just inserted.
  ///
  /// - Throws: as ``insert(_:)-(Item)`` does.
  public func removeAll() async throws { try await perform([.removeAll]) }
}
