import Foundation
import SQLiteConnection
import SharedFileCoordination
import Synchronization

/// The one thread of a process that writes to the database: the corridor of a write.
///
/// For each write, in this order, with what a death of the process after the step leaves behind:
///
/// 1. the gate gives the next write of this process: nothing happened;
/// 2. the write lease gives this process its turn among processes: the kernel drops it at death;
/// 3. the files are still the ones that were opened, else nothing is written: nothing happened;
/// 4. `BEGIN IMMEDIATE` (programs that do not know the lease are met here): SQLite rolls back;
/// 5. the closure runs, the hook collects what it changes: SQLite rolls back;
/// 6. the change log's row is written and the transaction committed: committed, others learn of it by the
///    poll;
/// 7. the bell is rung: others look by themselves;
/// 8. this process's live queries are told from memory, and the caller is resumed.
///
/// More waiting writes follow under the same lease for at most a quantum while other processes wait.
/// Checkpoints run here too, under the lease: SQLite up to 3.51.2 can lose committed pages when a
/// checkpoint runs beside a writer that restarts the log (SQLite, "Write-Ahead Logging", section on the
/// WAL-reset bug).
///
/// Confined to the thread that runs `run`.
final class Writer {
  let sqlite: Connection
  let log: ChangeLogWriter
  let path: String
  private let limits: StatementLimits
  private let collector: ChangeCollector
  private let files: OpenedFiles?
  private let coordination: CoordinationFile?
  private let gate: WriteGate
  private let hub: ChangeHub
  private let checkpointer: Checkpointer
  private let configuration: BoutiqueConfiguration

  init(
    sqlite: Connection, limits: StatementLimits, log: ChangeLogWriter, collector: ChangeCollector,
    files: OpenedFiles?, coordination: CoordinationFile?, gate: WriteGate, hub: ChangeHub,
    checkpointer: Checkpointer, configuration: BoutiqueConfiguration
  ) {
    self.sqlite = sqlite
    self.limits = limits
    self.log = log
    path = sqlite.path
    self.collector = collector
    self.files = files
    self.coordination = coordination
    self.gate = gate
    self.hub = hub
    self.checkpointer = checkpointer
    self.configuration = configuration
  }

  /// Whether the files are the ones that were opened and the log holds what its index says, so that a
  /// checkpoint copies no hole.
  private var isLogWhole: Bool {
    guard let files else { return true }
    do {
      try files.check()
      try files.checkLog(of: sqlite)
      return true
    } catch {
      return false
    }
  }

  /// Whether foreign keys are enforced outside migrations.
  var enforcesForeignKeys: Bool { configuration.foreignKeys }

  /// Serves writes until the gate is closed and empty.
  func run() {
    while let first = gate.waitForWork() {
      guard let coordination, !first.isRead else {
        serve()
        continue
      }
      do {
        // A first write that is cancelled leaves its place in line to the ones behind it.
        let turn = try coordination.writeLease.acquire(
          deadline: BootClock.now().advanced(by: first.remainingTime), purpose: first.purpose,
          isCancelled: { [gate] in !gate.hasWork })
        serve(turn)
      } catch .cancelled {
        continue
      } catch {
        var failure = BoutiqueError(error, databasePath: path)
        if case .lockTimeout(var timeout) = failure {
          // The caller has also waited in the line of its own process.
          timeout.waited = first.enqueued.duration(to: .now())
          failure = .lockTimeout(timeout)
        }
        first.giveUp(failure)
      }
    }
  }

  private func serve(_ turn: consuming WriteTurn) {
    while let write = gate.take() {
      let outcome = perform(write)
      if outcome.change != nil { turn.ring() }
      conclude(write, outcome)
      // After each write, not after the turn: while nobody else waits a turn has no end.
      checkpointer.runIfDue(on: sqlite, limits: limits) { isLogWhole }
      if turn.shouldHandOver() { break }
    }
    turn.finish()
  }

  private func serve() {
    while let write = gate.take() {
      conclude(write, perform(write))
      checkpointer.runIfDue(on: sqlite, limits: limits) { isLogWhole }
    }
  }

  /// Moves the log into the database and notes it as complete, when no other process of ours is there.
  ///
  /// Call with the lease held, before closing.
  func putToRest() {
    guard let coordination, !coordination.hasOtherMember, isLogWhole else { return }
    limits.wait = .zero
    // A reader in the way, or a full disk: then the next session has no proof.
    if sqlite.walIndexHeader().map({ $0.maxFrame > 0 }) ?? false,
      (try? sqlite.checkpoint(.truncate))?.busy != false
    {
      return
    }
    coordination.noteRest { sqlite.logState }
  }

  /// Closes the connection.
  ///
  /// The last one of all processes moves the log into the database, which must not happen beside a
  /// writer.
  ///
  /// - Parameter checkpointing: whether the lease is held.
  func close(checkpointing: Bool) {
    sqlite.checkpointsOnClose = checkpointing && isLogWhole
    sqlite.close()
  }

  // MARK: One write

  private struct Outcome {
    var result: Result<Void, any Error>
    var change: ChangeSet?
  }

  private func perform(_ write: PendingWrite) -> Outcome {
    switch write.work {
    case .read(let work):
      work.run(on: sqlite, limits: limits, isShared: true)
      return Outcome(result: .success(()))
    case .maintenance(let body):
      limits.wait = write.remainingTime
      let result = Result { () throws -> Void in
        try files?.check()
        try files?.checkLog(of: sqlite)
        try body(self)
      }
      log.didRollBack()
      return Outcome(result: result.mapError { BoutiqueError.translate($0, path: path) })
    case .transaction(let body):
      do {
        let change = try transaction(for: write, body)
        return Outcome(result: .success(()), change: change)
      } catch {
        return Outcome(result: .failure(BoutiqueError.translate(error, path: path)))
      }
    }
  }

  private func conclude(_ write: PendingWrite, _ outcome: Outcome) {
    if let change = outcome.change { hub.publish(change) }
    if case .failure(BoutiqueError.fileReplaced) = outcome.result,
      case .failure(let error) = outcome.result
    {
      hub.fail(error)
    }
    write.finish(outcome.result)
  }

  /// Runs a closure in a transaction of its own and commits it.
  ///
  /// - Returns: what was committed, or nil when nothing was changed.
  private func transaction(
    for write: PendingWrite, _ body: (BoutiqueConnection) throws -> Void
  ) throws -> ChangeSet? {
    try files?.check()
    limits.wait = write.remainingTime
    limits.cancellation = write.cancellation
    defer { limits.cancellation = nil }
    guard write.cancellation.begin(sqlite.interruption) else { throw CancellationError() }
    return try committing(since: write.enqueued, cancellation: write.cancellation) { connection in
      try RunningWrite.within(gate: gate) { try body(connection) }
    }
  }

  /// Runs `body` between BEGIN IMMEDIATE and COMMIT, with capture.
  ///
  /// - Parameter isOwnWork: whether the library's own tables may be touched.
  func committing(
    since start: MonotonicTime, cancellation: CancellationFlag? = nil, isOwnWork: Bool = false,
    _ body: (BoutiqueConnection) throws -> Void
  ) throws -> ChangeSet? {
    do {
      try ImmediateTransaction.begin(on: sqlite)
    } catch {
      if let cancellation, !cancellation.end() { throw CancellationError() }
      guard error.code.primary == .busy else { throw error }
      throw BoutiqueError.lockTimeout(
        LockTimeout(foreignHolderOf: path, waited: start.duration(to: .now())))
    }
    let connection = BoutiqueConnection(
      sqlite: sqlite, role: .write, collector: collector, cancellation: cancellation,
      mayTouchInternalTables: isOwnWork)
    do {
      // With SQLite's write lock held, no other program's checkpoint can cut the log.
      try files?.checkLog(of: sqlite)
      try log.begin()
      collector.reset()
      let changesBefore = sqlite.totalChanges
      try body(connection)
      try connection.checkProcess()
      connection.end()
      if let error = connection.fatalError { throw error }
      if let cancellation, !cancellation.end() { throw CancellationError() }
      // Pages that were changed and changed back (by a savepoint) are committed all the same and move the
      // counter; without a row that would look like a foreign commit.
      let isUntouched = collector.isEmpty && sqlite.totalChanges == changesBefore
      let change =
        isUntouched
        ? nil : try log.append(collector.summary(), schemaChanged: collector.hasSchemaChange)
      try ImmediateTransaction.commit(on: sqlite)
      log.didCommit(change)
      return change
    } catch {
      if case BoutiqueError.usedAcrossFork = error {
        // A child of fork shares the memory of the WAL index with its parent: not even a rollback here.
        sqlite.abandon()
        throw error
      }
      connection.end()
      let wasCancelled = cancellation.map { !$0.end() } ?? false
      ImmediateTransaction.rollback(on: sqlite)
      log.didRollBack()
      // The statement that a cancellation interrupted says so in SQLite's words only.
      if wasCancelled { throw CancellationError() }
      // The error that ended the transaction is the cause; what the closure made of it is not.
      throw connection.fatalError ?? error
    }
  }
}

extension PendingWrite {
  fileprivate var isRead: Bool {
    if case .read = work { true } else { false }
  }
}

/// Marks the running closure of a write, so that a write started inside it is recognised.
///
/// Such a write could only run after the closure has ended, and a closure that waits for it would wait
/// for ever.
enum RunningWrite {
  private final class Marker: Sendable {
    let gate: ObjectIdentifier
    let isOpen = Atomic(true)
    init(gate: ObjectIdentifier) { self.gate = gate }
  }

  // Task-local, since a task started in the closure inherits it.
  @TaskLocal private static var current: Marker?

  static func within(gate: WriteGate, _ body: () throws -> Void) rethrows {
    let marker = Marker(gate: ObjectIdentifier(gate))
    defer { marker.isOpen.store(false, ordering: .releasing) }
    try $current.withValue(marker) { try body() }
  }

  /// Throws ``BoutiqueError/transactionInProgress`` inside a running write of the same database.
  static func check(gate: WriteGate) throws {
    guard let current, current.gate == ObjectIdentifier(gate),
      current.isOpen.load(ordering: .acquiring)
    else { return }
    throw BoutiqueError.transactionInProgress
  }
}
