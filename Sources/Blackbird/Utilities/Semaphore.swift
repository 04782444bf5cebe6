import Synchronization

extension Blackbird {
  /// A count of permits that tasks wait for, without blocking a thread.
  ///
  /// Tasks get their permits in the order in which they asked.
  public final class Semaphore: Sendable {
    private struct State {
      var permits: Int
      var waiting: [CheckedContinuation<Void, Never>] = []
      /// The first of `waiting` that has no permit yet.
      var next = 0
    }

    private let state: Mutex<State>

    /// Creates a semaphore with a number of permits, at least 0.
    public init(value: Int = 0) { state = Mutex(State(permits: max(0, value))) }

    /// Takes a permit, and waits for one where there is none.
    ///
    /// A cancelled task waits like any other: it would otherwise go on without its permit.
    public func wait() async {
      await withCheckedContinuation { continuation in
        let mayGo = state.withLock { state in
          if state.permits > 0 {
            state.permits -= 1
            return true
          }
          state.waiting.append(continuation)
          return false
        }
        if mayGo { continuation.resume() }
      }
    }

    /// Gives a permit, to the task that has waited longest where one waits.
    public func signal() {
      let first: CheckedContinuation<Void, Never>? = state.withLock { state in
        guard state.next < state.waiting.count else {
          state.permits += 1
          return nil
        }
        let first = state.waiting[state.next]
        state.next += 1
        // Those that have gone are dropped in bulk: dropping each would move all the others.
        if state.next == state.waiting.count || state.next >= 1024 {
          state.waiting.removeFirst(state.next)
          state.next = 0
        }
        return first
      }
      first?.resume()
    }

    /// Runs `body` with a permit, which is given back whatever happens.
    public func withPermit<R>(
      isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
    ) async rethrows -> R {
      await wait()
      defer { signal() }
      return try await body()
    }
  }
}
