import Synchronization

/// One listener; cancelling or letting go of it ends the listening.
package final class BellSubscription: Sendable {
  private let watcher: BellWatcher
  private let number: Int
  private let state: BellListener

  init(watcher: BellWatcher, number: Int, state: BellListener) {
    self.watcher = watcher
    self.number = number
    self.state = state
  }

  deinit {
    cancel()
  }

  /// How the bell is heard at present.
  package var mode: BellMode { state.mode }

  /// Ends the listening.
  ///
  /// A call of the handler that is under way may end after this. Doing so again does nothing.
  package func cancel() {
    if state.cancel() { watcher.remove(number) }
  }
}

/// What the watcher knows of one listener.
final class BellListener: Sendable {
  let databasePath: String
  private let handler: @Sendable (BellEvent) -> Void
  private let state: Mutex<(mode: BellMode?, isCancelled: Bool)>

  init(databasePath: String, handler: @escaping @Sendable (BellEvent) -> Void) {
    self.databasePath = databasePath
    self.handler = handler
    state = Mutex((nil, false))
  }

  var mode: BellMode {
    state.withLock { $0.mode } ?? .pollingOnly(reason: "the watch is being set up")
  }

  /// Delivers an event, outside of every lock.
  func deliver(_ event: BellEvent) {
    if state.withLock({ !$0.isCancelled }) { handler(event) }
  }

  /// Notes how the bell is heard, and tells the listener when that has changed.
  func become(_ mode: BellMode) {
    let before = state.withLock { state in
      defer { state.mode = mode }
      return state.mode
    }
    if let before, before != mode { deliver(.modeChanged(mode)) }
  }

  /// - Returns: False when it was cancelled before.
  func cancel() -> Bool {
    state.withLock { state in
      defer { state.isCancelled = true }
      return !state.isCancelled
    }
  }
}
