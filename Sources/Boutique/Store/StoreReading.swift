/// What an engine has told, sorted into what need not be decoded and what must be.
struct StoreReading<Item: StorableItem>: Sendable {
  let changes: StorageChanges
  /// The memory before.
  let contents: StoreContents<Item>
  /// What this store has written or is writing, and has not told yet.
  let own: [PreparedChanges<Item>]
  /// What this store has written, or has in memory at another place; and who did it, nil for this store.
  private(set) var known: [(change: StorePatch<Item>.Change, origin: StoreEventOrigin?)] = []
  /// What neither memory nor this store has.
  private(set) var unknown: [(entry: StorageEntry, fingerprint: DataFingerprint)] = []

  init(
    _ changes: StorageChanges, _ contents: StoreContents<Item>, _ own: [PreparedChanges<Item>]
  ) {
    var changes = changes
    changes.putInOrder()
    self.changes = changes
    self.contents = contents
    self.own = own
    for entry in changes.entries { take(entry) }
  }

  private mutating func take(_ entry: StorageEntry) {
    let fingerprint = DataFingerprint(entry.data)
    for changes in own {
      if let item = changes.item(of: entry.key, fingerprint) {
        return known.append((.init(entry: .init(entry, fingerprint), item: item), nil))
      }
    }
    guard let index = contents.index(of: entry.key),
      contents.entry(index).fingerprint == fingerprint
    else { return unknown.append((entry, fingerprint)) }
    guard contents.entry(index).place != entry.place else { return }
    known.append(
      (
        .init(entry: .init(entry, fingerprint), item: contents.items[index]),
        StoreEventOrigin(entry.origin ?? changes.origin)
      ))
  }
}

extension StoreContents.Entry {
  init(_ entry: StorageEntry, _ fingerprint: DataFingerprint) {
    self.init(place: entry.place, key: entry.key, fingerprint: fingerprint)
  }
}

extension StorageChanges {
  /// Puts the entries in order, and leaves the first of those at one place, which only an engine with a
  /// fault gives.
  fileprivate mutating func putInOrder() {
    let isInOrder = zip(entries, entries.dropFirst()).allSatisfy { $0.place < $1.place }
    if isInOrder { return }
    entries.sort { $0.place < $1.place }
    var last: Int64?
    entries.removeAll { entry in
      defer { last = entry.place }
      return entry.place == last
    }
  }
}

extension PreparedChanges {
  /// Returns the item that was written last under a key, if this is its data.
  fileprivate func item(of key: CacheKey, _ fingerprint: DataFingerprint) -> Item? {
    guard let last = written[key], last.fingerprint == fingerprint else { return nil }
    return last.item
  }

  /// Whether a key was removed, and not written again.
  func removes(_ key: CacheKey) -> Bool {
    written[key] == nil && (removedAll || removed.contains(key))
  }
}
