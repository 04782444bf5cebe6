import Synchronization

/// Has foreign commits put into the change log by this process's writer thread.
///
/// A write transaction that changes nothing of its own: all that it does is what every one begins with
/// (`ForeignCapture.account`). Several processes may ask for it at once; the first finds something to do.
/// It stands in line behind other writes, any of which does the same, with a bound: somebody who cannot get it in time describes the
/// commits as everything. Precision is worth a short wait, not a long one.
final class ForeignAdopter: Sendable {
  private struct State {
    var isRunning = false
    /// Who waits for the attempt that runs.
    var waiting: [@Sendable (Bool) -> Void] = []
    /// Who came when it had begun, and waits for the next one: it may have seen a later commit.
    var next: [@Sendable (Bool) -> Void] = []
    var lastEnd: MonotonicTime?
  }

  /// How long to wait from one attempt to the next, so that foreign programs that write without a pause are
  /// not held up by an adoption for each of their commits.
  private static let pause = Duration.milliseconds(5)

  private let gate: WriteGate
  private let path: String
  /// How long the commits of foreign programs stay undescribed at most.
  private let bound: Duration
  private let state = Mutex(State())

  init(gate: WriteGate, path: String, bound: Duration) {
    self.gate = gate
    self.path = path
    self.bound = bound
  }

  /// Begins an attempt, or joins the next one.
  ///
  /// - Parameter completion: called once, on any thread; false when the commits may not be in the log.
  func request(_ completion: @escaping @Sendable (Bool) -> Void) {
    let begins = state.withLock { state in
      if state.isRunning {
        state.next.append(completion)
        return false
      }
      state.isRunning = true
      state.waiting = [completion]
      return true
    }
    if begins { begin() }
  }

  private func begin() {
    Task.detached { [self] in
      let sinceLast = state.withLock(\.lastEnd)?.duration(to: .now()) ?? Self.pause
      if sinceLast < Self.pause { try? await Task.sleep(for: Self.pause - sinceLast) }
      let isAdopted: Bool
      do {
        try await PendingWrite(
          .transaction { _ in }, purpose: "describe foreign commits", priority: .background,
          wait: bound, path: path
        ).run(through: gate)
        isAdopted = true
      } catch {
        isAdopted = false
      }
      let (done, goesOn) = state.withLock { state in
        let done = state.waiting
        state.lastEnd = .now()
        state.waiting = state.next
        state.next = []
        state.isRunning = !state.waiting.isEmpty
        return (done, state.isRunning)
      }
      for completion in done { completion(isAdopted) }
      if goesOn { begin() }
    }
  }
}
