import Synchronization

/// A value that a live query has read, and what is known of how it came from the one before.
struct Reading<Value: Sendable>: Sendable {
  var value: Value
  /// The kept result whose state it is; nil for a value that stands alone.
  var version: KeptVersion?
  /// The change from the version before, where it is known.
  var change: KeptChange?
  /// The row ids of a list, where somebody wants to tell rows apart.
  var rowIDs: [Int64]?

  init(_ value: Value) { self.value = value }

  func map<Other: Sendable>(_ transform: (Value) -> Other) -> Reading<Other> {
    var other = Reading<Other>(transform(value))
    other.version = version
    other.change = change
    other.rowIDs = rowIDs
    return other
  }
}

/// Names a state of a kept result.
struct KeptVersion: Hashable, Sendable {
  /// Of the result.
  let serial: Int64
  /// Grows with each change that can be seen.
  var number = 0

  func follows(_ other: KeptVersion) -> Bool {
    serial == other.serial && number == other.number + 1
  }

  /// Returns a number that no other result has.
  static func nextSerial() -> Int64 { serials.add(1, ordering: .relaxed).newValue }
}

private let serials = Atomic<Int64>(0)

/// What changed between two versions of a kept result.
struct KeptChange: Sendable {
  /// Whether the values differ for certain; else they have to be compared.
  var differs: Bool
  /// The positions; nil where they have to be found by row ids.
  var positions: ListPositions?
}
