import Dispatch
import SharedFileCoordination
import Synchronization

/// The line of this process's pending writes: first come, first served, background writes behind
/// (`WriteLine`).
///
/// The writer thread takes from it; callers add to it from anywhere. A write stays in the line until its
/// turn has really come, so that it can still be cancelled or time out while the lease is waited for.
final class WriteGate: Sendable {
  private struct State {
    var line = WriteLine<PendingWrite>()
    var isClosed = false
    /// When the line is looked through for writes that have waited too long; nil: not at all.
    var timerDue: MonotonicTime?
    /// Whether a write has been taken out and runs.
    var isServing = false
    /// Whether the writer thread wants the lease for a background write, and has said so to others.
    var isYielding = false
    /// Whether the writer thread has its turn and has done with a write.
    var isReady = false
  }

  /// What the head of the line is to somebody who has a transaction open.
  enum Joining {
    case nobody
    /// Only a background write, which must not keep others waiting.
    case yields
    case write(PendingWrite)
  }

  private let monitor = Monitor(State())
  /// How many writes have come, for the writer thread while it looks for one without the lock.
  private let arrivals = Atomic(0)
  /// A caller's look for the end of its write.
  ///
  /// Half as long again as a write of some rows and its commit take, and about what it costs to suspend the
  /// caller's task and to resume it (docs/writing.md).
  private let callersWait = BriefWait(atMost: .microseconds(40))
  /// The writer thread's look for the next write.
  private let writersWait = BriefWait(atMost: .microseconds(20))
  private let path: String
  private let aging: Duration
  /// Wakes the writer thread while it waits for the lease.
  private let wakeLeaseWaiter: @Sendable () -> Void
  /// Describes who kept the line waiting.
  private let describeHolder: @Sendable (Duration) -> BoutiqueError

  init(
    path: String, aging: Duration, wakeLeaseWaiter: @escaping @Sendable () -> Void,
    describeHolder: @escaping @Sendable (Duration) -> BoutiqueError
  ) {
    self.path = path
    self.aging = aging
    self.wakeLeaseWaiter = wakeLeaseWaiter
    self.describeHolder = describeHolder
  }

  /// Adds a write at the end of the line.
  ///
  /// Where it is the only one and the writer thread has its turn, so that it is likely to be done in a moment,
  /// the calling thread looks for its end for at most some tens of microseconds, if that has paid before
  /// (`BriefWait`).
  ///
  /// - Parameter isOver: whether its caller has been resumed.
  func submit(_ write: PendingWrite, thenWaiting isOver: () -> Bool = { true }) {
    let rank =
      write.priority == .normal ? write.enqueued : write.enqueued.advanced(by: aging)
    let (refused, timer, hurry, runsAtOnce) = monitor.updateOne {
      state -> (Bool, MonotonicTime?, Bool, Bool) in
      guard !state.isClosed else { return (true, nil, false, false) }
      state.line.append(write, write.priority, rank: rank)
      arrivals.wrappingAdd(1, ordering: .releasing)
      // The common write runs at once; only one that finds others before it needs the clock.
      var timer: MonotonicTime?
      if state.isServing || state.line.count > 1 {
        let due =
          state.timerDue == nil ? state.line.all.map(\.deadline).min() : write.deadline
        if let due, state.timerDue.map({ due < $0 }) ?? true {
          state.timerDue = due
          timer = due
        }
      }
      let hurry = state.isYielding && write.priority == .normal
      if hurry { state.isYielding = false }
      return (false, timer, hurry, state.isReady && state.line.count == 1)
    }
    if refused { write.giveUp(BoutiqueError.closed(path: path)) }
    if let timer { scheduleExpiry(at: timer) }
    // The lease is waited for with less right than this write has.
    if hurry { wakeLeaseWaiter() }
    if runsAtOnce, write.priority == .normal { _ = callersWait.wait(until: isOver) }
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

  /// Says that the next write would run at once: the writer thread has its turn among processes and has done
  /// with one write; or that it would not.
  func noteReady(_ isReady: Bool) { monitor.withLock { $0.isReady = isReady } }

  /// Lets the writer thread look for the next write for some microseconds, without sleeping, if that has paid
  /// before.
  ///
  /// Call when the line was empty.
  ///
  /// - Returns: whether one has come.
  func lookForWork() -> Bool {
    let known = arrivals.load(ordering: .relaxed)
    return hasWork || writersWait.wait { arrivals.load(ordering: .acquiring) != known }
  }

  /// Blocks the writer thread for a moment, in case a write comes; it is not taken out.
  ///
  /// - Returns: whether one waits.
  func waitForWork(atMost span: Duration) -> Bool {
    monitor.wait(until: .now().advanced(by: span)) { state -> Bool? in
      Self.dropEnded(&state)
      if !state.line.isEmpty { return true }
      return state.isClosed ? false : nil
    } ?? false
  }

  /// For how long the first in line lets others go first; nil when it does not.
  ///
  /// For the lease, which asks again whenever it is woken.
  func yieldingSpan() -> Duration? {
    monitor.withLock { state in
      Self.dropEnded(&state)
      let now = MonotonicTime.now()
      guard let until = state.line.firstYieldsUntil, until > now else {
        state.isYielding = false
        return nil
      }
      state.isYielding = true
      return now.duration(to: until)
    }
  }

  /// Takes the next write whose caller still waits, and marks it as running.
  func take() -> PendingWrite? {
    monitor.withLock { state in
      state.isYielding = false
      while let write = state.line.removeFirst() {
        if write.begin() {
          state.isServing = true
          state.isReady = false
          return write
        }
      }
      state.isServing = false
      return nil
    }
  }

  /// Takes the next write if it may run in a transaction that others have begun.
  ///
  /// - Parameter evenYielding: whether a background write may, too.
  func takeToJoin(evenYielding: Bool) -> Joining {
    monitor.withLock { state in
      while let first = state.line.first {
        if first.isQueued {
          guard first.mayJoin else { return .nobody }
          guard evenYielding || state.line.firstYieldsUntil == nil else { return .yields }
        }
        _ = state.line.removeFirst()
        if first.begin() { return .write(first) }
      }
      return .nobody
    }
  }

  /// Whether the next write is one that lets others go first.
  var nextYields: Bool {
    monitor.withLock { state in
      Self.dropEnded(&state)
      guard let until = state.line.firstYieldsUntil else { return false }
      return until > .now()
    }
  }

  /// Whether somebody still waits.
  var hasWork: Bool {
    monitor.withLock { state in
      Self.dropEnded(&state)
      return !state.line.isEmpty
    }
  }

  /// How many writes wait.
  var waitingCount: Int { monitor.withLock { $0.line.all.count(where: \.isQueued) } }

  /// Lets the writer thread see that a write has been cancelled.
  func reconsider() { wakeLeaseWaiter() }

  /// Refuses new writes; those in the line still run.
  func close() { monitor.update { $0.isClosed = true } }

  /// Refuses new writes and ends those in the line.
  func close(failing error: any Error) {
    let line = monitor.update { state in
      state.isClosed = true
      defer { state.line.removeAll() }
      return state.line.all
    }
    for write in line { write.giveUp(error) }
    wakeLeaseWaiter()
  }

  private static func dropEnded(_ state: inout State) {
    while let first = state.line.first, !first.isQueued { _ = state.line.removeFirst() }
  }

  // MARK: Time-outs

  // While the lease is waited for, the lease keeps the time. This is for writes that stand behind a long
  // transaction of their own process.
  private func scheduleExpiry(at due: MonotonicTime) {
    let wait = max(Duration.zero, MonotonicTime.now().duration(to: due))
    let nanoseconds = min(wait.nanosecondsClamped, 1 << 60)
    DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) {
      [weak self] in self?.expire()
    }
  }

  private func expire() {
    let now = MonotonicTime.now()
    let (late, next) = monitor.withLock { state -> ([PendingWrite], MonotonicTime?) in
      let waiting = state.line.all.filter(\.isQueued)
      let late = waiting.filter { $0.deadline <= now }
      // An earlier timer was set meanwhile: it looks after the rest.
      if let due = state.timerDue, due > now { return (late, nil) }
      state.timerDue = waiting.lazy.map(\.deadline).filter { $0 > now }.min()
      return (late, state.timerDue)
    }
    if let next { scheduleExpiry(at: next) }
    for write in late { write.giveUp(describeHolder(write.enqueued.duration(to: now))) }
    if !late.isEmpty { wakeLeaseWaiter() }
  }
}
