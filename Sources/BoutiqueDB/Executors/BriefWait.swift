import SharedFileCoordination
import Synchronization

/// A look for something that is about to happen on another processor, before a thread gives itself up.
///
/// To sleep and to be woken costs a thread, and the one that wakes it, more than most one-row writes take. So
/// whoever waits for one looks for it a moment first, never longer than about what sleeping costs: at worst
/// that is doubled, and only as often as it pays. What happened the last times decides: after a wait in vain
/// twice as many chances as before are let go by. On one processor there is nothing to wait for.
package final class BriefWait: Sendable {
  private static let most = 1024
  private let span: Int64
  // Several threads may read and write both; what gets lost by that is a chance more or less.
  private let misses = Atomic(0)
  private let skips = Atomic(0)

  /// Whether two threads can run at the same time at all.
  package let isOfUse = Processor.count > 1

  /// Makes one that nothing is known of yet.
  ///
  /// - Parameter span: how long a wait is at most.
  package init(atMost span: Duration) { self.span = span.nanosecondsClamped }

  /// Waits, if it is likely to pay, until something has happened.
  ///
  /// - Returns: whether it has; also false when it does not pay to wait.
  package func wait(until hasHappened: () -> Bool) -> Bool {
    guard isOfUse else { return false }
    let left = skips.load(ordering: .relaxed)
    guard left <= 0 else {
      skips.store(left - 1, ordering: .relaxed)
      return false
    }
    let start = MonotonicTime.now().nanoseconds
    repeat {
      for _ in 0..<16 {
        if hasHappened() {
          misses.store(0, ordering: .relaxed)
          return true
        }
        Processor.relax()
      }
    } while MonotonicTime.now().nanoseconds - start < span
    let missed = min(misses.load(ordering: .relaxed) + 1, 10)
    misses.store(missed, ordering: .relaxed)
    skips.store(min(Self.most, 1 << missed), ordering: .relaxed)
    return false
  }
}
