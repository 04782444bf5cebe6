import Boutique
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// An item as a program has it: equipment with a number, and what it is called.
struct Thing: Codable, Sendable, Equatable {
  var number: String
  var name: String

  init(_ number: String, _ name: String) {
    self.number = number
    self.name = name
  }

  static let coat = Thing("1", "coat")
  static let sweater = Thing("2", "sweater")
  static let purse = Thing("3", "purse")
  static let belt = Thing("4", "belt")
  static let otherBelt = Thing("4", "a belt that takes the other's place")
  static let all = [coat, sweater, purse, belt]
}

/// The engines of the library, each on a directory of its own.
enum EngineKind: String, CaseIterable, Sendable {
  case sqlite
  case disk
  case memory

  /// Those that find their data again when they are made anew.
  static let lasting: [EngineKind] = [.sqlite, .disk]

  func engine(in directory: TestDirectory) -> any SharedStorageEngine {
    switch self {
    case .sqlite: SQLiteStorageEngine(directory: .init(url: directory.url("sqlite")))
    case .disk: DiskStorageEngine(directory: .init(url: directory.url("disk")))
    case .memory: MemoryStorageEngine()
    }
  }
}

/// An engine as a program may bring it: the six methods that must be, and no order but that of its keys.
actor PlainEngine: StorageEngine {
  struct Refusal: Error, Equatable {}

  private var data: [CacheKey: Data] = [:]
  var refusesWriting = false
  var refusesReading = false

  func refuse(writing: Bool = false, reading: Bool = false) {
    (refusesWriting, refusesReading) = (writing, reading)
  }

  func write(_ data: Data, key: CacheKey) async throws {
    // Others of the actor's callers come in between.
    await Task.yield()
    if refusesWriting { throw Refusal() }
    self.data[key] = data
  }

  func read(key: CacheKey) throws -> Data? {
    if refusesReading { throw Refusal() }
    return data[key]
  }

  func remove(key: CacheKey) throws {
    if refusesWriting { throw Refusal() }
    data[key] = nil
  }

  func allKeys() throws -> [CacheKey] {
    if refusesReading { throw Refusal() }
    return data.keys.sorted { $0.rawValue < $1.rawValue }
  }

  func createdAt(key: CacheKey) -> Date? { nil }
  func updatedAt(key: CacheKey) -> Date? { nil }
}

/// Waits until something of a main-actor object is as wanted.
@MainActor
func waitUntil(
  _ awaited: String, sourceLocation: SourceLocation = #_sourceLocation,
  _ isReached: @MainActor () async throws -> Bool
) async throws {
  let clock = ContinuousClock()
  let bound = clock.now + .seconds(30)
  while clock.now < bound {
    if try await isReached() { return }
    try await Task.sleep(for: .milliseconds(5))
  }
  Issue.record("waited in vain for \(awaited)", sourceLocation: sourceLocation)
}

/// Makes a store that has not loaded yet.
///
/// In an asynchronous function the compiler prefers the initializer that waits; in a closure like this it cannot.
@MainActor
func unloaded<Item>(_ make: () -> Store<Item>) -> Store<Item> { make() }

/// An engine whose writers hear of their commit only when they are let go on, while everybody else sees it.
actor GatedEngine: SharedStorageEngine {
  let inner = MemoryStorageEngine()
  private var isShut = false
  private var waiting: [CheckedContinuation<Void, any Error>] = []

  var waitingCount: Int { waiting.count }

  func shut() { isShut = true }

  func open(throwing error: (any Error)? = nil) {
    isShut = false
    for continuation in waiting {
      if let error { continuation.resume(throwing: error) } else { continuation.resume() }
    }
    waiting = []
  }

  func apply(_ operations: [StorageOperation]) async throws {
    await inner.apply(operations)
    guard isShut else { return }
    try await withCheckedThrowingContinuation { waiting.append($0) }
  }

  func changes(since position: StoragePosition?) async -> StorageChanges {
    await inner.changes(since: position)
  }
  nonisolated func news() -> AsyncThrowingStream<StoragePosition?, any Error> { inner.news() }
  func write(_ data: Data, key: CacheKey) async throws { try await apply([.write(key, data)]) }
  func read(key: CacheKey) async -> Data? { await inner.read(key: key) }
  func remove(key: CacheKey) async throws { try await apply([.remove(key)]) }
  func allKeys() async -> [CacheKey] { await inner.allKeys() }
  func createdAt(key: CacheKey) async -> Date? { await inner.createdAt(key: key) }
  func updatedAt(key: CacheKey) async -> Date? { await inner.updatedAt(key: key) }
}
