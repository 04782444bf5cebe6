import SQLiteConnection
import Synchronization

/// Whether the task that asked for a read or a write has been cancelled, and whom to interrupt then.
final class CancellationFlag: Sendable {
  private struct State {
    var isCancelled = false
    var running: Interruption?
  }

  private let state = Mutex(State())

  var isCancelled: Bool { state.withLock(\.isCancelled) }

  /// Marks the work as cancelled and interrupts the statement that is running for it.
  func cancel() {
    // Interrupted with the lock held: once `end` has returned, an interruption that was on its way could
    // only hit the next task's statement.
    state.withLock { state in
      state.isCancelled = true
      state.running?.interrupt()
    }
  }

  /// Says that statements of `connection` run for this task from now on.
  ///
  /// - Returns: false when the task has been cancelled already.
  func begin(_ interruption: Interruption) -> Bool {
    state.withLock { state in
      guard !state.isCancelled else { return false }
      state.running = interruption
      return true
    }
  }

  /// Says that no statement runs for this task any more.
  ///
  /// - Returns: false when the task has been cancelled meanwhile. From a true on, a cancellation comes
  ///   too late and changes nothing.
  func end() -> Bool {
    state.withLock { state in
      state.running = nil
      return !state.isCancelled
    }
  }
}
