import Synchronization

/// An outcome that comes once, and one task that waits for it; whichever is first waits for the other.
///
/// A task can be cancelled before it waits, and then the outcome is there before anybody who could be
/// resumed with it.
final class Rendezvous: Sendable {
  private enum State {
    case empty
    case waiting(CheckedContinuation<Void, any Error>)
    case done(Result<Void, any Error>)
  }

  private let state = Mutex(State.empty)

  /// Ends the waiting.
  ///
  /// Only the first call counts.
  func complete(_ result: Result<Void, any Error>) {
    let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
      switch state {
      case .done: return nil
      case .empty:
        state = .done(result)
        return nil
      case .waiting(let continuation):
        state = .done(result)
        return continuation
      }
    }
    continuation?.resume(with: result)
  }

  /// Suspends until there is an outcome.
  ///
  /// - Precondition: called once.
  func value() async throws {
    try await withCheckedThrowingContinuation { continuation in
      let result = state.withLock { state -> Result<Void, any Error>? in
        if case .done(let result) = state { return result }
        state = .waiting(continuation)
        return nil
      }
      if let result { continuation.resume(with: result) }
    }
  }
}
