import SharedFileCoordination

/// What is looked up once for many writes of one turn, since it takes system calls.
///
/// Whether the files are still the ones that were opened, and the continuity. A write looks them up when its
/// turn has just begun or the last look is a millisecond old. That is as safe as looking before each write:
/// between a look and the end of a commit there is always time in which somebody can move a file, and a
/// millisecond is of that order. The continuity cannot change while a process that is settled is attached
/// and has the lease (`Continuity.swift`).
///
/// Confined to the writer thread.
final class TurnFacts {
  private static let span: Int64 = 1_000_000

  private let readContinuity: () -> Int64?
  private let readBridge: () -> ContinuityBridge?
  private var knownContinuity: Int64??
  private var knownBridge: ContinuityBridge??
  private var lookedAt: MonotonicTime?

  init(continuity: @escaping () -> Int64?, bridge: @escaping () -> ContinuityBridge? = { nil }) {
    readContinuity = continuity
    readBridge = bridge
  }

  /// The continuity at the last look.
  var continuity: Int64? {
    if let knownContinuity { return knownContinuity }
    let read = readContinuity()
    knownContinuity = .some(read)
    return read
  }

  /// What it goes on from, at the last look; it changes only with it.
  var bridge: ContinuityBridge? {
    if let knownBridge { return knownBridge }
    let read = readBridge()
    knownBridge = .some(read)
    return read
  }

  /// Forgets everything: a turn begins, or something has gone wrong.
  func forget() {
    lookedAt = nil
    knownContinuity = nil
    knownBridge = nil
  }

  /// Whether it is time to look.
  ///
  /// Call `didLook` when all was well.
  func mustLook(at now: MonotonicTime) -> Bool {
    guard let lookedAt, now.nanoseconds - lookedAt.nanoseconds < Self.span else {
      forget()
      return true
    }
    return false
  }

  func didLook(at now: MonotonicTime) { lookedAt = now }
}
