import Dispatch
import Synchronization

/// Waits until live queries that a write has touched have handed over what it made of them.
///
/// Resumes its task once: when all are done, when the task is cancelled, or after a while, since a slow query
/// is no reason to hold up whoever writes.
final class Settlement: Sendable {
  private struct State {
    /// How many live queries are still at work, and one for the beginning.
    var pending = 1
    var continuation: CheckedContinuation<Void, Never>?
    var isOver = false
  }

  private let state = Mutex(State())

  /// Counts a live query that will call `finish`.
  func add() { state.withLock { $0.pending += 1 } }

  /// Takes one off.
  func finish() {
    end { state in
      state.pending -= 1
      return state.pending == 0
    }
  }

  /// Suspends until all have finished, but no longer than `limit`.
  func wait(
    atMost limit: DispatchTimeInterval, isolation: isolated (any Actor)? = #isolation
  ) async {
    // The common case: nobody is at work.
    if state.withLock({ $0.pending == 1 }) { return }
    await withTaskCancellationHandler {
      // The closure is of the actor only because it mentions it.
      await withCheckedContinuation(isolation: isolation) { continuation in
        let mustWait = state.withLock { state in
          if !state.isOver { state.continuation = continuation }
          return !state.isOver
        }
        guard mustWait else {
          continuation.resume()
          return
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak self] in
          self?.end { _ in true }
        }
        finish()
      }
    } onCancel: {
      end { _ in true }
    }
  }

  private func end(_ isOver: (inout State) -> Bool) {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard isOver(&state) else { return nil }
      state.isOver = true
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume()
  }
}
