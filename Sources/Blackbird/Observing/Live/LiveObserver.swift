import Observation
import Synchronization

/// A live value for Observation: what the live wrappers are made of.
///
/// Safe from any thread. A new value is in place before observers are told, so that whoever looks again at
/// that moment, on whatever thread, finds it. Where there is an actor to deliver to, values change only in its
/// turns: what is read twice in one turn is the same.
final class LiveObserver<Value: Sendable>: Observable, Sendable {
  struct Snapshot: Sendable {
    var value: Value?
    var didLoad = false
    var error: (any Error)?
  }

  fileprivate struct Refreshing {
    var wish: Int
    var continuation: CheckedContinuation<Void, any Error>
  }

  fileprivate struct State {
    var snapshot: Snapshot
    var isLoading = false
    var database: Blackbird.Database?
    /// Whether it was never told which database to use.
    var usesEnvironment: Bool
    var plan: LiveQueryPlan<Value>?
    var reader: LiveReader<Value>?
    /// Which reader it is; what an earlier one still brings is dropped.
    var number = 0
    /// Whether nothing more will come.
    var hasEnded = false
    var refreshing: [Refreshing] = []
  }

  private let registrar = ObservationRegistrar()
  private let state: Mutex<State>
  private let home: Home

  /// - Parameters:
  ///   - isolation: the actor in whose turns values change; nil for none.
  ///   - initial: what is shown until the first read.
  init(
    _ plan: LiveQueryPlan<Value>?, in database: Blackbird.Database?, isolation: (any Actor)?,
    initial: Value? = nil
  ) {
    home = Home(actor: isolation, isAnywhere: isolation == nil)
    state = Mutex(
      State(
        snapshot: Snapshot(value: initial), usesEnvironment: database == nil, plan: plan))
    follow(database ?? BlackbirdEnvironment.current)
  }

  deinit {
    let (reader, refreshing) = state.withLock { ($0.reader, $0.refreshing) }
    reader?.cancel()
    for waiting in refreshing { waiting.continuation.resume(throwing: CancellationError()) }
  }

  // MARK: Reading

  /// The value as of the last read, tracked by Observation.
  var snapshot: Snapshot {
    bindIfNeeded()
    registrar.access(self, keyPath: \.snapshot)
    return state.withLock(\.snapshot)
  }

  /// Whether a read is under way, tracked by Observation.
  var isLoading: Bool {
    bindIfNeeded()
    registrar.access(self, keyPath: \.isLoading)
    return state.withLock(\.isLoading)
  }

  /// The database; nil while there is none.
  var database: Blackbird.Database? {
    bindIfNeeded()
    return state.withLock(\.database)
  }

  /// Waits until the value is at least as new as all that was committed before the call.
  func refresh() async throws {
    bindIfNeeded()
    // The wish comes after the continuation is in its place, so that no read can answer it before.
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      let failure = state.withLock { state -> (any Error)? in
        if state.hasEnded, let error = state.snapshot.error { return error }
        guard let reader = state.reader else { return BlackbirdLiveError.noDatabase }
        state.refreshing.append(
          Refreshing(wish: reader.request(), continuation: continuation))
        return nil
      }
      if let failure { continuation.resume(throwing: failure) }
    }
  }

  // MARK: Binding

  /// Reads from another database from now on; nil for none.
  func bind(to database: Blackbird.Database?) {
    state.withLock { $0.usesEnvironment = false }
    follow(database)
  }

  private func follow(_ database: Blackbird.Database?) {
    rebind { state in
      let isOther = state.database != database
      state.database = database
      return isOther
    }
  }

  /// Reads something else from now on; nil for nothing.
  ///
  /// - Parameter initial: what is shown until the first read.
  func follow(_ plan: LiveQueryPlan<Value>?, initial: Value? = nil) {
    rebind { state in
      state.plan = plan
      state.snapshot.value = initial
      return true
    }
  }

  private func bindIfNeeded() {
    guard state.withLock({ $0.database == nil && $0.usesEnvironment }),
      let database = BlackbirdEnvironment.current
    else { return }
    follow(database)
  }

  /// Begins anew with a reader of its own, when `change` says that something is another.
  private func rebind(_ change: (inout State) -> Bool) {
    let (reader, refreshing) = state.withLock { state -> (LiveReader<Value>?, [Refreshing]) in
      guard change(&state) else { return (nil, []) }
      let before = (state.reader, state.refreshing)
      state.number += 1
      state.hasEnded = false
      state.isLoading = false
      state.refreshing = []
      state.snapshot.didLoad = false
      state.snapshot.error = nil
      state.reader = makeReader(state)
      return before
    }
    reader?.cancel()
    for waiting in refreshing { waiting.continuation.resume(throwing: CancellationError()) }
    tell(\.snapshot)
  }

  private func makeReader(_ state: State) -> LiveReader<Value>? {
    guard let database = state.database, let plan = state.plan else { return nil }
    let number = state.number
    let home = home
    let observer = Weakly(observer: self)
    return LiveReader(plan, in: database) { event in
      let actor = home.actor
      // Without its actor there is nobody left to read it.
      guard actor != nil || home.isAnywhere else { return }
      await Self.deliver(event, number: number, to: actor, observer)
    }
  }

  // MARK: Delivering

  /// The actor in whose turns values change; an actor that owns its observer must not be kept by it.
  private struct Home: Sendable {
    weak let actor: (any Actor)?
    let isAnywhere: Bool
  }

  /// The observer for its reader, which must not keep it while an actor is busy.
  private struct Weakly: Sendable {
    weak let observer: LiveObserver<Value>?
  }

  /// Applies an event in a turn of the actor.
  private static func deliver(
    _ event: LiveReader<Value>.Event, number: Int, to isolation: isolated (any Actor)?,
    _ weakly: Weakly
  ) { weakly.observer?.apply(event, number: number) }

  private func apply(_ event: LiveReader<Value>.Event, number: Int) {
    var done: [CheckedContinuation<Void, any Error>] = []
    var failure: (any Error)?
    let (isNews, wasLoading) = state.withLock { state -> (Bool, Bool) in
      guard state.number == number else { return (false, state.isLoading) }
      let wasLoading = state.isLoading
      switch event {
      case .begins:
        state.isLoading = true
        return (false, wasLoading)
      case .result(.success(let value), let wish):
        state.isLoading = false
        done = state.takeRefreshing(upTo: wish)
        let isSame =
          state.snapshot.didLoad && state.snapshot.error == nil
          && state.snapshot.value.map { areEqualResults($0, value) } == true
        if !isSame { state.snapshot = Snapshot(value: value, didLoad: true) }
        return (!isSame, wasLoading)
      case .result(.failure(let error), let wish):
        state.isLoading = false
        failure = error
        done = state.takeRefreshing(upTo: wish)
        state.snapshot.error = error
        return (true, wasLoading)
      case .end(let error):
        state.isLoading = false
        state.hasEnded = true
        failure = error
        done = state.takeRefreshing(upTo: .max)
        state.snapshot.error = error
        return (true, wasLoading)
      }
    }
    if isNews { tell(\.snapshot) }
    if state.withLock(\.isLoading) != wasLoading { tell(\.isLoading) }
    for continuation in done {
      if let failure { continuation.resume(throwing: failure) } else { continuation.resume() }
    }
  }

  private func tell<Member>(_ keyPath: KeyPath<LiveObserver<Value>, Member>) {
    registrar.withMutation(of: self, keyPath: keyPath) {}
  }
}

extension LiveObserver.State {
  fileprivate mutating func takeRefreshing(
    upTo wish: Int
  ) -> [CheckedContinuation<Void, any Error>] {
    let done = refreshing.filter { $0.wish <= wish }.map(\.continuation)
    refreshing.removeAll { $0.wish <= wish }
    return done
  }
}
