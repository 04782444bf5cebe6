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
  private let lockFile: String
  private let state: Mutex<(mode: BellMode?, isCancelled: Bool, presence: ListenerPresence?)>

  init(databasePath: String, handler: @escaping @Sendable (BellEvent) -> Void) {
    self.databasePath = databasePath
    self.handler = handler
    lockFile = CoordinationFile.path(forDatabase: databasePath)
    state = Mutex((nil, false, nil))
  }

  var mode: BellMode {
    state.withLock { $0.mode } ?? .pollingOnly(reason: "the watch is being set up")
  }

  /// Delivers an event, outside of every lock.
  func deliver(_ event: BellEvent) {
    if state.withLock({ !$0.isCancelled }) { handler(event) }
  }

  /// Tells ringers that somebody listens to the lock file at its path.
  ///
  /// - Parameter anew: whether it may be another file than the last time.
  /// - Returns: whether it is told anew, and why it cannot be.
  func attend(anew: Bool) -> (isAnew: Bool, refusal: String?) {
    state.withLock { state in
      guard !state.isCancelled, anew || state.presence == nil else { return (false, nil) }
      let present = FileIdentity.of(path: lockFile)
      if let present, state.presence?.identity == present { return (false, nil) }
      state.presence = nil
      guard present != nil else { return (false, nil) }
      switch ListenerPresence.begin(path: lockFile) {
      case .present(let presence): state.presence = presence
      case .missing: return (false, nil)
      case .refused(let reason): return (false, "\(lockFile) cannot be listened to: \(reason)")
      }
      return (true, nil)
    }
  }

  /// Notes how the bell is heard, and tells the listener when that has changed.
  ///
  /// What happened while nothing could be watched has raised no event, so when hearing comes back the
  /// listener is told to look, as after an overflow.
  func become(_ mode: BellMode) {
    let before = state.withLock { state in
      defer { state.mode = mode }
      return state.mode
    }
    guard let before, before != mode else { return }
    deliver(.modeChanged(mode))
    if mode == .inotify {
      deliver(.overflow)
      deliver(.writeAheadLogWritten)
    }
  }

  /// - Returns: False when it was cancelled before.
  func cancel() -> Bool {
    state.withLock { state in
      defer {
        state.isCancelled = true
        // At once, whatever the thread is at: who closes a database gives its files up.
        state.presence = nil
      }
      return !state.isCancelled
    }
  }
}
