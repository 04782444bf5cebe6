import Synchronization

/// Drives a `LiveQueryState`: runs the query on a reader and hands values to the consumer.
///
/// Belongs to one consumer. When the consumer lets go of it, the hub forgets it.
final class LiveQueryRunner<Value: Sendable>: ChangeObserver {
  private struct Guarded: Sendable {
    var state: LiveQueryState<Value>
    var continuation: CheckedContinuation<Delivery<Value>?, any Error>?
    var running: ReadWork?
    var registration: Int?
  }

  private let guarded: Mutex<Guarded>
  private let db: BoutiqueDB
  private let fetch: @Sendable (BoutiqueConnection) throws -> Value

  init(
    db: BoutiqueDB, areEqual: (@Sendable (Value, Value) -> Bool)?,
    fetch: @escaping @Sendable (BoutiqueConnection) throws -> Value
  ) {
    self.db = db
    self.fetch = fetch
    guarded = Mutex(Guarded(state: LiveQueryState(areEqual: areEqual)))
  }

  private var core: OpenDatabase { db.core }

  deinit {
    let (registration, running) = guarded.withLock { ($0.registration, $0.running) }
    running?.cancel()
    if let registration { core.hub.remove(registration) }
  }

  /// Returns the next value, or nil when there will be none.
  ///
  /// - Precondition: one caller at a time.
  func next() async throws -> Delivery<Value>? {
    if guarded.withLock({ $0.registration == nil }) {
      try core.checkUsable()
      // Registered before it is made sure that changes are heard of, and both before the first run: a
      // commit in between leads to one run too many, never to one too few.
      let id = core.hub.add(self)
      guarded.withLock { $0.registration = id }
      do {
        try await core.hub.activate()
      } catch {
        guarded.withLock { $0.registration = nil }
        core.hub.remove(id)
        throw error
      }
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        perform { guarded in
          guarded.continuation = continuation
          return Task.isCancelled
            ? guarded.state.cancelledBeforeWaiting() : guarded.state.consumerWaits()
        }
      }
    } onCancel: {
      perform { $0.state.consumerLeft() }
    }
  }

  /// Whether the last value is current as far as anyone has said.
  var isCurrent: Bool { guarded.withLock(\.state.isCurrent) }

  /// Asks for a run although nothing has changed.
  ///
  /// - Returns: the number of the first run that begins after this call.
  func requestRun() -> Int {
    var number = 0
    perform { guarded in
      let (run, action) = guarded.state.requestRun()
      number = run
      return action
    }
    return number
  }

  func didChange(_ change: ChangeSet) { perform { $0.state.changed(change) } }

  func didEnd(_ error: any Error) { perform { $0.state.end(error) } }

  /// Lets the machine decide under the lock and does what it says outside.
  private func perform(_ event: (inout Guarded) -> LiveQueryState<Value>.Action) {
    let (action, continuation) = guarded.withLock { guarded in
      let action = event(&guarded)
      guard case .resume = action else {
        return (action, nil as CheckedContinuation<Delivery<Value>?, any Error>?)
      }
      defer { guarded.continuation = nil }
      return (action, guarded.continuation)
    }
    switch action {
    case .none: break
    case .startRun: startRun()
    case .resume(let result): continuation?.resume(with: result)
    }
  }

  private func startRun() {
    let box = Mutex<Value?>(nil)
    let work = ReadWork(recordsRegion: true) { [fetch] connection in
      let value = try fetch(connection)
      box.withLock { $0 = value }
    } completion: { [weak self] result in
      guard let self else { return }
      guarded.withLock { $0.running = nil }
      switch result {
      case .success(let snapshot):
        guard let value = box.withLock({ $0 }), let snapshot else { return }
        perform {
          $0.state.runSucceeded(value, region: snapshot.region, token: snapshot.token)
        }
      case .failure(let error):
        perform { $0.state.runFailed(error) }
      }
    }
    guarded.withLock { $0.running = work }
    core.submit(work)
  }
}

extension LiveQueryState {
  /// The consumer's task was cancelled before it could wait.
  func cancelledBeforeWaiting() -> Action { .resume(.success(nil)) }
}
