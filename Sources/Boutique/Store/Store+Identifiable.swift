public import Foundation

// An item that says itself what tells it from others needs no identifier named.

extension Store where Item: Identifiable, Item.ID == String {
  /// Creates a store of items with an `id`, and begins to load them.
  public convenience init(storage: any StorageEngine) {
    self.init(source: Self.source(storage)) { $0.id }
  }

  /// Creates a store of items with an `id`, and returns when they are there.
  public convenience init(storage: any StorageEngine) async throws {
    self.init(source: Self.source(storage)) { $0.id }
    try await itemsHaveLoaded()
  }
}

extension Store where Item: Identifiable, Item.ID == UUID {
  /// Creates a store of items with an `id`, and begins to load them.
  public convenience init(storage: any StorageEngine) {
    self.init(source: Self.source(storage)) { $0.id.uuidString }
  }

  /// Creates a store of items with an `id`, and returns when they are there.
  public convenience init(storage: any StorageEngine) async throws {
    self.init(source: Self.source(storage)) { $0.id.uuidString }
    try await itemsHaveLoaded()
  }
}

extension Store where Item: Identifiable, Item.ID: FixedWidthInteger {
  /// Creates a store of items with an `id`, and begins to load them.
  public convenience init(storage: any StorageEngine) {
    self.init(source: Self.source(storage)) { String($0.id) }
  }

  /// Creates a store of items with an `id`, and returns when they are there.
  public convenience init(storage: any StorageEngine) async throws {
    self.init(source: Self.source(storage)) { String($0.id) }
    try await itemsHaveLoaded()
  }
}

extension Store where Item: Identifiable, Item.ID: RawRepresentable, Item.ID.RawValue == String {
  /// Creates a store of items with an `id`, and begins to load them.
  public convenience init(storage: any StorageEngine) {
    self.init(source: Self.source(storage)) { $0.id.rawValue }
  }

  /// Creates a store of items with an `id`, and returns when they are there.
  public convenience init(storage: any StorageEngine) async throws {
    self.init(source: Self.source(storage)) { $0.id.rawValue }
    try await itemsHaveLoaded()
  }
}
