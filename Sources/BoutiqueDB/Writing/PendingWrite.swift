import SQLiteConnection
import Synchronization

/// A write on its way from the caller to its commit.
///
/// Ends exactly once: with success, with an error, by cancellation or by its time-out; whichever comes
/// first resumes the caller. Cancellation has three cases: before it runs the write is dropped; while its
/// closure runs what it did is rolled back; once the closure has ended, or the commit begun, it comes too
/// late and the result is returned.
final class PendingWrite: Sendable {
  /// What the writer thread does for it.
  enum Work: Sendable {
    /// A transaction under the lease.
    case transaction(@Sendable (BoutiqueConnection) throws -> Void)
    /// Something else that has to be done under the lease, outside a transaction.
    case maintenance(@Sendable (Writer) throws -> Void)
    /// A transaction in which foreign keys are not enforced, by itself.
    case alteration(@Sendable (BoutiqueConnection) throws -> Void)
    /// A read that shares the writer's connection, since the database is in memory.
    case read(ReadWork)
  }

  private struct State {
    var isQueued = true
    // Unchecked: it is resumed where it is taken out of here, so once.
    var continuation: UnsafeContinuation<Void, any Error>?
    var token: ChangeToken?
  }

  let work: Work
  /// What the lease is held for, as others see it.
  let purpose: String
  let priority: WritePriority
  let enqueued: MonotonicTime
  /// Until when it waits.
  let deadline: MonotonicTime
  let cancellation: CancellationFlag
  /// Whether the caller wants to know the commit's token.
  let wantsToken: Bool
  private let state = Mutex(State())
  /// Whether the caller has been resumed; set after that.
  private let isOver = Atomic(false)

  /// - Parameters:
  ///   - wait: how long it waits for its turn at most.
  ///   - limit: how long waiting and running may take together; counts instead of `wait` where given.
  ///   - path: the database, for the error when the limit is passed.
  init(
    _ work: Work, purpose: String, priority: WritePriority = .normal, wait: Duration,
    limit: Duration? = nil, wantsToken: Bool = false, path: String
  ) {
    self.work = work
    self.purpose = purpose
    self.priority = priority
    self.wantsToken = wantsToken
    let now = MonotonicTime.now()
    enqueued = now
    deadline = now.advanced(by: limit ?? wait)
    cancellation = CancellationFlag(
      allowance: limit.map { Allowance(path: path, start: now, limit: $0) })
  }

  /// Whether it may run in a transaction that others have begun.
  ///
  /// One with a limit may not: to interrupt it would end the others' transaction as well.
  var mayJoin: Bool {
    if case .transaction = work { cancellation.allowance == nil } else { false }
  }

  /// The token of the commit that holds the write; there once it has ended well, if it is wanted.
  var token: ChangeToken? { state.withLock(\.token) }

  /// Says which commit holds the write.
  func note(_ token: ChangeToken) { state.withLock { $0.token = token } }

  /// Hands the write to the gate and suspends until it has ended.
  func run(through gate: WriteGate) async throws {
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        let hasEnded = state.withLock { state in
          if state.isQueued { state.continuation = continuation }
          return !state.isQueued
        }
        // The handler below can have run before there was anyone to resume.
        if hasEnded {
          continuation.resume(throwing: CancellationError())
        } else {
          gate.submit(self, thenWaiting: { isOver.load(ordering: .acquiring) })
        }
      }
    } onCancel: {
      cancel()
      gate.reconsider()
    }
  }

  /// How long it may still wait.
  var remainingTime: Duration { max(.zero, MonotonicTime.now().duration(to: deadline)) }

  /// Whether it still waits for its turn.
  var isQueued: Bool { state.withLock(\.isQueued) }

  /// Marks the write as running.
  ///
  /// - Returns: false when it has ended before its turn came.
  func begin() -> Bool {
    state.withLock { state in
      defer { state.isQueued = false }
      return state.isQueued
    }
  }

  /// Ends the write and resumes its caller.
  func finish(_ result: Result<Void, any Error>) {
    end()?.resume(with: result)
    didResume()
  }

  /// Says that the caller has been resumed, to a thread of its that looks for that.
  func didResume() { isOver.store(true, ordering: .releasing) }

  /// Ends the write.
  ///
  /// - Returns: its caller, to be resumed by whoever called this.
  func end() -> UnsafeContinuation<Void, any Error>? {
    state.withLock { state in
      state.isQueued = false
      defer { state.continuation = nil }
      return state.continuation
    }
  }

  /// Ends the write with an error unless it is running already.
  ///
  /// - Returns: whether it was still waiting.
  @discardableResult
  func giveUp(_ error: any Error) -> Bool {
    let (wasQueued, continuation) = state.withLock { state in
      guard state.isQueued else { return (false, nil as UnsafeContinuation<Void, any Error>?) }
      state.isQueued = false
      defer { state.continuation = nil }
      return (true, state.continuation)
    }
    continuation?.resume(throwing: error)
    if wasQueued { didResume() }
    // Nobody waits for a read as a write; its own completion has to be told.
    if wasQueued, case .read(let read) = work { read.fail(error) }
    return wasQueued
  }

  private func cancel() {
    // The order matters: a write that begins between the two lines sees the flag.
    cancellation.cancel()
    giveUp(CancellationError())
  }
}
