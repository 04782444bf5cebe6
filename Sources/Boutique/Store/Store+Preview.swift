public import Foundation

extension Store {
  /// Returns a store in memory that has these items at once, for tests and for trying things out.
  public static func previewStore(
    items: [Item], cacheIdentifier: any KeyPath<Item, String> & Sendable
  ) -> Store {
    preview(items) { $0[keyPath: cacheIdentifier] }
  }

  private static func preview(
    _ items: [Item], _ identifier: @escaping @Sendable (Item) -> String
  ) -> Store {
    let encoder = ItemCoding<Item>.encoder()
    var contents = StoreContents<Item>()
    var entries: [StorageEntry] = []
    var places: [CacheKey: Int64] = [:]
    for item in items {
      // An item that cannot be encoded is told by the loading, which finds nothing that can be read.
      let data = (try? encoder.encode(item)) ?? Data()
      let key = CacheKey(identifier(item))
      let place = places[key] ?? Int64(places.count + 1)
      places[key] = place
      entries.removeAll { $0.place == place }
      entries.append(StorageEntry(place: place, key: key, data: data))
      let entry = StoreContents<Item>.Entry(
        place: place, key: key, fingerprint: DataFingerprint(data))
      contents.apply(StorePatch(present: [.init(entry: entry, item: item)]))
    }
    return Store(
      source: source(MemoryStorageEngine(entries)), contents: contents, identifier: identifier)
  }
}

extension Store where Item: Identifiable, Item.ID == String {
  /// Returns a store in memory that has these items at once.
  public static func previewStore(items: [Item]) -> Store { preview(items) { $0.id } }
}

extension Store where Item: Identifiable, Item.ID == UUID {
  /// Returns a store in memory that has these items at once.
  public static func previewStore(items: [Item]) -> Store { preview(items) { $0.id.uuidString } }
}
