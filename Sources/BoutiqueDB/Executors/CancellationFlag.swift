import SQLiteConnection
import Synchronization

/// Whether the task that asked for a read or a write has been cancelled, and whom to interrupt then.
final class CancellationFlag: Sendable {
  /// Set with the lock of `running` held; read without it, from SQLite's handlers.
  private let flag = Atomic(false)
  private let running = Mutex<Interruption?>(nil)

  var isCancelled: Bool { flag.load(ordering: .acquiring) }

  /// Marks the work as cancelled and interrupts the statement that is running for it.
  func cancel() {
    // Interrupted with the lock held: once `end` has returned, an interruption that was on its way could
    // only hit the next task's statement.
    running.withLock { running in
      flag.store(true, ordering: .releasing)
      _ = running?.interrupt()
    }
  }

  /// Says that statements of `connection` run for this task from now on.
  ///
  /// - Returns: false when the task has been cancelled already.
  func begin(_ interruption: Interruption) -> Bool {
    running.withLock { running in
      guard !isCancelled else { return false }
      running = interruption
      return true
    }
  }

  /// Says that no statement runs for this task any more.
  ///
  /// - Returns: false when the task has been cancelled meanwhile. From a true on, a cancellation comes
  ///   too late and changes nothing.
  func end() -> Bool {
    running.withLock { running in
      running = nil
      return !isCancelled
    }
  }
}
