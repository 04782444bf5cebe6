import SQLiteConnection
import Synchronization

/// Whether the task that asked for a read or a write has been cancelled or its time is over, and whom to
/// interrupt then.
final class CancellationFlag: Sendable {
  private struct Running {
    var interruption: Interruption?
    var since: MonotonicTime?
  }

  /// Set with the lock of `running` held; read without it, from SQLite's handlers.
  private let flag = Atomic(false)
  private let running = Mutex(Running())
  /// The time that the work has as a whole, its wait included.
  let allowance: Allowance?

  init(allowance: Allowance? = nil) { self.allowance = allowance }

  var isCancelled: Bool { flag.load(ordering: .acquiring) }

  /// Whether the work is to end now, for either reason.
  var mustStop: Bool { isCancelled || isLate }

  private var isLate: Bool { allowance.map { $0.deadline <= .now() } ?? false }

  /// What the work ends with if it must; nil when it may go on.
  var stop: (any Error)? {
    if isCancelled { return CancellationError() }
    guard let allowance, isLate else { return nil }
    let now = MonotonicTime.now()
    let began = running.withLock(\.since) ?? now
    return BoutiqueError.writeTimedOut(
      WriteTimeout(
        path: allowance.path, limit: allowance.limit,
        waited: allowance.start.duration(to: began), ran: began.duration(to: now)))
  }

  /// Marks the work as cancelled and interrupts the statement that is running for it.
  func cancel() {
    // Interrupted with the lock held: once `end` has returned, an interruption that was on its way could
    // only hit the next task's statement.
    running.withLock { running in
      flag.store(true, ordering: .releasing)
      _ = running.interruption?.interrupt()
    }
  }

  /// Says that statements run for this task from now on.
  ///
  /// - Parameter interruption: the connection's, unless its statements must not be cut short.
  /// - Returns: false when the task has been cancelled already.
  func begin(_ interruption: Interruption?) -> Bool {
    running.withLock { running in
      guard !isCancelled else { return false }
      running.interruption = interruption
      if allowance != nil { running.since = .now() }
      return true
    }
  }

  /// Says that no statement runs for this task any more.
  ///
  /// - Returns: false when the task has been cancelled meanwhile or its time is over. From a true on,
  ///   either comes too late and changes nothing.
  func end() -> Bool {
    running.withLock { running in
      running.interruption = nil
      return !mustStop
    }
  }
}

/// How much time a piece of work has, from being asked for to the beginning of its commit.
struct Allowance: Sendable {
  var path: String
  var start: MonotonicTime
  var limit: Duration
  var deadline: MonotonicTime { start.advanced(by: limit) }
}
