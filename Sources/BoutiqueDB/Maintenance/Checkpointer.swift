import FaultPoints
import SQLiteConnection
import Synchronization

/// Moves the write-ahead log's pages into the database, in turns of the writer thread.
///
/// Automatic checkpoints are off on every connection, so that none ever runs outside the write lease.
/// Passive ones as the log grows; a truncating one when the log is larger than its bound and no reader
/// needs it. A checkpoint that fails (full disk) is reported in `status()` and tried again later: the
/// commits are safe in the log.
final class Checkpointer: Sendable {
  /// SQLite's own default for automatic checkpoints.
  private static let passiveInterval: UInt32 = 1000
  /// How soon a log past its bound is tried again after a reader was in the way.
  private static let retryInterval = Duration.milliseconds(250)

  private let bound: Int64
  private let state = Mutex(State())

  private struct State {
    var lastFrame: UInt32 = 0
    /// When a log that is too large may be tried again; nil when the last try was not kept from its end.
    var retry: MonotonicTime?
    var lastError: String?
  }

  init(bound: Int64) { self.bound = bound }

  /// What the last failed checkpoint said, until one succeeds.
  var lastError: String? { state.withLock(\.lastError) }

  /// Checkpoints when enough has been written since the last time.
  ///
  /// Call under the lease, outside a transaction.
  ///
  /// - Parameter isLogWhole: asked before anything is copied.
  func runIfDue(on sqlite: Connection, limits: StatementLimits, isLogWhole: () -> Bool) {
    guard let header = sqlite.walIndexHeader(), header.maxFrame > 0 else { return }
    let isDue = state.withLock { state in
      // The log started again from its beginning.
      if header.maxFrame < state.lastFrame { state.lastFrame = 0 }
      let isRetry = state.retry.map { $0 <= .now() } ?? false
      guard isRetry || header.maxFrame - state.lastFrame >= Self.passiveInterval else {
        return false
      }
      state.lastFrame = header.maxFrame
      return true
    }
    guard isDue, isLogWhole() else { return }
    let size = Int64(header.maxFrame) * (Int64(header.pageSize) + 24)
    // A truncating checkpoint waits for readers, and others meanwhile wait for the lease. While the log is
    // not much too large it does not wait. Where readers overlap all the time it would then never come to
    // its end, so the larger the log the longer it waits.
    limits.wait = size > 16 * bound ? .seconds(1) : size > 4 * bound ? .milliseconds(100) : .zero
    FaultPoint.reach(.beforeCheckpoint)
    do {
      let result = try sqlite.checkpoint(size > bound ? .truncate : .passive)
      FaultPoint.reach(.afterCheckpoint)
      state.withLock { state in
        state.lastError = nil
        // The reader that was in the way may end at any moment, and then a few commits must do.
        let isTooLarge = size > bound && (result.busy || result.walFrames > 0)
        state.retry = isTooLarge ? .now().advanced(by: Self.retryInterval) : nil
      }
    } catch {
      state.withLock { $0.lastError = error.description }
    }
  }
}
