/// How a store's memory gets from one moment to a later one, worked out off the main actor.
struct StoreStep<Item: StorableItem>: Sendable {
  /// What changes; nothing when ``rebuilt`` is there.
  private(set) var patch = StorePatch<Item>()
  /// All of the memory after it, when much changes.
  private(set) var rebuilt: StoreContents<Item>?
  /// The moment after it.
  let position: StoragePosition
  /// What others did, in the order in which it is told.
  private(set) var events: [StoreEvent<Item>] = []
  /// The keys of what this store inserted.
  private(set) var ownInsertions: [CacheKey] = []
  /// What this store removed.
  private(set) var ownRemovals: [CacheKey: Item] = [:]
  /// What could not be read, by place.
  private(set) var unreadable: [Int64: StoreError] = [:]
  /// The places of which ``unreadable`` says all there is to say; nil for all places.
  let places: Set<Int64>?

  /// Whether the memory stays as it is.
  var isEmpty: Bool { patch.isEmpty && rebuilt == nil }

  /// Works out a step.
  ///
  /// - Parameters:
  ///   - changes: what has changed since the moment of which `contents` is.
  ///   - contents: the memory.
  ///   - own: what this store has written and not told yet.
  ///   - early: what it is writing, of which a part may be there already.
  @concurrent
  static func prepare(
    _ changes: StorageChanges, _ contents: StoreContents<Item>, own: [PreparedChanges<Item>],
    early: [PreparedChanges<Item>]
  ) async throws -> Self {
    var changes = changes
    changes.putInOrder()
    var step = Self(changes)
    let origins = try await step.read(changes, contents, own + early)
    step.tell(changes, contents, own: own, all: own + early, origins)
    if step.patch.isLarge {
      step.rebuilt = contents.rebuilt(with: step.patch)
      step.patch = StorePatch()
    }
    return step
  }

  private init(_ changes: StorageChanges) {
    position = changes.position
    places =
      changes.isEverything ? nil : Set(changes.entries.map(\.place)).union(changes.gone.keys)
  }

  /// Makes the patch; decodes only what is not known.
  ///
  /// - Returns: for each change of the patch, in its order, who made it; nil for this store.
  private mutating func read(
    _ changes: StorageChanges, _ contents: StoreContents<Item>, _ own: [PreparedChanges<Item>]
  ) async throws -> [StoreEventOrigin?] {
    typealias Change = StorePatch<Item>.Change
    var found: [(change: Change, origin: StoreEventOrigin?)] = []
    var unknown: [(entry: StorageEntry, fingerprint: DataFingerprint)] = []
    for entry in changes.entries {
      let fingerprint = DataFingerprint(entry.data)
      let new = StoreContents<Item>.Entry(
        place: entry.place, key: entry.key, fingerprint: fingerprint)
      var written: Item?
      for changes in own {
        if let item = changes.item(of: entry.key, fingerprint) { written = item }
      }
      if let written {
        found.append((Change(entry: new, item: written), nil))
      } else if let index = contents.index(of: entry.key),
        contents.entry(index).fingerprint == fingerprint
      {
        guard contents.entry(index).place != entry.place else { continue }
        found.append((Change(entry: new, item: contents.items[index]), origin(of: entry, changes)))
      } else {
        unknown.append((entry, fingerprint))
      }
    }
    let decoded = try await ItemCoding<Item>.decode(unknown.map(\.entry))
    for ((entry, fingerprint), outcome) in zip(unknown, decoded) {
      switch outcome {
      case .item(let item):
        let new = StoreContents<Item>.Entry(
          place: entry.place, key: entry.key, fingerprint: fingerprint)
        found.append((Change(entry: new, item: item), origin(of: entry, changes)))
      case .failure(let error): unreadable[entry.place] = error
      }
    }
    if !unknown.isEmpty { found.sort { $0.change.entry.place < $1.change.entry.place } }
    patch.present = found.map(\.change)
    if changes.isEverything {
      let present = Set(changes.entries.map(\.key))
      patch.gone = (0..<contents.count).map { contents.entry($0) }
        .filter { !present.contains($0.key) }.map(\.place)
    } else {
      patch.gone = changes.gone.keys.filter { contents.index(at: $0) != nil }
    }
    return found.map(\.origin)
  }

  private func origin(of entry: StorageEntry, _ changes: StorageChanges) -> StoreEventOrigin {
    StoreEventOrigin(entry.origin ?? changes.origin)
  }

  /// Makes the events of what others did: removals first, then insertions, by who did them.
  private mutating func tell(
    _ changes: StorageChanges, _ contents: StoreContents<Item>, own: [PreparedChanges<Item>],
    all: [PreparedChanges<Item>], _ origins: [StoreEventOrigin?]
  ) {
    var removed = EventItems<Item>()
    var inserted = EventItems<Item>()
    for (change, origin) in zip(patch.present, origins) {
      if let origin {
        inserted.add(change.item, origin)
      } else {
        ownInsertions.append(change.entry.key)
      }
      // A place that another key has now: the one that had it is gone, if it is not elsewhere.
      guard let index = contents.index(at: change.entry.place) else { continue }
      let old = contents.entry(index)
      if old.key != change.entry.key, !changes.entries.contains(where: { $0.key == old.key }) {
        noteRemoval(index, origin ?? .thisProcess, &removed, contents, all)
      }
    }
    let goneOrigins = changes.gone.mapValues { StoreEventOrigin($0 ?? changes.origin) }
    let moved = Set(patch.present.map(\.entry.key))
    for place in patch.gone.sorted() {
      guard let index = contents.index(at: place),
        !moved.contains(contents.entry(index).key)
      else { continue }
      let origin = goneOrigins[place] ?? StoreEventOrigin(changes.origin)
      noteRemoval(index, origin, &removed, contents, all)
    }
    // What this store wrote and another removed before it was seen here.
    if origins.count(where: { $0 == nil }) < own.reduce(0, { $0 + $1.written.count }) {
      let present = Set(changes.entries.map(\.key))
      for (key, last) in own.flatMap(\.written)
      where !present.contains(key) && contents.index(of: key) == nil
        && !all.contains(where: { $0.removes(key) })
      {
        removed.add(last.item, .unknown)
      }
    }
    events = removed.events(.remove) + inserted.events(.insert)
  }

  private mutating func noteRemoval(
    _ index: Int, _ origin: StoreEventOrigin, _ removed: inout EventItems<Item>,
    _ contents: StoreContents<Item>, _ all: [PreparedChanges<Item>]
  ) {
    let key = contents.entry(index).key
    if all.contains(where: { $0.removes(key) }) {
      ownRemovals[key] = contents.items[index]
    } else {
      removed.add(contents.items[index], origin)
    }
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

/// Items by who did something to them, in the order in which they were added.
private struct EventItems<Item: StorableItem> {
  private var order: [StoreEventOrigin] = []
  private var items: [StoreEventOrigin: [Item]] = [:]

  mutating func add(_ item: Item, _ origin: StoreEventOrigin) {
    if items[origin] == nil { order.append(origin) }
    items[origin, default: []].append(item)
  }

  func events(_ operation: StoreEvent<Item>.Operation) -> [StoreEvent<Item>] {
    order.map { StoreEvent(operation: operation, items: items[$0] ?? [], origin: $0) }
  }
}
