public import BoutiqueDB
public import Foundation

/// An engine that can say what has changed in it, whoever changed it.
///
/// A ``Store`` on such an engine follows what other processes, and other stores of its own process, write.
public protocol SharedStorageEngine: StorageEngine {
  /// Returns what has changed since a position, as of one moment, and that moment's position.
  ///
  /// With nil, and where the changes cannot be told any more, it returns everything that is there
  /// (``StorageChanges/isEverything``). What is returned by a later call is never of an earlier moment; and
  /// all that was written before the call is in it.
  func changes(since position: StoragePosition?) async throws -> StorageChanges

  /// Returns a sequence that yields when something may have changed.
  ///
  /// It yields once as soon as it watches: what is changed after that yields again, once or for several
  /// changes together. An element is the position that the change led to, or nil where that is not known. When
  /// watching fails the sequence throws, and may be asked for again.
  nonisolated func news() -> AsyncThrowingStream<StoragePosition?, any Error>
}

/// A moment in an engine's history.
public struct StoragePosition: Sendable, Hashable {
  /// Which history: positions of two histories cannot be compared.
  public let history: String
  /// The place in the history's order.
  public let number: Int64
  /// What the engine wants to remember besides; not compared.
  public let note: String

  /// Creates a position.
  public init(history: String, number: Int64, note: String = "") {
    self.history = history
    self.number = number
    self.note = note
  }

  /// Whether both are one moment of one history.
  public static func == (a: StoragePosition, b: StoragePosition) -> Bool {
    a.number == b.number && a.history == b.history
  }

  /// Feeds what ``==(_:_:)`` compares into the hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(history)
    hasher.combine(number)
  }

  /// Whether this moment is `other` or comes after it, for all that can be told.
  public func covers(_ other: StoragePosition) -> Bool {
    history == other.history && number >= other.number
  }
}

/// One thing in an engine, and its place in the order of all.
public struct StorageEntry: Sendable {
  /// Its place.
  ///
  /// Things are ordered by it. It stays the same for as long as the key is there.
  public var place: Int64
  /// Its key.
  public var key: CacheKey
  /// What lies under it.
  public var data: Data
  /// Who wrote it last; nil where the engine does not say it one by one.
  public var origin: ChangeOrigin?

  /// Creates a description of something.
  public init(place: Int64, key: CacheKey, data: Data, origin: ChangeOrigin? = nil) {
    self.place = place
    self.key = key
    self.data = data
    self.origin = origin
  }
}

/// What has changed in an engine.
public struct StorageChanges: Sendable {
  /// The moment of which this is.
  public var position: StoragePosition
  /// Whether ``entries`` are all that is there, so that what is not among them is gone.
  public var isEverything: Bool
  /// What was written, as it is at that moment, in the order of places.
  public var entries: [StorageEntry]
  /// The places at which there is nothing any more, and who removed it; empty when ``isEverything``.
  public var gone: [Int64: ChangeOrigin?]
  /// Who made the changes, where it is not said one by one; nil where it is not known.
  public var origin: ChangeOrigin?

  /// Creates a description of changes.
  public init(
    position: StoragePosition, isEverything: Bool, entries: [StorageEntry],
    gone: [Int64: ChangeOrigin?] = [:], origin: ChangeOrigin? = nil
  ) {
    self.position = position
    self.isEverything = isEverything
    self.entries = entries
    self.gone = gone
    self.origin = origin
  }
}
