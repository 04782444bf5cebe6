import Dispatch
import SharedFileCoordination

/// The line of this process's pending writes, first come, first served.
///
/// The writer thread takes from it; callers add to it from anywhere. A write stays in the line until its
/// turn has really come, so that it can still be cancelled or time out while the lease is waited for.
final class WriteGate: Sendable {
  private struct State {
    var line: [PendingWrite] = []
    var isClosed = false
    var timerIsSet = false
    /// Whether a write has been taken out and runs.
    var isServing = false
  }

  private let monitor = Monitor(State())
  private let path: String
  /// Wakes the writer thread while it waits for the lease.
  private let wakeLeaseWaiter: @Sendable () -> Void
  /// Describes who kept the line waiting.
  private let describeHolder: @Sendable (Duration) -> BoutiqueError

  init(
    path: String, wakeLeaseWaiter: @escaping @Sendable () -> Void,
    describeHolder: @escaping @Sendable (Duration) -> BoutiqueError
  ) {
    self.path = path
    self.wakeLeaseWaiter = wakeLeaseWaiter
    self.describeHolder = describeHolder
  }

  /// Adds a write at the end of the line.
  func submit(_ write: PendingWrite) {
    let (refused, setTimer) = monitor.updateOne { state in
      guard !state.isClosed else { return (true, false) }
      state.line.append(write)
      // The common write runs at once; only one that finds others before it needs the clock.
      let setTimer = (state.isServing || state.line.count > 1) && !state.timerIsSet
      if setTimer { state.timerIsSet = true }
      return (false, setTimer)
    }
    if refused { write.giveUp(BoutiqueError.closed(path: path)) }
    if setTimer { scheduleExpiry(after: write) }
  }

  /// Blocks the writer thread until a write waits, and returns it without taking it out.
  ///
  /// - Returns: nil when the gate is closed and empty.
  func waitForWork() -> PendingWrite? {
    monitor.wait { state -> PendingWrite?? in
      state.isServing = false
      Self.dropEnded(&state)
      if let first = state.line.first { return .some(first) }
      return state.isClosed ? .some(nil) : nil
    } ?? nil
  }

  /// Takes the next write whose caller still waits, and marks it as running.
  func take() -> PendingWrite? {
    monitor.withLock { state in
      while !state.line.isEmpty {
        let write = state.line.removeFirst()
        if write.begin() {
          state.isServing = true
          return write
        }
      }
      state.isServing = false
      return nil
    }
  }

  /// Whether somebody still waits.
  var hasWork: Bool {
    monitor.withLock { state in
      Self.dropEnded(&state)
      return !state.line.isEmpty
    }
  }

  /// Lets the writer thread see that a write has been cancelled.
  func reconsider() { wakeLeaseWaiter() }

  /// Refuses new writes; those in the line still run.
  func close() { monitor.update { $0.isClosed = true } }

  /// Refuses new writes and ends those in the line.
  func close(failing error: any Error) {
    let line = monitor.update { state in
      state.isClosed = true
      defer { state.line = [] }
      return state.line
    }
    for write in line { write.giveUp(error) }
    wakeLeaseWaiter()
  }

  private static func dropEnded(_ state: inout State) {
    while let first = state.line.first, !first.isQueued { state.line.removeFirst() }
  }

  // MARK: Time-outs

  // While the lease is waited for, the lease keeps the time. This is for writes that stand behind a long
  // transaction of their own process.
  private func scheduleExpiry(after write: PendingWrite) {
    let wait = max(Duration.zero, MonotonicTime.now().duration(to: write.deadline))
    let nanoseconds = min(wait.nanosecondsClamped, 1 << 60)
    DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) {
      [weak self] in self?.expire()
    }
  }

  private func expire() {
    let now = MonotonicTime.now()
    let (late, next) = monitor.withLock { state -> ([PendingWrite], PendingWrite?) in
      let waiting = state.line.filter(\.isQueued)
      let late = waiting.filter { $0.deadline <= now }
      let next = waiting.filter { $0.deadline > now }.min { $0.deadline < $1.deadline }
      state.timerIsSet = next != nil
      return (late, next)
    }
    if let next { scheduleExpiry(after: next) }
    for write in late { write.giveUp(describeHolder(write.enqueued.duration(to: now))) }
    if !late.isEmpty { wakeLeaseWaiter() }
  }
}
