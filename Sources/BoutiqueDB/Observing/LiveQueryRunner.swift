import Dispatch
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
    /// The actor that consumes the values.
    var isolation: ObjectIdentifier?
    /// Whether a value has left the machine and the consumer does not run with it yet.
    var isDelivering = false
    /// Whether the value that has just arrived is out of date already, and the consumer, which runs with it,
    /// may ask for the next one at once.
    var mayAskAgain = false
    /// Writes of that actor that wait for a value, with the last run that may have begun before them.
    var settlements: [(settlement: Settlement, run: Int)] = []
    /// What is kept of its question, held for the next run.
    var box: KeptBox?

    /// Takes out the settlements of those whose write has arrived, or will not be asked for.
    ///
    /// A run that was under way when the write was committed can give a value without it; the one after it
    /// cannot.
    mutating func takeSettlements() -> [Settlement] {
      guard !isDelivering else { return [] }
      let isOver = !state.isAtWork && !mayAskAgain
      let completed = state.completed
      defer { settlements.removeAll { isOver || $0.run < completed } }
      return settlements.filter { isOver || $0.run < completed }.map(\.settlement)
    }
  }

  private let guarded: Mutex<Guarded>
  /// Set under the lock of `guarded`, whenever the machine has moved.
  let quietRegion = QuietRegion()
  /// How long its runs take.
  private let pace = ReadPace()
  private let db: BoutiqueDB
  private let fetch: LiveFetch<Value>
  /// Whether the consumer wants to tell the rows of a list apart.
  private let withRowIDs: Bool

  init(
    db: BoutiqueDB, areEqual: (@Sendable (Value, Value) -> Bool)?, fetch: LiveFetch<Value>,
    withRowIDs: Bool = false
  ) {
    self.db = db
    self.withRowIDs = withRowIDs
    self.fetch = fetch
    guarded = Mutex(Guarded(state: LiveQueryState(areEqual: areEqual)))
  }

  private var core: OpenDatabase { db.core }

  deinit {
    let (registration, running, settlements) = guarded.withLock {
      ($0.registration, $0.running, $0.settlements)
    }
    running?.cancel()
    if let registration { core.hub.remove(registration) }
    for (settlement, _) in settlements { settlement.finish() }
  }

  /// Returns the next value, or nil when there will be none.
  ///
  /// The value comes straight to the actor that asks, with no stop on another executor in between.
  ///
  /// - Precondition: one caller at a time.
  func next(isolation: isolated (any Actor)?) async throws -> Delivery<Value>? {
    let actor = isolation.map { ObjectIdentifier($0) }
    if guarded.withLock({ $0.registration == nil }) {
      try core.checkUsable()
      // Registered before it is made sure that changes are heard of, and both before the first run: a
      // commit in between leads to one run too many, never to one too few.
      let id = core.hub.add(self, quiet: quietRegion, isolation: actor)
      guarded.withLock { guarded in
        guarded.registration = id
        guarded.isolation = actor
      }
      do {
        try await core.hub.activate()
      } catch {
        guarded.withLock { $0.registration = nil }
        core.hub.remove(id)
        throw error
      }
    }
    defer { didArrive(isolation) }
    let delivery = try await withTaskCancellationHandler {
      // The closure is of the actor only because it mentions it.
      try await withCheckedThrowingContinuation(isolation: isolation) { continuation in
        perform { guarded in
          guarded.continuation = continuation
          return Task.isCancelled
            ? guarded.state.cancelledBeforeWaiting() : guarded.state.consumerWaits()
        }
      }
    } onCancel: {
      perform { $0.state.consumerLeft() }
    }
    guard !Task.isCancelled else {
      if delivery != nil {
        perform { guarded in
          guarded.state.deliveryWasDropped()
          return .none
        }
      }
      return nil
    }
    return delivery
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

  func work(for change: ChangeSet) -> ReadWork? {
    var work: ReadWork?
    perform {
      $0.state.changed(change)
    } start: {
      work = self.makeRun()
    }
    return work
  }

  func submit(_ works: [ReadWork]) { core.submit(works) }

  func didEnd(_ error: any Error) { perform { $0.state.end(error) } }

  func settle(_ settlement: Settlement, for actor: ObjectIdentifier) {
    guarded.withLock { guarded in
      guard guarded.isolation == actor, guarded.state.isAtWork || guarded.isDelivering
      else { return }
      settlement.add()
      guarded.settlements.append((settlement, run: guarded.state.begun))
    }
  }

  /// Lets the machine decide under the lock and does what it says outside.
  ///
  /// - Parameter start: starts a run.
  private func perform(
    _ event: (inout Guarded) -> LiveQueryState<Value>.Action, start: (() -> Void)? = nil
  ) {
    let (action, continuation, settlements) = guarded.withLock { guarded in
      let action = event(&guarded)
      let quiet = guarded.state.quietRegion
      quietRegion.set(quiet?.region, token: quiet?.token ?? 0)
      var continuation: CheckedContinuation<Delivery<Value>?, any Error>?
      if case .resume = action {
        continuation = guarded.continuation
        guarded.continuation = nil
        guarded.isDelivering = true
      }
      return (action, continuation, guarded.takeSettlements())
    }
    for settlement in settlements { settlement.finish() }
    switch action {
    case .none: break
    case .startRun:
      if let start { start() } else { startRun() }
    case .startRunLater: startRunLater()
    case .resume(let result):
      continuation?.resume(with: result)
    }
  }

  /// The consumer runs, on its actor: it has the value before anybody else has a turn there.
  ///
  /// That a value was resumed first would not do: actors do not keep the order of those who come from outside.
  ///
  /// With a value that is out of date, because its run began before the write, it mostly asks again before
  /// anybody else has a turn; only if it does not, the write waits no longer.
  private func didArrive(_ isolation: isolated (any Actor)?) {
    let (settlements, mayAskAgain) = guarded.withLock { guarded in
      guarded.isDelivering = false
      guarded.mayAskAgain = guarded.state.isStale && !guarded.settlements.isEmpty
      return (guarded.takeSettlements(), guarded.mayAskAgain)
    }
    for settlement in settlements { settlement.finish() }
    guard mayAskAgain else { return }
    Task { [weak self] in
      // The task is of the actor only because it mentions it, and so runs when the consumer has had its turn.
      _ = isolation
      self?.didHaveTurn()
    }
  }

  private func didHaveTurn() {
    let settlements = guarded.withLock { guarded in
      guarded.mayAskAgain = false
      return guarded.takeSettlements()
    }
    for settlement in settlements { settlement.finish() }
  }

  // MARK: Runs

  private func startRun() { core.submit(makeRun()) }

  private func makeRun() -> ReadWork {
    let runs = core.hub.runs
    let asked = runs.ask(isFresh: guarded.withLock(\.state.needsFreshRun))
    let run = LiveRun<Value>()
    let end: @Sendable (SharedRuns.Answer) -> Void = { [weak self] answer in
      self?.didRun(answer)
      runs.close()
    }
    let kept = core.hub.kept
    let isAnswered: @Sendable () -> Bool = { [weak self, fetch, withRowIDs] in
      let prepared = fetch.prepare(withRowIDs)
      guard let key = prepared.key else {
        run.begin(prepared, leading: nil)
        return false
      }
      let box = prepared.mayBeKept ? kept.box(for: key) : nil
      // Another question lets go of what was kept of the one before. Nothing is kept of one that is another
      // each time.
      let isSettled = self?.guarded.withLock { guarded in
        defer { guarded.box = box }
        return guarded.box == nil || guarded.box === box
      }
      switch runs.join(key, asked: asked, answer: end) {
      case .follows: return true
      case .leads(let tick):
        run.begin(prepared, leading: (key, tick), isSettled == true ? box : nil)
        return false
      }
    }
    let work = ReadWork(
      pace: pace, observingWith: kept, isAnswered: isAnswered, body: run.read
    ) { result in
      let (value, leading) = run.take()
      let answer: SharedRuns.Answer = result.flatMap { snapshot in
        guard let value, let snapshot else { return .failure(BoutiqueError.connectionEnded) }
        return .success((value, snapshot))
      }
      if let (key, tick) = leading { runs.finish(key, tick: tick, answer) }
      end(answer)
    }
    guarded.withLock { $0.running = work }
    return work
  }

  private func didRun(_ answer: SharedRuns.Answer) {
    guarded.withLock { $0.running = nil }
    switch answer {
    case .success(let (value, snapshot)):
      guard let reading = value as? Reading<Value> else { return }
      perform { $0.state.runSucceeded(reading, region: snapshot.region, token: snapshot.token) }
    case .failure(is SharedRuns.Abandoned):
      // The changes that came meanwhile are still to be judged, by the run that follows.
      startRun()
    case .failure(let error):
      perform { $0.state.runFailed(error, mayPass: error.mayPass) }
    }
  }

  /// Tries again a little later.
  private func startRunLater() {
    DispatchQueue.global().asyncAfter(
      deadline: .now() + .nanoseconds(Int(core.configuration.cdcPollInterval.nanosecondsClamped))
    ) { [weak self] in
      self?.perform { $0.state.retry() }
    }
  }
}

/// What one run holds between its beginning and its end.
private final class LiveRun<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var prepared: LiveFetch<Value>.Prepared?
    var leading: (key: RunKey, tick: Int)?
    var box: KeptBox?
    var value: Reading<Value>?
  }

  private let state = Mutex(State())

  func begin(
    _ prepared: LiveFetch<Value>.Prepared, leading: (key: RunKey, tick: Int)?,
    _ box: KeptBox? = nil
  ) {
    state.withLock { state in
      state.prepared = prepared
      state.box = box
      state.leading = leading
    }
  }

  func read(_ connection: BoutiqueConnection) throws {
    let (begun, box) = state.withLock { ($0.prepared, $0.box) }
    guard let begun else { throw BoutiqueError.connectionEnded }
    let value = try begun.read(connection, box)
    state.withLock { $0.value = value }
  }

  func take() -> (Reading<Value>?, (key: RunKey, tick: Int)?) {
    state.withLock { state in
      // Whoever still has this run must not have its value: a list that nobody else has is changed in place.
      defer { state.value = nil }
      return (state.value, state.leading)
    }
  }
}

extension LiveQueryState {
  /// The consumer's task was cancelled before it could wait.
  func cancelledBeforeWaiting() -> Action { .resume(.success(nil)) }
}

extension Error {
  /// Whether the same query may well succeed in a moment: somebody held a lock for too long.
  ///
  /// Source of the codes: SQLite, "Result and Error Codes".
  fileprivate var mayPass: Bool {
    guard case BoutiqueError.sql(let code, _)? = self as? BoutiqueError else { return false }
    // SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL, SQLITE_SCHEMA.
    return [5, 6, 15, 17].contains(code & 0xff)
  }
}
