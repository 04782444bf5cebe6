public import Foundation

/// A place where data lies under keys.
///
/// ``SQLiteStorageEngine`` and ``DiskStorageEngine`` are two; a program may bring its own. Six methods must be
/// written, and the others follow from them. A ``Store`` on such an engine works in one process: what another one
/// writes into the same place is seen when the store is made the next time. An engine that can tell what others
/// change conforms to ``SharedStorageEngine``.
///
/// An engine that cannot read throws. It never gives nothing in place of what it could not read.
public protocol StorageEngine: Actor {
  /// Writes data under a key, in the place of what is there.
  func write(_ data: Data, key: CacheKey) async throws

  /// Writes several; of a key that is given twice the last one counts.
  func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws

  /// Returns what lies under a key, or nil.
  func read(key: CacheKey) async throws -> Data?

  /// Returns what lies under those of the keys that are there, in the order of the keys.
  func read(keys: [CacheKey]) async throws -> [Data]

  /// Returns what lies under those of the keys that are there, with the keys and in their order.
  func readDataAndKeys(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)]

  /// Returns everything.
  func readAllData() async throws -> [Data]

  /// Returns everything with its keys, in the order in which the keys were first written if the engine
  /// knows it.
  func readAllDataAndKeys() async throws -> [(key: CacheKey, data: Data)]

  /// Removes what lies under a key, if there is something.
  func remove(key: CacheKey) async throws

  /// Removes what lies under several keys.
  func remove(keys: [CacheKey]) async throws

  /// Removes everything, and gives back the space as far as the engine can.
  func removeAllData() async throws

  /// Returns whether something lies under a key.
  func keyExists(_ key: CacheKey) async throws -> Bool

  /// Returns those of the keys that are there, in the order given.
  func keysExist(_ keys: [CacheKey]) async throws -> [CacheKey]

  /// Returns how many keys there are.
  func keyCount() async throws -> Int

  /// Returns all keys, in the order of ``readAllDataAndKeys()``.
  func allKeys() async throws -> [CacheKey]

  /// Returns when a key was first written; nil when it is not there.
  func createdAt(key: CacheKey) async throws -> Date?

  /// Returns when a key was last written; nil when it is not there.
  func updatedAt(key: CacheKey) async throws -> Date?

  /// Does several things in order.
  ///
  /// All or nothing in the engines of this library. What an engine gets that does not implement it is one
  /// call after another, so that a failure or a death can leave the first ones done.
  func apply(_ operations: [StorageOperation]) async throws
}

/// One thing to do to an engine's data.
public enum StorageOperation: Sendable, Hashable {
  /// Writes data under a key.
  case write(CacheKey, Data)
  /// Removes what lies under a key, if there is something.
  case remove(CacheKey)
  /// Removes everything.
  case removeAll
}

extension StorageEngine {
  /// Writes one after another.
  public func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {
    for (key, data) in dataAndKeys { try await write(data, key: key) }
  }

  /// Reads with the keys and drops them.
  public func read(keys: [CacheKey]) async throws -> [Data] {
    try await readDataAndKeys(keys: keys).map(\.data)
  }

  /// Reads one after another.
  public func readDataAndKeys(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
    var found: [(key: CacheKey, data: Data)] = []
    for key in keys {
      if let data = try await read(key: key) { found.append((key, data)) }
    }
    return found
  }

  /// Reads with the keys and drops them.
  public func readAllData() async throws -> [Data] {
    try await readAllDataAndKeys().map(\.data)
  }

  /// Reads what lies under all keys.
  public func readAllDataAndKeys() async throws -> [(key: CacheKey, data: Data)] {
    try await readDataAndKeys(keys: try await allKeys())
  }

  /// Removes one after another.
  public func remove(keys: [CacheKey]) async throws {
    for key in keys { try await remove(key: key) }
  }

  /// Removes all keys one after another.
  public func removeAllData() async throws {
    try await remove(keys: try await allKeys())
  }

  /// Reads and looks whether there is something.
  public func keyExists(_ key: CacheKey) async throws -> Bool {
    try await read(key: key) != nil
  }

  /// Looks for one after another.
  public func keysExist(_ keys: [CacheKey]) async throws -> [CacheKey] {
    var found: [CacheKey] = []
    for key in keys where try await keyExists(key) { found.append(key) }
    return found
  }

  /// Counts all keys.
  public func keyCount() async throws -> Int { try await allKeys().count }

  /// Does one after another; neighbouring writes and neighbouring removals are one call.
  public func apply(_ operations: [StorageOperation]) async throws {
    var written: [(key: CacheKey, data: Data)] = []
    var removed: [CacheKey] = []
    for operation in operations {
      if case .write(let key, let data) = operation {
        if !removed.isEmpty { try await remove(keys: removed) }
        removed = []
        written.append((key, data))
        continue
      }
      if !written.isEmpty { try await write(written) }
      written = []
      switch operation {
      case .remove(let key): removed.append(key)
      case .removeAll:
        removed = []
        try await removeAllData()
      case .write: break
      }
    }
    if !written.isEmpty { try await write(written) }
    if !removed.isEmpty { try await remove(keys: removed) }
  }
}
