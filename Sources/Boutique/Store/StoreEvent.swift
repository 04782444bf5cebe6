import BoutiqueDB

/// Something that has happened to a store.
public struct StoreEvent<Item: StorableItem>: Sendable {
  /// What kind of thing.
  public enum Operation: String, Sendable, Hashable, Codable {
    /// The store was made; its items are not there yet.
    case initialized
    /// ``StoreEvent/items`` are all that the store has: it was loaded, or the reader of the events was so far
    /// behind that this stands for what it has missed.
    case loaded
    /// Items were inserted, or replaced others with the same identifier.
    case insert
    /// Items were removed.
    case remove
  }

  /// What happened.
  public let operation: Operation
  /// The items that it happened to.
  public let items: [Item]
  /// Who did it.
  public let origin: StoreEventOrigin

  /// Whether another process did it.
  public var isExternal: Bool { origin.isExternal }

  /// Creates an event.
  public init(operation: Operation, items: [Item], origin: StoreEventOrigin = .thisStore) {
    self.operation = operation
    self.items = items
    self.origin = origin
  }
}

extension StoreEvent: Equatable where Item: Equatable {}

/// Who changed a store.
public enum StoreEventOrigin: Sendable, Hashable {
  /// The store itself.
  case thisStore
  /// This process by another way: another store, or a write to the database.
  case thisProcess
  /// Another process that uses this library.
  case process(pid: Int32, label: String)
  /// A program that does not use this library.
  case foreign
  /// Somebody, of several who changed so much at once that it is not told one by one.
  case unknown

  /// Whether it is not this process.
  public var isExternal: Bool { self != .thisStore && self != .thisProcess }

  init(_ origin: ChangeOrigin?) {
    switch origin {
    case .thisProcess: self = .thisProcess
    case .process(let pid, let label): self = .process(pid: pid, label: label)
    case .foreign: self = .foreign
    case nil: self = .unknown
    }
  }
}
