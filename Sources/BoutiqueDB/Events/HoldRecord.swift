import Dispatch
import Glibc
import SharedFileCoordination

/// What the writer thread of one open database is at, and since when; tells the event handler when
/// somebody has held the write lease for too long.
///
/// The writer thread cannot tell by itself: it is inside the closure that does not end, or waits. So it
/// only notes what it begins, and one queue of the process looks at the notes of all databases. A look is
/// due `longHoldWarning` after the first note; while it finds something under way it arranges for the next
/// one, and the first that finds nothing is the last. So the notes cost next to nothing, and an idle
/// database has no timer.
///
/// Rules: the handler is called with no lock held, one call at a time, and never after `close` has returned.
final class HoldRecord: Sendable {
  /// What the writer thread does.
  enum Phase: Sendable {
    case idle
    /// For the lease.
    case waiting
    /// For SQLite's own lock, with the lease in hand.
    case starting
    /// A transaction, or work outside one.
    case running(purpose: String)
  }

  private struct State {
    var phase = Phase.idle
    var since = MonotonicTime(nanoseconds: 0)
    var isArmed = false
    var isClosed = false
    var isTelling = false
    /// The hold that was told of last, and from which span on it is told of again.
    var told: Hold?
    var threshold: Int64 = 0
  }

  /// What tells one hold from another.
  private struct Hold: Equatable {
    var pid: Int32?
    var since: UInt64
  }

  /// One for all databases: looks take microseconds, and handlers are to return soon.
  private static let queue = DispatchQueue(label: "boutique.holds")

  private let monitor = Monitor(State())
  private let path: String
  private let label: String
  private let warning: Int64
  private let coordination: CoordinationFile?
  private let handler: (@Sendable (BoutiqueEvent) -> Void)?

  init(path: String, configuration: BoutiqueConfiguration, coordination: CoordinationFile?) {
    self.path = path
    label = configuration.label
    warning = max(1, configuration.longHoldWarning.nanosecondsClamped)
    handler = configuration.eventHandler
    self.coordination = coordination
  }

  /// Notes that something begins.
  ///
  /// - Returns: when.
  @discardableResult
  func begin(_ phase: Phase) -> MonotonicTime {
    let now = MonotonicTime.now()
    guard handler != nil else { return now }
    let arm = monitor.withLock { state in
      state.phase = phase
      state.since = now
      defer { state.isArmed = true }
      return !state.isArmed && !state.isClosed
    }
    if arm { look(in: warning) }
    return now
  }

  /// Notes that nothing is held or waited for any more.
  func end() {
    guard handler != nil else { return }
    monitor.withLock { $0.phase = .idle }
  }

  /// Ends the telling; waits for a call of the handler that is under way.
  func close() {
    guard handler != nil else { return }
    monitor.withLock { $0.isClosed = true }
    _ = monitor.wait { state -> Bool? in state.isTelling ? nil : true }
  }

  // MARK: Looking

  private func look(in nanoseconds: Int64) {
    let wait = Int(clamping: min(max(nanoseconds, 1_000_000), 1 << 60))
    Self.queue.asyncAfter(deadline: .now() + .nanoseconds(wait)) { [weak self] in self?.look() }
  }

  private func look() {
    let (phase, since) = monitor.withLock { state -> (Phase, MonotonicTime) in
      if case .idle = state.phase { state.isArmed = false }
      if state.isClosed { state.isArmed = false }
      return (state.isArmed ? state.phase : .idle, state.since)
    }
    let elapsed = MonotonicTime.now().nanoseconds - since.nanoseconds
    switch phase {
    case .idle:
      return
    case .running(let purpose):
      let hold = Hold(pid: getpid(), since: UInt64(bitPattern: since.nanoseconds))
      judge(hold, heldFor: elapsed, since: since) {
        BoutiqueEvent.LongHold(
          path: path, pid: getpid(), label: label, isThisProcess: true, purpose: purpose,
          heldFor: .nanoseconds(elapsed), isStopped: false)
      }
    case .starting:
      let hold = Hold(pid: nil, since: UInt64(bitPattern: since.nanoseconds))
      judge(hold, heldFor: elapsed, since: since) {
        let holder = LockTimeout(foreignHolderOf: path, waited: .nanoseconds(elapsed)).holder
        return BoutiqueEvent.LongHold(
          path: path, pid: holder?.pid, label: nil, isThisProcess: false, purpose: holder?.command,
          heldFor: .nanoseconds(elapsed), isStopped: holder?.isStopped ?? false)
      }
    case .waiting:
      lookAtHolder(waiting: elapsed, since: since)
    }
  }

  /// Looks at who keeps this process waiting.
  private func lookAtHolder(waiting elapsed: Int64, since: MonotonicTime) {
    guard let coordination,
      let holder = coordination.report(includesKernelLocks: false).holder
    else {
      look(in: warning)
      return
    }
    let heldFor = holder.heldFor?.nanosecondsClamped ?? elapsed
    let hold = Hold(pid: holder.process?.pid, since: holder.since?.nanoseconds ?? 0)
    judge(hold, heldFor: heldFor, since: since) {
      BoutiqueEvent.LongHold(
        path: path, pid: holder.process?.pid, label: holder.process?.label,
        isThisProcess: holder.slot != nil && holder.slot == coordination.slotNumber,
        purpose: holder.purpose, heldFor: .nanoseconds(heldFor),
        isStopped: holder.process?.state == .stopped)
    }
  }

  /// Tells of a hold if it is time to, and arranges for the next look.
  ///
  /// - Parameter since: what was seen; it counts only if it still goes on.
  private func judge(
    _ hold: Hold, heldFor: Int64, since: MonotonicTime, _ event: () -> BoutiqueEvent.LongHold
  ) {
    let (isDue, next) = monitor.withLock { state -> (Bool, Int64) in
      guard state.since == since, !state.isClosed else { return (false, warning) }
      if case .idle = state.phase { return (false, warning) }
      if state.told != hold {
        state.told = hold
        state.threshold = warning
      }
      guard heldFor >= state.threshold else { return (false, state.threshold - heldFor) }
      while state.threshold <= heldFor {
        state.threshold = state.threshold.saturatingAdd(state.threshold)
      }
      state.isTelling = true
      return (true, state.threshold - heldFor)
    }
    if isDue {
      handler?(.longHold(event()))
      monitor.update { $0.isTelling = false }
    }
    // Not later, since another hold may begin meanwhile.
    look(in: min(next, warning))
  }
}
