import Foundation

/// One thing to do to a store, as a program says it.
enum StoreChange<Item: StorableItem>: Sendable {
  /// Inserts items, or replaces those with the same identifiers.
  case insert([Item])
  /// Removes the items with these items' identifiers.
  case remove([Item])
  /// Removes all items.
  case removeAll

  /// How many items it names.
  var itemCount: Int {
    switch self {
    case .insert(let items), .remove(let items): items.count
    case .removeAll: 0
    }
  }
}

/// Several changes that become one transaction, with all that is needed to write them.
struct PreparedChanges<Item: StorableItem>: Sendable {
  /// A change with its keys; of an identifier that is given twice the last item, in the first one's place.
  enum Step: Sendable {
    case insert([(key: CacheKey, item: Item)])
    case remove([CacheKey])
    case removeAll
  }

  /// What was written under a key last.
  struct Written: Sendable {
    var fingerprint: DataFingerprint
    var item: Item
  }

  private(set) var steps: [Step] = []
  /// For the engine.
  private(set) var operations: [StorageOperation] = []
  /// What there is under the keys in the end.
  private(set) var written: [CacheKey: Written] = [:]
  /// The keys that were removed, whether or not they were written again.
  private(set) var removed: Set<CacheKey> = []
  /// Whether everything was removed.
  private(set) var removedAll = false

  /// Encodes the items.
  ///
  /// - Throws: what the encoding of an item throws.
  static func prepare(
    _ changes: [StoreChange<Item>], identifier: @Sendable (Item) -> String
  ) async throws -> Self {
    let count = changes.reduce(0) { $0 + $1.itemCount }
    if count <= ItemCoding<Item>.fewItems {
      return try Self(changes, identifier) { try ItemCoding.encode($0.map(\.item)) }
    }
    return try await prepareMany(changes, identifier)
  }

  @concurrent
  private static func prepareMany(
    _ changes: [StoreChange<Item>], _ identifier: @Sendable (Item) -> String
  ) async throws -> Self {
    var data: [[Data]] = []
    for case .insert(let items) in changes {
      data.append(try await ItemCoding.encodeMany(unique(items, identifier).map(\.item)))
    }
    var next = data.makeIterator()
    return try Self(changes, identifier) { _ in next.next() ?? [] }
  }

  private init(
    _ changes: [StoreChange<Item>], _ identifier: (Item) -> String,
    encode: ([(key: CacheKey, item: Item)]) throws -> [Data]
  ) throws {
    for change in changes {
      switch change {
      case .insert(let items):
        let unique = Self.unique(items, identifier)
        insert(unique, try encode(unique))
      case .remove(let items): remove(Self.unique(items, identifier).map(\.key))
      case .removeAll: removeAll()
      }
    }
  }

  private static func unique(
    _ items: [Item], _ identifier: (Item) -> String
  ) -> [(key: CacheKey, item: Item)] {
    var indices: [CacheKey: Int] = [:]
    var unique: [(key: CacheKey, item: Item)] = []
    for item in items {
      let key = CacheKey(identifier(item))
      if let index = indices[key] {
        unique[index].item = item
      } else {
        indices[key] = unique.count
        unique.append((key, item))
      }
    }
    return unique
  }

  private mutating func insert(_ items: [(key: CacheKey, item: Item)], _ data: [Data]) {
    guard !items.isEmpty else { return }
    steps.append(.insert(items))
    for ((key, item), data) in zip(items, data) {
      operations.append(.write(key, data))
      written[key] = Written(fingerprint: DataFingerprint(data), item: item)
    }
  }

  private mutating func remove(_ keys: [CacheKey]) {
    guard !keys.isEmpty else { return }
    steps.append(.remove(keys))
    for key in keys {
      operations.append(.remove(key))
      written[key] = nil
      removed.insert(key)
    }
  }

  private mutating func removeAll() {
    steps.append(.removeAll)
    operations.append(.removeAll)
    written = [:]
    removed = []
    removedAll = true
  }

  /// Returns an event for each step.
  ///
  /// - Parameter contents: the memory before the transaction.
  func events(before contents: StoreContents<Item>) -> [StoreEvent<Item>] {
    var hasRemovedAll = false
    // What the steps have done so far: an item, or that there is none.
    var order: [CacheKey] = []
    var done: [CacheKey: Item?] = [:]
    func put(_ key: CacheKey, _ item: Item?) {
      if done.updateValue(item, forKey: key) == nil { order.append(key) }
    }
    func current(_ key: CacheKey) -> Item? {
      if let item = done[key] { return item }
      return hasRemovedAll ? nil : contents.item(of: key)
    }
    return steps.map { step in
      switch step {
      case .insert(let items):
        for (key, item) in items { put(key, item) }
        return StoreEvent(operation: .insert, items: items.map(\.item))
      case .remove(let keys):
        let items = keys.compactMap(current)
        for key in keys { put(key, nil) }
        return StoreEvent(operation: .remove, items: items)
      case .removeAll:
        var items: [Item] = []
        if !hasRemovedAll {
          items =
            done.isEmpty
            ? contents.items : contents.keys.compactMap { current($0) }
        }
        items += order.compactMap { key in
          !hasRemovedAll && contents.index(of: key) != nil ? nil : done[key] ?? nil
        }
        hasRemovedAll = true
        (order, done) = ([], [:])
        return StoreEvent(operation: .remove, items: items)
      }
    }
  }
}
