import BoutiqueDB
public import Foundation

/// Data under keys in memory, gone with the engine: for tests, and for trying things out.
///
/// Several stores may be made on one engine; they follow one another as those of several processes do.
public actor MemoryStorageEngine {
  private struct Held {
    var entry: StorageEntry
    var created: Date
    var updated: Date
    /// When it was last written, by ``MemoryStorageEngine/number``.
    var number: Int64
  }

  private let history = UUID().uuidString
  private var number: Int64 = 0
  private var lastPlace: Int64 = 0
  private var held: [CacheKey: Held] = [:]
  private var gone: [(number: Int64, place: Int64)] = []
  /// Since when ``gone`` has all that is gone.
  private var goneSince: Int64 = 0
  private var listeners: [UUID: AsyncThrowingStream<StoragePosition?, any Error>.Continuation] = [:]

  /// How many removals are remembered; who has missed more is told everything.
  private static let goneBound = 10_000

  /// Creates an empty engine.
  public init() {}

  init(_ entries: [StorageEntry]) {
    let now = Date()
    for entry in entries {
      held[entry.key] = Held(entry: entry, created: now, updated: now, number: 0)
      lastPlace = max(lastPlace, entry.place)
    }
  }

  private var ordered: [StorageEntry] {
    held.values.map(\.entry).sorted { $0.place < $1.place }
  }

  private var now: StoragePosition { StoragePosition(history: history, number: number) }

  private func write(_ data: Data, _ key: CacheKey, _ time: Date) {
    if var old = held[key] {
      old.entry.data = data
      old.updated = time
      old.number = number
      held[key] = old
    } else {
      lastPlace += 1
      let entry = StorageEntry(place: lastPlace, key: key, data: data, origin: .thisProcess)
      held[key] = Held(entry: entry, created: time, updated: time, number: number)
    }
  }

  private func forget(_ key: CacheKey) {
    if let old = held.removeValue(forKey: key) { gone.append((number, old.entry.place)) }
  }

  fileprivate func listen(
    _ id: UUID, _ continuation: AsyncThrowingStream<StoragePosition?, any Error>.Continuation
  ) {
    listeners[id] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.unlisten(id) } }
    continuation.yield(nil)
  }

  private func unlisten(_ id: UUID) { listeners[id] = nil }
}

// All are asynchronous, though nothing waits: else a caller that knows the type would get the protocol's own
// implementations, which are asynchronous and so preferred.
extension MemoryStorageEngine: SharedStorageEngine {
  /// Does all of it or nothing.
  public func apply(_ operations: [StorageOperation]) async { perform(operations) }

  private func perform(_ operations: [StorageOperation]) {
    number += 1
    let time = Date()
    for operation in operations {
      switch operation {
      case .write(let key, let data): write(data, key, time)
      case .remove(let key): forget(key)
      case .removeAll: for key in held.keys { forget(key) }
      }
    }
    if gone.count > Self.goneBound {
      gone = []
      goneSince = number
    }
    for listener in listeners.values { listener.yield(now) }
  }

  /// Returns what has changed since a position, as of one moment.
  public func changes(since position: StoragePosition?) async -> StorageChanges {
    guard let position, position.history == history, position.number >= goneSince else {
      return StorageChanges(
        position: now, isEverything: true, entries: ordered, origin: .thisProcess)
    }
    var changes = StorageChanges(position: now, isEverything: false, entries: [])
    changes.entries = held.values.filter { $0.number > position.number }.map(\.entry)
      .sorted { $0.place < $1.place }
    for (number, place) in gone where number > position.number {
      changes.gone[place] = .thisProcess
    }
    return changes
  }

  /// Returns a sequence that yields when something may have changed.
  public nonisolated func news() -> AsyncThrowingStream<StoragePosition?, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: StoragePosition?.self, bufferingPolicy: .bufferingNewest(1))
    Task { await listen(UUID(), continuation) }
    return stream
  }

  /// Writes data under a key, in the place of what is there.
  public func write(_ data: Data, key: CacheKey) async { perform([.write(key, data)]) }

  /// Writes several, all or nothing; of a key that is given twice the last one counts.
  public func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async {
    perform(dataAndKeys.map { .write($0.key, $0.data) })
  }

  /// Returns what lies under a key, or nil.
  public func read(key: CacheKey) async -> Data? { held[key]?.entry.data }

  /// Returns everything with its keys, in the order in which they were first written.
  public func readAllDataAndKeys() async -> [(key: CacheKey, data: Data)] {
    ordered.map { ($0.key, $0.data) }
  }

  /// Removes what lies under a key, if there is something.
  public func remove(key: CacheKey) async { perform([.remove(key)]) }

  /// Removes what lies under several keys, all or nothing.
  public func remove(keys: [CacheKey]) async { perform(keys.map { .remove($0) }) }

  /// Removes everything, and gives the space back.
  public func removeAllData() async { perform([.removeAll]) }

  /// Returns all keys, in the order in which they were first written.
  public func allKeys() async -> [CacheKey] { ordered.map(\.key) }

  /// Returns when a key was first written; nil when it is not there.
  public func createdAt(key: CacheKey) async -> Date? { held[key]?.created }

  /// Returns when a key was last written; nil when it is not there.
  public func updatedAt(key: CacheKey) async -> Date? { held[key]?.updated }
}
