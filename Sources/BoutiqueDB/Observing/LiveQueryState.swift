import FaultPoints

/// A value with the number of the run that read it.
struct Delivery<Value: Sendable>: Sendable {
  var reading: Reading<Value>
  var run: Int

  var value: Value { reading.value }
}

/// The life of one observed query, as a machine without clocks, threads or SQL.
///
/// At most one run is under way, so values cannot overtake each other. A change that comes during a run
/// is kept until the run's region is known and then judged. A run starts only when the consumer waits for
/// a value: a slow consumer costs neither queries nor memory, and what it gets next is the newest state.
struct LiveQueryState<Value: Sendable>: Sendable {
  private enum Phase: Sendable {
    /// The last value is current as far as anyone has said.
    case current
    /// Something it depends on has changed since.
    case stale
    /// A run is under way; changes that came meanwhile.
    case running(changes: [ChangeSet], overflowed: Bool)
    case ended((any Error)?)
  }

  enum Action: Sendable {
    case none
    case startRun
    /// Ask again with `retry` in a moment.
    case startRunLater
    case resume(Result<Delivery<Value>?, any Error>)
  }

  /// After so many failures in a row the consumer is told.
  private static var failureLimit: Int { 3 }

  /// How many changes are kept during one run; past that any change counts as touching the query.
  private static var changeLimit: Int { 64 }

  private var phase = Phase.stale
  /// How many runs have been started.
  private var run = 0
  /// The run whose value is delivered even when it equals the last one.
  private var requestedRun = 0
  private var isWaiting = false
  /// How many runs in a row have failed in a way that may pass.
  private var failures = 0
  /// What the last run read; nil before the first.
  private var region: TableRegion?
  private var token: Int64 = -1
  private var last: Value?
  /// What it is a version of.
  private var lastVersion: KeptVersion?
  /// The run that delivered it.
  private var lastRun = 0
  private let areEqual: (@Sendable (Value, Value) -> Bool)?

  init(areEqual: (@Sendable (Value, Value) -> Bool)?) { self.areEqual = areEqual }

  /// Whether the last value is current as far as anyone has said.
  var isCurrent: Bool { if case .current = phase { true } else { false } }

  /// Whether a run is under way, or about to be, whose value the consumer waits for.
  var isAtWork: Bool {
    switch phase {
    case .running, .stale: isWaiting
    case .current, .ended: false
    }
  }

  /// Whether something is known to have changed since the last value.
  var isStale: Bool { if case .stale = phase { true } else { false } }

  /// How many runs have been started.
  var begun: Int { run }

  /// How many runs have ended.
  var completed: Int { if case .running = phase { run - 1 } else { run } }

  /// Whether the run under way was asked for: it must see everything committed before, noticed or not.
  var needsFreshRun: Bool { run <= requestedRun }

  /// Begins a run.
  private mutating func start() -> Action {
    run += 1
    phase = .running(changes: [], overflowed: false)
    return .startRun
  }

  /// Asks for a run whose value is delivered even when it equals the last one.
  ///
  /// - Returns: the number of the first run that will have begun after this call.
  mutating func requestRun() -> (run: Int, action: Action) {
    requestedRun = run + 1
    switch phase {
    case .current:
      guard isWaiting else {
        phase = .stale
        return (run + 1, .none)
      }
      return (run + 1, start())
    case .running(let changes, _):
      phase = .running(changes: changes, overflowed: true)
      return (run + 1, .none)
    case .stale, .ended: return (run + 1, .none)
    }
  }

  /// The consumer asks for the next value.
  mutating func consumerWaits() -> Action {
    switch phase {
    case .stale:
      isWaiting = true
      return start()
    case .ended(let error):
      // The error is given once; afterwards the sequence is over.
      phase = .ended(nil)
      if let error { return .resume(.failure(error)) }
      return .resume(.success(nil))
    case .current, .running:
      isWaiting = true
      return .none
    }
  }

  /// The consumer's task was cancelled.
  mutating func consumerLeft() -> Action {
    guard isWaiting else { return .none }
    isWaiting = false
    return .resume(.success(nil))
  }

  /// The consumer's task was cancelled while a value was on its way; whoever asks next gets one.
  mutating func deliveryWasDropped() {
    last = nil
    if case .current = phase { phase = .stale }
  }

  /// A commit changed something.
  mutating func changed(_ change: ChangeSet) -> Action {
    switch phase {
    case .running(var changes, let overflowed):
      if changes.count < Self.changeLimit { changes.append(change) }
      phase = .running(
        changes: changes, overflowed: overflowed || changes.count == Self.changeLimit)
      return .none
    case .current:
      guard concerns(change) else { return .none }
      guard isWaiting else {
        phase = .stale
        return .none
      }
      return start()
    case .stale, .ended:
      return .none
    }
  }

  /// A run has read a value.
  mutating func runSucceeded(
    _ reading: Reading<Value>, region: TableRegion, token: Int64
  ) -> Action {
    guard case .running(let changes, let overflowed) = phase else { return .none }
    failures = 0
    self.region = region
    self.token = token
    let isStale =
      !Sabotage.staleValue.isOn && (overflowed || changes.contains { concerns($0) })
    phase = isStale ? .stale : .current
    guard isWaiting else { return .none }
    let isNews = !equalsLast(reading)
    last = reading.value
    lastVersion = reading.version
    if !isNews, run < requestedRun || requestedRun <= lastRun {
      // Nothing to deliver; the consumer goes on waiting.
      guard isStale else { return .none }
      return start()
    }
    lastRun = run
    isWaiting = false
    return .resume(.success(Delivery(reading: reading, run: run)))
  }

  /// Whether a value equals the one that was delivered last; false where nobody can compare them.
  private func equalsLast(_ reading: Reading<Value>) -> Bool {
    guard let last, let areEqual else { return false }
    if let version = reading.version, let lastVersion {
      if version == lastVersion { return true }
      if version.follows(lastVersion), reading.change?.differs == true { return false }
    }
    return areEqual(last, reading.value)
  }

  /// A run has failed.
  ///
  /// A failure that may pass is tried again before anybody hears of it; after any other the next change of
  /// anything tries again.
  mutating func runFailed(_ error: any Error, mayPass: Bool) -> Action {
    guard case .running(let changes, let overflowed) = phase else { return .none }
    region = .everything
    if mayPass {
      phase = .stale
      failures += 1
      guard isWaiting else { return .none }
      if failures < Self.failureLimit { return .startRunLater }
    } else {
      phase = changes.isEmpty && !overflowed ? .current : .stale
    }
    failures = 0
    guard isWaiting else { return .none }
    isWaiting = false
    // A value equal to the one before the error is news again.
    last = nil
    return .resume(.failure(error))
  }

  /// The time has come to try again after a failure that may pass.
  mutating func retry() -> Action {
    guard case .stale = phase, isWaiting else { return .none }
    return start()
  }

  /// No more changes will come.
  mutating func end(_ error: (any Error)?) -> Action {
    if case .ended = phase { return .none }
    guard isWaiting else {
      phase = .ended(error)
      return .none
    }
    isWaiting = false
    phase = .ended(nil)
    if let error { return .resume(.failure(error)) }
    return .resume(.success(nil))
  }

  /// Whether a change can alter the value: it touches the region and is not in the snapshot already.
  private func concerns(_ change: ChangeSet) -> Bool {
    region?.concerns(change, after: token) ?? true
  }

  /// What the machine depends on in a phase in which a change that does not touch it changes nothing.
  var quietRegion: (region: TableRegion, token: Int64)? {
    guard case .current = phase, let region else { return nil }
    return (region, token)
  }
}
