import FaultPoints
import SQLiteConnection
import SharedFileCoordination

/// What the observing thread works with.
struct HubSource: Sendable {
  let factory: ConnectionFactory
  let files: OpenedFiles
  let pollInterval: Duration
  /// False leaves the poll alone.
  let usesInotify: Bool
  /// Puts foreign commits into the log; nil where nothing can be written.
  let adopter: ForeignAdopter?
}

/// The observing thread: looks at the change log when something may have changed.
///
/// Confined to its own thread. The connection is its own: `data_version` and the WAL index are asked
/// where no transaction stands open.
final class HubThread {
  private let hub: ChangeHub
  private let source: HubSource
  private var connection: Connection?
  private var subscription: BellSubscription?
  private var schedule: BellSchedule
  /// While foreign commits are being put into the log for us: the token after which they will stand.
  private var adoptingAfter: Int64?
  /// For the look that follows such an attempt: the token after which the commits stand now.
  private var adoptedAfter: Int64?

  init(hub: ChangeHub, source: HubSource) {
    self.hub = hub
    self.source = source
    schedule = BellSchedule(
      pollInterval: Sabotage.noPoll.isOn ? .seconds(86_400) : source.pollInterval)
  }

  func run() {
    defer {
      subscription?.cancel()
      connection?.close()
      hub.monitor.update { $0.threadIsRunning = false }
    }
    while true {
      let wakes = waitForWake()
      if wakes.contains(.close) { return }
      let now = BootClock.now()
      let tail = tail(after: wakes)
      if !wakes.isDisjoint(with: [.bell, .files, .adopted, .notAdopted]) {
        schedule.note(.rung, at: now)
      }
      if wakes.contains(.writeAheadLog) { schedule.note(.logWritten, at: now) }
      do {
        if wakes.contains(.observers), try !adjustToObservers() { continue }
        guard schedule.isDue(at: BootClock.now()) else { continue }
        // Files are looked at on every wake-up: a replaced database raises no other event for us.
        try source.files.check()
        let foundSomething = try look(tail: tail)
        schedule.note(foundSomething ? .foundNews : .foundNothing, at: BootClock.now())
      } catch let error as BoutiqueError {
        // A replaced or deleted file: nothing more will be heard of it.
        hub.fail(error)
        return
      } catch let error as SQLiteError
        where error.code.primary == .corrupt || error.code.primary == .notADatabase
      {
        hub.fail(BoutiqueError(error))
        return
      } catch {
        // Passing trouble (busy, no memory): the next poll tries again, nothing is skipped since the
        // position has not moved.
        schedule.note(.foundNothing, at: BootClock.now())
      }
    }
  }

  private func waitForWake() -> Set<ChangeHub.Wake> {
    let deadline = schedule.nextLook.map { next in
      MonotonicTime.now().advanced(by: max(.zero, BootClock.now().duration(to: next)))
    }
    return hub.monitor.wait(until: deadline) { state in
      guard !state.pending.isEmpty else { return nil }
      defer { state.pending = [] }
      return state.pending
    } ?? []
  }

  // MARK: Observers

  /// Begins or ends listening as observers come and go.
  ///
  /// - Returns: whether anybody observes.
  private func adjustToObservers() throws -> Bool {
    let (isWanted, waiting) = hub.monitor.withLock { state in
      let isWanted = !state.waitingForActivation.isEmpty || !state.observers.isEmpty
      if !isWanted {
        // Together with the decision: whoever comes from here on finds the hub asleep and wakes it. One
        // that found it awake a moment later would be deaf.
        state.isActive = false
        state.position = nil
        state.bell = nil
      }
      return (isWanted, !state.isActive)
    }
    guard isWanted else {
      subscription?.cancel()
      subscription = nil
      schedule.note(.unobserved, at: BootClock.now())
      return false
    }
    guard waiting else { return true }
    do {
      try source.files.check()
      try begin()
    } catch {
      let translated = BoutiqueError.translate(error, path: source.factory.path)
      let continuations = hub.monitor.withLock { state in
        defer { state.waitingForActivation = [] }
        return state.waitingForActivation
      }
      for continuation in continuations { continuation.resume(throwing: translated) }
      return false
    }
    return true
  }

  private func begin() throws {
    let connection = try self.connection ?? source.factory.openReader().0
    self.connection = connection
    // The watch first: a commit between it and the reading of the position is found by both.
    if subscription == nil, source.usesInotify {
      let hub = hub
      subscription = BellWatcher.shared.watch(databasePath: source.factory.path) { hub.note($0) }
    }
    let position = try inTransaction(connection) { try ChangeReader.head(on: connection) }
    // What was committed while nobody listened is in no run that began before.
    hub.runs.noteEvent()
    let mode = subscription?.mode ?? .pollingOnly(reason: "inotify is switched off")
    let continuations = hub.monitor.withLock { state in
      state.position = position
      state.isActive = true
      state.bell = mode
      defer { state.waitingForActivation = [] }
      return state.waitingForActivation
    }
    schedule.note(.observed, at: BootClock.now())
    for continuation in continuations { continuation.resume() }
  }

  // MARK: Looking

  /// Reads what was committed since the last look.
  ///
  /// - Returns: whether anything was.
  private func look(tail: ChangeReader.Tail) throws -> Bool {
    guard let connection, let position = hub.monitor.withLock(\.position) else { return false }
    let counter = connection.walIndexHeader()?.change
    defer { adoptedAfter = nil }
    if let counter, counter == position.counter { return false }
    var found = false
    var tail = tail
    while true {
      guard let from = hub.monitor.withLock(\.position) else { return found }
      let batch = try inTransaction(connection) {
        try ChangeReader.changes(
          after: from, limit: 512, presence: .unknown, tail: tail, on: connection)
      }
      hub.deliver(batch)
      if !batch.changes.isEmpty { found = true }
      if batch.awaitsAdoption {
        // When the log has not grown by the last attempt, another will not help.
        guard adoptedAfter == batch.position.token else {
          adopt()
          return found
        }
        tail = .everything
      } else if !batch.hasMore {
        return found
      }
    }
  }

  // MARK: Foreign commits

  /// Has foreign commits put into the log; the outcome is a wake-up.
  private func adopt() {
    guard adoptingAfter == nil, let adopter = source.adopter else { return }
    adoptingAfter = hub.monitor.withLock { $0.position?.token ?? 0 }
    adopter.request { [hub] isAdopted in hub.wake(isAdopted ? .adopted : .notAdopted) }
  }

  /// What foreign commits become that are not in the log yet.
  private func tail(after wakes: Set<ChangeHub.Wake>) -> ChangeReader.Tail {
    if !wakes.isDisjoint(with: [.adopted, .notAdopted]) {
      adoptedAfter = wakes.contains(.notAdopted) ? nil : adoptingAfter
      adoptingAfter = nil
    }
    return source.adopter == nil || wakes.contains(.notAdopted) ? .everything : .awaited
  }

  private func inTransaction<R>(_ connection: Connection, _ body: () throws -> R) throws -> R {
    try connection.execute("BEGIN")
    defer {
      connection.resetBusyStatements()
      ImmediateTransaction.rollback(on: connection)
    }
    return try body()
  }
}
