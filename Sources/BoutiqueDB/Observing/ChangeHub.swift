import FaultPoints
import Foundation
import SharedFileCoordination
import Synchronization

/// Somebody who wants to hear of changes.
protocol ChangeObserver: AnyObject, Sendable {
  /// Called for each change, on the writer or the observing thread. Must return at once.
  func didChange(_ change: ChangeSet)
  /// As `didChange`, for one who answers with a read: the hub hands in those of all observers at once.
  func work(for change: ChangeSet) -> ReadWork?
  /// Hands in reads of observers of one database; called on one who has given any.
  func submit(_ works: [ReadWork])
  /// Called once, when no more changes will come: the file was replaced, or the database closed.
  func didEnd(_ error: any Error)
  /// Called, if it was asked for, when all observers have been told of all changes up to the hub's position.
  func didSettle()
  /// Adds a settlement to finish when the run under way, if there is one and an actor consumes its value, has
  /// delivered.
  func settle(_ settlement: Settlement, for actor: ObjectIdentifier)
}

extension ChangeObserver {
  func work(for change: ChangeSet) -> ReadWork? {
    didChange(change)
    return nil
  }
  // Only one who gives work is asked to hand it in.
  func submit(_ works: [ReadWork]) {}
  func settle(_ settlement: Settlement, for actor: ObjectIdentifier) {}
  func didSettle() {}
}

/// Where changes come in and observers hear of them; one for each open database.
///
/// This process's commits come from memory, straight from the writer thread (`publish`). Those of others
/// are read from the change log by the observing thread, which a bell, a write to the WAL, or the poll
/// wakes. Bells may be lost, early, doubled or our own: all that one leads to is a look at the WAL index's
/// change counter, which costs nothing when it has not moved.
///
/// Without observers the thread sleeps, without a watch and without a poll.
final class ChangeHub: Sendable {
  struct State {
    var observers: [Int: WeakObserver] = [:]
    var nextID = 0
    /// Up to where everybody has been told; nil until the first observer comes.
    var position: LogPosition?
    /// This process's row in the origin table, once it has committed.
    var ownOrigin: Int64?
    var isActive = false
    var threadIsRunning = false
    var waitingForActivation: [CheckedContinuation<Void, any Error>] = []
    var pending: Set<Wake> = []
    var failure: (any Error)?
    var bell: BellMode?
    /// How many threads tell observers of changes at this moment.
    var telling = 0
    /// Observers that want to hear when nobody is being told any more.
    var settlers: Set<Int> = []
  }

  struct WeakObserver {
    weak var object: (any ChangeObserver)?
    /// What it depends on; nil for one that wants to hear of everything.
    var quiet: QuietRegion?
    /// The actor for which it observes.
    var isolation: ObjectIdentifier?
  }

  enum Wake: Hashable {
    case bell
    case writeAheadLog
    case files
    case observers
    /// Foreign commits are in the log now, or the attempt to put them there has failed.
    case adopted
    case notAdopted
    case close
  }

  /// Reads that the caller of a write may do itself, and one who can hand them in.
  private struct Offered {
    var works: [ReadWork] = []
    var reader: (any ChangeObserver)?
  }

  /// More than these are work for several threads.
  private static let offerLimit = 4

  let monitor = Monitor(State())
  private let offered = Mutex(Offered())
  /// Whether there is something in `offered`; looked at without its lock.
  private let hasOffered = Atomic(false)
  /// The commit that the writer thread is making.
  let ownCommit = OwnCommit()
  /// The runs that several live queries share.
  let runs = SharedRuns()
  /// What is kept of live queries between their runs.
  let kept = KeptResults()
  let source: HubSource?

  /// - Parameter source: how other processes' changes are found; nil when there can be none.
  init(source: HubSource?) { self.source = source }

  // MARK: Observers

  /// Makes sure that from now on every commit is heard of.
  ///
  /// - Throws: the error that ended the database's life.
  func activate() async throws {
    guard source != nil else {
      if let failure = monitor.withLock(\.failure) { throw failure }
      return
    }
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      let (outcome, start) = monitor.update { state -> (Result<Void, any Error>?, Bool) in
        if let failure = state.failure { return (.failure(failure), false) }
        if state.isActive { return (.success(()), false) }
        state.waitingForActivation.append(continuation)
        state.pending.insert(.observers)
        let start = !state.threadIsRunning
        state.threadIsRunning = true
        return (nil, start)
      }
      if let outcome { continuation.resume(with: outcome) }
      if start, let source {
        let isStarted = DatabaseThread.start(name: "boutique-watch") {
          HubThread(hub: self, source: source).run()
        }
        if !isStarted { giveUp(DatabaseThread.missing(path: source.factory.path)) }
      }
    }
  }

  /// Notes that there was no thread to be had; the next observer tries again.
  private func giveUp(_ error: any Error) {
    let waiting = monitor.update { state in
      state.threadIsRunning = false
      state.pending = []
      defer { state.waitingForActivation = [] }
      return state.waitingForActivation
    }
    for continuation in waiting { continuation.resume(throwing: error) }
  }

  /// Adds an observer.
  ///
  /// It is kept weakly.
  ///
  /// - Parameters:
  ///   - quiet: what it depends on, kept up to date by itself.
  ///   - isolation: the actor for which it observes.
  ///   - settles: whether it wants to hear when all others have been told.
  /// - Returns: what to give to `remove`.
  func add(
    _ observer: any ChangeObserver, quiet: QuietRegion? = nil,
    isolation: ObjectIdentifier? = nil, settles: Bool = false
  ) -> Int {
    let (id, failure) = monitor.withLock { state in
      state.nextID += 1
      if state.failure == nil {
        state.observers[state.nextID] = WeakObserver(
          object: observer, quiet: quiet, isolation: isolation)
        if settles { state.settlers.insert(state.nextID) }
      }
      return (state.nextID, state.failure)
    }
    if let failure { observer.didEnd(failure) }
    return id
  }

  func remove(_ id: Int) {
    let wasLast = monitor.withLock { state in
      state.observers[id] = nil
      state.settlers.remove(id)
      return state.observers.isEmpty
    }
    // The thread need not wake for each that leaves.
    if wasLast { wake(.observers) }
  }

  /// Waits until the live queries of an actor have delivered what has been committed by this process, or a
  /// second is over.
  func settle(isolation: isolated (any Actor)?) async {
    guard let isolation else { return }
    let actor = ObjectIdentifier(isolation)
    let observers = monitor.withLock { state in
      state.observers.values.filter { $0.isolation == actor }.compactMap(\.object)
    }
    guard !observers.isEmpty else { return }
    let settlement = Settlement()
    for observer in observers { observer.settle(settlement, for: actor) }
    await settlement.wait(atMost: .seconds(1))
  }

  /// How many observers there are.
  var observerCount: Int { monitor.withLock(\.observers.count) }

  /// How bells reach this process now; nil while nobody observes.
  var bell: BellMode? { monitor.withLock(\.bell) }

  // MARK: Changes

  /// Tells observers of a commit of this process.
  ///
  /// Called by the writer thread after the commit.
  ///
  /// - Parameter offering: whether the caller of the write may do the reads of live queries that answer, if
  ///   they are few and short. It is being resumed on a thread of the pool anyway; to wake another thread for
  ///   them takes longer than they do. The writer thread calls `withdrawOffer` in a moment, in case it is not.
  func publish(_ change: ChangeSet, offering: Bool = false) {
    runs.noteEvent()
    runs.hold()
    defer { runs.close() }
    let (observers, hasGap) = monitor.withLock { state in
      if let origin = change.origin { state.ownOrigin = origin }
      var hasGap = false
      if var position = state.position {
        if change.first == position.token + 1,
          position.counter == change.counterBefore || change.goesOver(position)
        {
          position.token = change.token
          position.stamp = change.stamp
          position.counter = change.counterAfter
          state.position = position
        } else {
          hasGap = position.token < change.token
        }
      }
      state.telling += 1
      return (state.live(hearing: [change]), hasGap)
    }
    tell(observers, of: [change], offering: offering)
    // Others have committed before. The event of it may have been taken for one of ours, see `OwnCommit`.
    if hasGap, !Sabotage.noPoll.isOn { wake(.bell) }
  }

  /// Says that what was committed has been told, or that nothing was.
  ///
  /// - Parameter newest: the change counter of the newest commit of anybody.
  func didTell(newest: () -> UInt32?) {
    guard ownCommit.didTell() else { return }
    let newest = newest()
    if newest == nil || monitor.withLock({ $0.position?.counter }) != newest { wake(.bell) }
  }

  /// Takes in what the bell's thread has seen.
  func note(_ event: BellEvent) {
    switch event {
    case .bell: if !ownCommit.noteBell() { wake(.bell) }
    case .overflow: wake(.bell)
    case .writeAheadLogWritten: if !ownCommit.explainsWriting { wake(.writeAheadLog) }
    case .filesChanged: wake(.files)
    case .modeChanged(let mode): monitor.withLock { $0.bell = mode }
    }
  }

  /// Takes what was offered, to do it.
  func takeOffered() -> [ReadWork] { take().works }

  /// Hands in what was offered and nobody has taken.
  ///
  /// Called by the writer thread before it sleeps or serves another write.
  func withdrawOffer() {
    let (works, reader) = take()
    reader?.submit(works)
  }

  /// Whether something is offered that nobody has taken.
  var isOffering: Bool { hasOffered.load(ordering: .relaxed) }

  private func take() -> (works: [ReadWork], reader: (any ChangeObserver)?) {
    guard hasOffered.load(ordering: .acquiring) else { return ([], nil) }
    return offered.withLock { offered in
      hasOffered.store(false, ordering: .relaxed)
      defer { offered = Offered() }
      return (offered.works, offered.reader)
    }
  }

  /// Tells observers of what the observing thread found.
  func deliver(_ batch: ChangeReader.Batch) {
    if !batch.changes.isEmpty { runs.noteEvent() }
    runs.hold()
    defer { runs.close() }
    let (observers, changes) = monitor.withLock { state in
      let told = state.position
      // The writer thread may have gone further meanwhile; then its position stands.
      if told.map({ $0.generation != batch.position.generation || $0.token <= batch.position.token }
      )
        ?? true
      {
        state.position = batch.position
      }
      let changes = batch.changes.filter { $0.origin == nil || $0.origin != state.ownOrigin }
      state.telling += 1
      return (state.live(hearing: changes), changes)
    }
    tell(observers, of: changes)
  }

  private func tell(
    _ observers: [any ChangeObserver], of changes: [ChangeSet], offering: Bool = false
  ) {
    var works: [ReadWork] = []
    // One who has reads to hand in, since others, a feed among them, cannot.
    var reader: (any ChangeObserver)?
    for observer in observers {
      for change in changes {
        guard let work = observer.work(for: change) else { continue }
        works.append(work)
        reader = observer
      }
    }
    if offering, !works.isEmpty, works.count <= Self.offerLimit,
      works.allSatisfy({ $0.pace?.isShort == true })
    {
      offered.withLock { offered in
        offered.works += works
        offered.reader = reader
        hasOffered.store(true, ordering: .releasing)
      }
    } else {
      reader?.submit(works)
    }
    hasTold()
  }

  /// Notes that a thread has told everybody, and tells those who wait for just that.
  private func hasTold() {
    let settlers = monitor.withLock { state -> [any ChangeObserver] in
      state.telling -= 1
      guard state.telling == 0, !state.settlers.isEmpty else { return [] }
      return state.settlers.compactMap { state.observers[$0]?.object }
    }
    for observer in settlers { observer.didSettle() }
  }

  /// Up to where all observers have been told; nil while they are being told, or while nobody looks.
  var settledPosition: LogPosition? {
    monitor.withLock { $0.telling == 0 && $0.isActive ? $0.position : nil }
  }

  /// Ends all observation with an error.
  func fail(_ error: any Error) {
    let (observers, waiting) = monitor.update { state in
      guard state.failure == nil else {
        return ([any ChangeObserver](), [CheckedContinuation<Void, any Error>]())
      }
      state.failure = error
      state.isActive = false
      state.pending.insert(.close)
      defer {
        state.observers = [:]
        state.waitingForActivation = []
      }
      return (state.live, state.waitingForActivation)
    }
    for continuation in waiting { continuation.resume(throwing: error) }
    for observer in observers { observer.didEnd(error) }
  }

  /// Ends all observation and waits until the observing thread has closed its connection.
  ///
  /// Blocks; for threads of our own.
  func close(path: String) {
    fail(BoutiqueError.closed(path: path))
    monitor.update { $0.pending.insert(.close) }
    _ = monitor.wait { state -> Bool? in state.threadIsRunning ? nil : true }
  }

  /// Wakes the observing thread.
  ///
  /// Called by the bell's thread.
  func wake(_ reason: Wake) { monitor.update { $0.pending.insert(reason) } }
}

extension ChangeHub.State {
  /// The observers that are still alive.
  var live: [any ChangeObserver] { observers.values.compactMap(\.object) }

  /// Those of them to whom the changes may be something.
  fileprivate func live(hearing changes: [ChangeSet]) -> [any ChangeObserver] {
    guard !changes.isEmpty else { return [] }
    var result: [any ChangeObserver] = []
    for observer in observers.values {
      if let quiet = observer.quiet, changes.allSatisfy(quiet.ignores) { continue }
      if let object = observer.object { result.append(object) }
    }
    return result
  }
}
