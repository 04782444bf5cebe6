/// What a store has in memory: its items in the order of their places, and how to find them.
struct StoreContents<Item: Sendable>: Sendable {
  /// What is known of an item beside itself.
  struct Entry: Sendable {
    var place: Int64
    var key: CacheKey
    var fingerprint: DataFingerprint
  }

  /// The items, in order.
  private(set) var items: [Item] = []
  /// For each item, by the same index; ordered by place.
  private var entries: [Entry] = []
  private var places: [CacheKey: Int64] = [:]

  /// How many there are.
  var count: Int { entries.count }

  /// The keys, in order.
  var keys: some Sequence<CacheKey> { entries.lazy.map(\.key) }

  /// Returns the index of a key.
  func index(of key: CacheKey) -> Int? { places[key].flatMap { index(at: $0) } }

  /// Returns the index of a place.
  func index(at place: Int64) -> Int? {
    let index = firstIndex(notBefore: place)
    return index < entries.count && entries[index].place == place ? index : nil
  }

  /// Returns what is known of the item at an index.
  func entry(_ index: Int) -> Entry { entries[index] }

  /// Returns the item of a key.
  func item(of key: CacheKey) -> Item? { index(of: key).map { items[$0] } }

  private func firstIndex(notBefore place: Int64) -> Int {
    // New items come last.
    guard let last = entries.last, last.place >= place else { return entries.count }
    var (low, high) = (0, entries.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].place < place { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // MARK: Changing

  /// Takes the state after a patch, item by item.
  mutating func apply(_ patch: StorePatch<Item>) {
    for place in patch.gone {
      if let index = index(at: place) { remove(at: index) }
    }
    for change in patch.present { put(change) }
  }

  private mutating func put(_ change: StorePatch<Item>.Change) {
    let entry = change.entry
    // A key that was removed and written again has another place; a place may have been given to another key.
    if let place = places[entry.key], place != entry.place, let index = index(at: place) {
      remove(at: index)
    }
    let index = firstIndex(notBefore: entry.place)
    if index < entries.count, entries[index].place == entry.place {
      if entries[index].key != entry.key { places[entries[index].key] = nil }
      entries[index] = entry
      items[index] = change.item
    } else {
      entries.insert(entry, at: index)
      items.insert(change.item, at: index)
    }
    places[entry.key] = entry.place
  }

  private mutating func remove(at index: Int) {
    places[entries[index].key] = nil
    entries.remove(at: index)
    items.remove(at: index)
  }

  /// Returns the state after a patch, made anew: for patches that change much.
  func rebuilt(with patch: StorePatch<Item>) -> Self {
    var result = StoreContents()
    result.reserveCapacity(count + patch.present.count)
    if count == 0 {
      for change in patch.present { result.append(change.entry, change.item) }
      return result
    }
    var dropped = Set(patch.gone)
    for change in patch.present {
      dropped.insert(change.entry.place)
      if let place = places[change.entry.key] { dropped.insert(place) }
    }
    var next = 0
    func takeChanges(before place: Int64, into result: inout Self) {
      while next < patch.present.count, patch.present[next].entry.place < place {
        result.append(patch.present[next].entry, patch.present[next].item)
        next += 1
      }
    }
    for (index, entry) in entries.enumerated() {
      if dropped.contains(entry.place) { continue }
      takeChanges(before: entry.place, into: &result)
      result.append(entry, items[index])
    }
    takeChanges(before: .max, into: &result)
    return result
  }

  private mutating func reserveCapacity(_ count: Int) {
    items.reserveCapacity(count)
    entries.reserveCapacity(count)
    places.reserveCapacity(count)
  }

  private mutating func append(_ entry: Entry, _ item: Item) {
    entries.append(entry)
    items.append(item)
    places[entry.key] = entry.place
  }
}

/// What leads from one state of a store's memory to a later one.
struct StorePatch<Item: Sendable>: Sendable {
  /// An item that is new, or other than it was.
  struct Change: Sendable {
    var entry: StoreContents<Item>.Entry
    var item: Item
  }

  /// The places at which there is nothing any more.
  var gone: [Int64] = []
  /// The items that are new or changed, in the order of their places.
  var present: [Change] = []

  /// Whether it changes nothing.
  var isEmpty: Bool { gone.isEmpty && present.isEmpty }

  /// Whether going through all items once is less work than moving them for each change.
  var isLarge: Bool { gone.count > 4 || present.count > 64 }
}
