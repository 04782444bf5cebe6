/// How a store's memory gets from one moment to a later one.
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
  static func prepare(
    _ changes: StorageChanges, _ contents: StoreContents<Item>, own: [PreparedChanges<Item>],
    early: [PreparedChanges<Item>]
  ) async throws -> Self {
    if !changes.isEverything, changes.entries.count <= ItemCoding<Item>.fewItems,
      changes.gone.count <= ItemCoding<Item>.fewItems
    {
      let reading = StoreReading(changes, contents, own + early)
      return Self(reading, ItemCoding.decode(reading.unknown.map(\.entry)), own: own)
    }
    return try await prepareLarge(changes, contents, own, early)
  }

  /// Works out a large step off the main actor.
  @concurrent
  private static func prepareLarge(
    _ changes: StorageChanges, _ contents: StoreContents<Item>, _ own: [PreparedChanges<Item>],
    _ early: [PreparedChanges<Item>]
  ) async throws -> Self {
    let reading = StoreReading(changes, contents, own + early)
    let decoded = try await ItemCoding<Item>.decodeMany(reading.unknown.map(\.entry))
    return Self(reading, decoded, own: own)
  }

  private init(
    _ reading: StoreReading<Item>, _ decoded: [ItemCoding<Item>.Decoded],
    own: [PreparedChanges<Item>]
  ) {
    let changes = reading.changes
    position = changes.position
    places =
      changes.isEverything ? nil : Set(changes.entries.map(\.place)).union(changes.gone.keys)
    let origins = makePatch(reading, decoded)
    tell(changes, reading.contents, own: own, all: reading.own, origins)
    if patch.isLarge {
      rebuilt = reading.contents.rebuilt(with: patch)
      patch = StorePatch()
    }
  }

  /// Makes the patch.
  ///
  /// - Returns: for each change of the patch, in its order, who made it; nil for this store.
  private mutating func makePatch(
    _ reading: StoreReading<Item>, _ decoded: [ItemCoding<Item>.Decoded]
  ) -> [StoreEventOrigin?] {
    let (changes, contents) = (reading.changes, reading.contents)
    var found = reading.known
    for ((entry, fingerprint), outcome) in zip(reading.unknown, decoded) {
      switch outcome {
      case .item(let item):
        found.append(
          (
            StorePatch.Change(entry: .init(entry, fingerprint), item: item),
            StoreEventOrigin(entry.origin ?? changes.origin)
          ))
      case .failure(let error): unreadable[entry.place] = error
      }
    }
    if !reading.unknown.isEmpty {
      found.sort { $0.change.entry.place < $1.change.entry.place }
    }
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
