import Synchronization

/// One reader of a store's events: what it has not asked for yet, at most so many.
///
/// A reader that is slower than the store for long gets, in place of what it has missed, one event that says
/// what is there now; so it is never wrong at the end, and costs the memory of a few events.
final class StoreEventReader<Item: StorableItem>: Sendable {
  private typealias Waiting = CheckedContinuation<StoreEvent<Item>?, Never>

  private struct State {
    var pending: [StoreEvent<Item>] = []
    var hasEnded = false
    var continuation: Waiting?
  }

  /// How many events may wait for a reader.
  static var bound: Int { 256 }

  private let state: Mutex<State>

  init(first: StoreEvent<Item>) { state = Mutex(State(pending: [first])) }

  /// Hands over an event.
  ///
  /// - Parameter items: all that the store has after it.
  func tell(_ event: StoreEvent<Item>, all items: [Item]) {
    let continuation = state.withLock { state -> Waiting? in
      if let continuation = state.continuation {
        state.continuation = nil
        return continuation
      }
      if state.pending.count >= Self.bound {
        state.pending = [StoreEvent(operation: .loaded, items: items, origin: .unknown)]
      } else {
        state.pending.append(event)
      }
      return nil
    }
    continuation?.resume(returning: event)
  }

  /// Ends the sequence behind what is waiting.
  func end() {
    let continuation = state.withLock { state -> Waiting? in
      state.hasEnded = true
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: nil)
  }

  /// Returns the next event; nil at the end, and when the task is cancelled.
  func next() async -> StoreEvent<Item>? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isReady, event, other) = state.withLock { state in
          if !state.pending.isEmpty {
            return (true, Optional(state.pending.removeFirst()), Waiting?.none)
          }
          if state.hasEnded || Task.isCancelled { return (true, nil, nil) }
          // Two who read one sequence at a time: the earlier one gets nothing.
          defer { state.continuation = continuation }
          return (false, nil, state.continuation)
        }
        other?.resume(returning: nil)
        if isReady { continuation.resume(returning: event) }
      }
    } onCancel: {
      cancel()
    }
  }

  private func cancel() {
    let continuation = state.withLock { state in
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: nil)
  }
}
