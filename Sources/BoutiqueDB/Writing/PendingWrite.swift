import SQLiteConnection
import Synchronization

/// A write on its way from the caller to its commit.
///
/// Ends exactly once: with success, with an error, by cancellation or by its time-out; whichever comes
/// first resumes the caller. Cancellation has three cases: before it runs the write is dropped; while its
/// closure runs the transaction is rolled back; once the commit has begun it comes too late and the
/// result is returned.
final class PendingWrite: Sendable {
  /// What the writer thread does for it.
  enum Work: Sendable {
    /// A transaction under the lease.
    case transaction(@Sendable (BoutiqueConnection) throws -> Void)
    /// Something else that has to be done under the lease, outside a transaction.
    case maintenance(@Sendable (Writer) throws -> Void)
    /// A read that shares the writer's connection, since the database is in memory.
    case read(ReadWork)
  }

  private struct State {
    var isQueued = true
    var continuation: CheckedContinuation<Void, any Error>?
  }

  let work: Work
  /// What the lease is held for, as others see it.
  let purpose: String
  let enqueued = MonotonicTime.now()
  let deadline: MonotonicTime
  let cancellation = CancellationFlag()
  private let state = Mutex(State())

  init(_ work: Work, purpose: String, timeout: Duration) {
    self.work = work
    self.purpose = purpose
    deadline = enqueued.advanced(by: timeout)
  }

  /// Hands the write to the gate and suspends until it has ended.
  func run(through gate: WriteGate) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let hasEnded = state.withLock { state in
          if state.isQueued { state.continuation = continuation }
          return !state.isQueued
        }
        // The handler below can have run before there was anyone to resume.
        if hasEnded {
          continuation.resume(throwing: CancellationError())
        } else {
          gate.submit(self)
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
    let continuation = state.withLock { state in
      state.isQueued = false
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(with: result)
  }

  /// Ends the write with an error unless it is running already.
  ///
  /// - Returns: whether it was still waiting.
  @discardableResult
  func giveUp(_ error: any Error) -> Bool {
    let (wasQueued, continuation) = state.withLock { state in
      guard state.isQueued else { return (false, nil as CheckedContinuation<Void, any Error>?) }
      state.isQueued = false
      defer { state.continuation = nil }
      return (true, state.continuation)
    }
    continuation?.resume(throwing: error)
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
