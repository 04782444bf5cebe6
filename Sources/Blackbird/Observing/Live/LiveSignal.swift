import Synchronization

/// What a live value depends on, and whether it has changed since the value was last read.
///
/// Each change asks for a read; a read answers all that were asked for before it began.
final class LiveSignal: ChangeSubscriber {
  /// A table, and which of its changes matter.
  struct Scope: Sendable {
    var table: String
    var filter = ChangeFilter()
  }

  enum News: Sendable {
    /// A read is wanted; the number is that of the latest wish.
    case read(Int)
    /// Nothing more will come.
    case end(any Error)
    /// The task was cancelled.
    case cancelled
  }

  private struct State: Sendable {
    /// The first read is always wanted.
    var wanted = 1
    var begun = 0
    var end: (any Error)?
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let scopes: [Scope]
  private let state = Mutex(State())

  init(_ scopes: [Scope]) { self.scopes = scopes }

  func receive(_ change: TranslatedChange) {
    // A table that came or went can end an error, or be one.
    let isConcerned =
      change.changesSchema
      || scopes.contains { change.change(of: $0.table, $0.filter) != nil }
    if isConcerned { request() }
  }

  func end(_ error: any Error) {
    signal { $0.end = error }
  }

  /// Asks for a read.
  ///
  /// - Returns: the number that a read must have which begins after this.
  @discardableResult
  func request() -> Int {
    signal { $0.wanted += 1 }
  }

  /// Returns when a read is wanted; from then on it counts as begun.
  func next() async -> News {
    while true {
      let news = state.withLock { state -> News? in
        if Task.isCancelled { return .cancelled }
        if let end = state.end { return .end(end) }
        guard state.wanted > state.begun else { return nil }
        state.begun = state.wanted
        return .read(state.wanted)
      }
      if let news { return news }
      await wait()
    }
  }

  private func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let mustWait = state.withLock { state in
          guard state.wanted == state.begun, state.end == nil, !Task.isCancelled else {
            return false
          }
          state.waiting = continuation
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      signal { _ in }
    }
  }

  @discardableResult
  private func signal(_ body: (inout State) -> Void) -> Int {
    let (continuation, wanted) = state.withLock { state in
      body(&state)
      defer { state.waiting = nil }
      return (state.waiting, state.wanted)
    }
    continuation?.resume()
    return wanted
  }
}
