import Synchronization

/// How long the last reads of one kind took, and with it whether the next may run in place.
///
/// A closure can be short a hundred times and then long, and nobody can move it once it runs. So a kind has to
/// prove itself first, loses the right with the first long one, and has to show the more the sooner it was long
/// again.
package final class ReadPace: Sendable {
  /// A read that takes no longer than this is short.
  ///
  /// A task that waits for a thread of its own waits some tens of microseconds, and the pool's threads are
  /// there for computations of this length anyway.
  package static let short: Int64 = 200_000
  /// How many short ones in a row the first proof takes, and the longest.
  static let leastProof: UInt64 = 4
  private static let mostProof: UInt64 = 1024
  /// A long one within so many of the last makes the next proof longer.
  private static let memory: UInt64 = 256

  /// In the upper half how many short ones are still missing or, with the highest bit, for how many the kind
  /// has been trusted; in the lower half how many the last proof took.
  private let word = Atomic<UInt64>(leastProof << 32 | leastProof)
  private static let trusted: UInt64 = 1 << 63

  /// Begins without a proof.
  package init() {}

  /// Whether the next one is expected to be short.
  package var isShort: Bool { word.load(ordering: .relaxed) & Self.trusted != 0 }

  /// Notes how long one took.
  ///
  /// Two that end at once may lose one note, which does not matter.
  package func note(nanoseconds: Int64) {
    let now = word.load(ordering: .relaxed)
    let proof = now & 0xffff_ffff
    let isTrusted = now & Self.trusted != 0
    let count = (now & ~Self.trusted) >> 32
    let next: UInt64
    if nanoseconds > Self.short {
      let longer =
        isTrusted && count >= Self.memory
        ? Self.leastProof : isTrusted ? min(proof * 2, Self.mostProof) : proof
      next = longer << 32 | longer
    } else if isTrusted {
      guard count < Self.memory else { return }
      next = Self.trusted | (count + 1) << 32 | proof
    } else {
      next = count > 1 ? (count - 1) << 32 | proof : Self.trusted | proof
    }
    word.store(next, ordering: .relaxed)
  }
}

/// The paces of the reads of one database, told apart by what they return.
///
/// That is all that can be known of a closure for certain. Kinds that share a place share a pace.
struct ReadPaces: Sendable {
  private let paces: [ReadPace]

  init() { paces = (0..<64).map { _ in ReadPace() } }

  subscript(type: Any.Type) -> ReadPace {
    // Addresses of types are multiples of eight.
    let hash = UInt(bitPattern: ObjectIdentifier(type)) >> 3 &* 0x9e37_79b9_7f4a_7c15
    return paces[Int(truncatingIfNeeded: hash >> 58)]
  }
}
