public import Foundation

/// Objects under keys in an engine: for those who want neither data nor a store.
///
/// ```swift
/// let storage = ObjectStorage<Settings>(storage: SQLiteStorageEngine.default(appendingPath: "Cache"))
/// try await storage.store(settings, forKey: "settings")
/// ```
///
/// Nothing is kept in memory. What cannot be read or decoded throws; nil says that there is nothing.
public actor ObjectStorage<Object: StorableItem> {
  private let storage: any StorageEngine
  private let encoder = ItemCoding<Object>.encoder()
  private let decoder = JSONDecoder()

  /// Creates a storage on an engine.
  public init(storage: any StorageEngine = SQLiteStorageEngine.default) { self.storage = storage }

  /// Writes an object under a key, in the place of what is there.
  public func store(_ object: Object, forKey key: CacheKey) async throws {
    try await storage.write(try encoder.encode(object), key: key)
  }

  /// Writes several objects; of a key that is given twice the last one counts.
  public func store(_ objectsAndKeys: [(key: CacheKey, object: Object)]) async throws {
    try await storage.write(try objectsAndKeys.map { ($0.key, try encoder.encode($0.object)) })
  }

  /// Returns the object under a key, or nil.
  public func object(forKey key: CacheKey) async throws -> Object? {
    try await storage.read(key: key).map { try decode($0, key) }
  }

  /// Returns the objects under those of the keys that are there, in the order of the keys.
  public func objects(forKeys keys: [CacheKey]) async throws -> [Object] {
    try await objectsAndKeys(keys: keys).map(\.object)
  }

  /// Returns the objects under those of the keys that are there, with the keys.
  public func objectsAndKeys(
    keys: [CacheKey]
  ) async throws -> [(key: CacheKey, object: Object)] {
    try await storage.readDataAndKeys(keys: keys).map { ($0.key, try decode($0.data, $0.key)) }
  }

  /// Returns all objects.
  public func allObjects() async throws -> [Object] {
    try await allObjectsAndKeys().map(\.object)
  }

  /// Returns all objects with their keys.
  public func allObjectsAndKeys() async throws -> [(key: CacheKey, object: Object)] {
    try await storage.readAllDataAndKeys().map { ($0.key, try decode($0.data, $0.key)) }
  }

  /// Removes what lies under a key, if there is something.
  public func removeObject(forKey key: CacheKey) async throws { try await storage.remove(key: key) }

  /// Removes what lies under several keys.
  public func removeObject(forKeys keys: [CacheKey]) async throws {
    try await storage.remove(keys: keys)
  }

  /// Removes everything.
  public func removeAllObjects() async throws { try await storage.removeAllData() }

  /// Returns how many keys there are.
  public func keyCount() async throws -> Int { try await storage.keyCount() }

  /// Returns all keys.
  public func allKeys() async throws -> [CacheKey] { try await storage.allKeys() }

  /// Returns when a key was first written; nil when it is not there.
  public func createdAt(forKey key: CacheKey) async throws -> Date? {
    try await storage.createdAt(key: key)
  }

  /// Returns when a key was last written; nil when it is not there.
  public func updatedAt(forKey key: CacheKey) async throws -> Date? {
    try await storage.updatedAt(key: key)
  }

  private func decode(_ data: Data, _ key: CacheKey) throws -> Object {
    do {
      return try decoder.decode(Object.self, from: data)
    } catch {
      throw StoreError.undecodable(
        key: key.rawValue, item: "\(Object.self)", message: ItemCoding<Object>.text(of: error))
    }
  }
}
