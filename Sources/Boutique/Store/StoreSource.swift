import BoutiqueDB

/// What a store's memory is a copy of.
protocol StoreSource: Sendable {
  /// Does several things in order.
  func apply(_ operations: [StorageOperation]) async throws

  /// Returns what has changed since a position; see ``SharedStorageEngine/changes(since:)``.
  func changes(since position: StoragePosition?) async throws -> StorageChanges

  /// Returns when something may have changed; see ``SharedStorageEngine/news()``.
  func news() -> AsyncThrowingStream<StoragePosition?, any Error>
}

/// An engine that tells what others change.
struct SharedSource<Engine: SharedStorageEngine>: StoreSource {
  let engine: Engine

  func apply(_ operations: [StorageOperation]) async throws { try await engine.apply(operations) }

  func changes(since position: StoragePosition?) async throws -> StorageChanges {
    try await engine.changes(since: position)
  }

  func news() -> AsyncThrowingStream<StoragePosition?, any Error> { engine.news() }
}

/// An engine that tells nothing: what this store writes is taken for all that changes in it.
///
/// It numbers the keys in the order in which the engine gives them, and later ones in the order in which they
/// are written.
actor UnsharedSource: StoreSource {
  private struct Change {
    var number: Int64
    var place: Int64
    /// What lies there now; nil when it is gone.
    var entry: StorageEntry?
  }

  private let engine: any StorageEngine
  /// The last thing that was begun; the next one begins when it has ended.
  private var last: Task<Void, Never>?
  private var number: Int64 = 0
  private var places: [CacheKey: Int64] = [:]
  private var lastPlace: Int64 = 0
  /// What the store has not asked for yet, by place.
  private var pending: [Int64: Change] = [:]
  private var mustReadAll = true

  init(_ engine: any StorageEngine) { self.engine = engine }

  nonisolated func news() -> AsyncThrowingStream<StoragePosition?, any Error> {
    AsyncThrowingStream { $0.finish() }
  }

  func apply(_ operations: [StorageOperation]) async throws {
    try await inTurn { try await self.write(operations) }
  }

  func changes(since position: StoragePosition?) async throws -> StorageChanges {
    try await inTurn { try await self.read(since: position) }
  }

  /// An actor lets others in while it waits; these must not come between one another.
  private func inTurn<R: Sendable>(
    _ body: @escaping @Sendable () async throws -> R
  ) async throws -> R {
    let before = last
    let task = Task {
      await before?.value
      return try await body()
    }
    last = Task { _ = await task.result }
    return try await task.value
  }

  private func write(_ operations: [StorageOperation]) async throws {
    do {
      try await engine.apply(operations)
    } catch {
      // Of several things the first may be done: then the engine has to say what is there.
      if operations.count > 1 { mustReadAll = true }
      throw error
    }
    for operation in operations {
      switch operation {
      case .write(let key, let data):
        note(StorageEntry(place: place(of: key), key: key, data: data))
      case .remove(let key):
        guard let place = places.removeValue(forKey: key) else { continue }
        note(nothingAt: place)
      case .removeAll:
        for place in places.values { note(nothingAt: place) }
        places = [:]
      }
    }
  }

  private func place(of key: CacheKey) -> Int64 {
    if let place = places[key] { return place }
    lastPlace += 1
    places[key] = lastPlace
    return lastPlace
  }

  private func note(_ entry: StorageEntry) {
    number += 1
    var entry = entry
    entry.origin = .thisProcess
    pending[entry.place] = Change(number: number, place: entry.place, entry: entry)
  }

  private func note(nothingAt place: Int64) {
    number += 1
    pending[place] = Change(number: number, place: place)
  }

  private func read(since position: StoragePosition?) async throws -> StorageChanges {
    guard let position, !mustReadAll else { return try await readAll() }
    // Asked for from there, the earlier ones have been taken.
    pending = pending.filter { $0.value.number > position.number }
    let entries = pending.values.compactMap(\.entry).sorted { $0.place < $1.place }
    var changes = StorageChanges(position: now, isEverything: false, entries: entries)
    for change in pending.values where change.entry == nil {
      changes.gone[change.place] = .thisProcess
    }
    return changes
  }

  private func readAll() async throws -> StorageChanges {
    let all = try await engine.readAllDataAndKeys()
    mustReadAll = false
    pending = [:]
    var isThere: Set<CacheKey> = []
    var entries: [StorageEntry] = []
    for (key, data) in all where isThere.insert(key).inserted {
      entries.append(
        StorageEntry(place: place(of: key), key: key, data: data, origin: .thisProcess))
    }
    places = places.filter { isThere.contains($0.key) }
    number += 1
    return StorageChanges(
      position: now, isEverything: true, entries: entries.sorted { $0.place < $1.place },
      origin: .thisProcess)
  }

  private var now: StoragePosition { StoragePosition(history: "", number: number) }
}
