import FaultPoints
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
/// Writes that wait at the same time may share steps 4 to 8 (`Writer+Group`). More waiting writes follow
/// under the same lease for at most a quantum while other processes wait.
/// Checkpoints run here too, under the lease: SQLite up to 3.51.2 can lose committed pages when a
/// checkpoint runs beside a writer that restarts the log (SQLite, "Write-Ahead Logging", section on the
/// WAL-reset bug).
///
/// Confined to the thread that runs `run`.
final class Writer {
  let sqlite: Connection
  let log: ChangeLogWriter
  let path: String
  let limits: StatementLimits
  let collector: ChangeCollector
  let files: OpenedFiles?
  private let coordination: CoordinationFile?
  let gate: WriteGate
  private let hub: ChangeHub
  private let checkpointer: Checkpointer
  let configuration: BoutiqueConfiguration
  let hold: HoldRecord
  let fork = ForkGuard()
  /// The writes of the transaction that is open or has just ended.
  var group = WriteGroup()
  private var savepoint: MemberSavepoint?
  private var repeated: RepeatedTransaction?
  private var callers:
    [(PendingWrite, UnsafeContinuation<Void, any Error>, Result<Void, any Error>)] = []
  private let facts: TurnFacts
  private var lingering = Lingering()
  /// A turn ends after that when nothing waits: at the beginning of one the lock file is compared with its path.
  private static let longestTurn = Duration.milliseconds(20)

  init(
    sqlite: Connection, limits: StatementLimits, log: ChangeLogWriter, collector: ChangeCollector,
    files: OpenedFiles?, coordination: CoordinationFile?, gate: WriteGate, hub: ChangeHub,
    checkpointer: Checkpointer, configuration: BoutiqueConfiguration, hold: HoldRecord,
    facts: TurnFacts
  ) {
    self.facts = facts
    self.hold = hold
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
    // Of the opening nobody has been told, and nobody has asked.
    hub.didTell { nil }
    while let first = nextWork() {
      guard let coordination, !first.isRead, !Sabotage.noLease.isOn else {
        serve()
        continue
      }
      do {
        hold.begin(.waiting)
        defer { hold.end() }
        // A first write that is cancelled leaves its place in line to the ones behind it.
        let turn = try coordination.writeLease.acquire(
          deadline: BootClock.now().advanced(by: first.remainingTime), purpose: first.purpose,
          yieldingFor: { [gate] in gate.yieldingSpan() },
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

  /// Waits for the next write.
  private func nextWork() -> PendingWrite? {
    if hub.isOffering {
      // The pool may have other things to do than to resume the caller.
      _ = gate.waitForWork(atMost: .microseconds(200))
      hub.withdrawOffer()
    }
    return gate.waitForWork()
  }

  private func serve(_ turn: consuming WriteTurn) {
    facts.forget()
    while let write = gate.take() ?? whoComesBack(turn.heldFor) {
      let change = perform(write) { turn.shouldHandOver(nextYields: $0) }
      if change != nil {
        FaultPoint.reach(.betweenCommitAndBell)
        turn.ring()
        FaultPoint.reach(.beforeAcknowledgement)
      }
      conclude(change)
      // After each commit, not after the turn: while nobody else waits a turn has no end.
      checkpointer.runIfDue(on: sqlite, limits: limits) { isLogWhole }
      if turn.shouldHandOver(nextYields: gate.nextYields) { break }
      turn.renew()
    }
    gate.noteReady(false)
    turn.finish()
  }

  /// Waits a moment for the next write of whom the last one was done for, as long as the quantum lasts, or,
  /// since nobody else wants the lease then, a while longer.
  private func whoComesBack(_ heldFor: Duration) -> PendingWrite? {
    guard heldFor < max(configuration.leaseQuantum, Self.longestTurn) else { return nil }
    if gate.lookForWork(), let write = gate.take() { return write }
    guard lingering.isWorthwhile() else { return nil }
    let hasCome = gate.waitForWork(atMost: Lingering.span)
    lingering.ended(withWrite: hasCome)
    return hasCome ? gate.take() : nil
  }

  private func serve() {
    facts.forget()
    defer { gate.noteReady(false) }
    while let write = gate.take() ?? (gate.lookForWork() ? gate.take() : nil) {
      conclude(perform(write) { _ in false })
      checkpointer.runIfDue(on: sqlite, limits: limits) { isLogWhole }
    }
    hold.end()
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

  /// Does what a write asks for; `group` holds afterwards who it was done for, and how it ended.
  ///
  /// - Parameter mustHandOver: whether the turn is over if a write comes next that yields, or does not.
  /// - Returns: what was committed, or nil when nothing was changed.
  private func perform(_ write: PendingWrite, mustHandOver: (Bool) -> Bool) -> ChangeSet? {
    hub.withdrawOffer()
    switch write.work {
    case .read(let work):
      work.run(on: sqlite, limits: limits, isShared: true)
      group.settle(write, .success(()))
      return nil
    case .maintenance(let body):
      limits.wait = write.remainingTime
      hold.begin(.running(purpose: write.purpose))
      let result = Result { () throws -> Void in
        try files?.check()
        try files?.checkLog(of: sqlite)
        try body(self)
      }
      facts.forget()
      log.didRollBack()
      group.settle(write, result)
      return nil
    case .alteration(let body):
      limits.wait = write.remainingTime
      hold.begin(.running(purpose: write.purpose))
      var change: ChangeSet?
      let result = Result { () throws -> Void in
        try files?.check()
        change = try Migrator.alterSchema(write.purpose, with: self, body)
      }
      facts.forget()
      group.settle(write, result)
      return change
    case .transaction(let body):
      return transaction(for: write, body, mustHandOver: mustHandOver)
    }
  }

  /// Tells everybody concerned how the last transaction ended.
  private func conclude(_ change: ChangeSet?) {
    if let change {
      // What foreign programs did before comes first.
      if let adopted = log.adopted { hub.publish(adopted) }
      hub.publish(change, offering: true)
    }
    hub.didTell { sqlite.walIndexHeader()?.change }
    for (write, result) in group.members {
      var result = result
      if case .failure(let error) = result {
        let translated = BoutiqueError.translate(error, path: path)
        if case BoutiqueError.fileReplaced = translated { hub.fail(translated) }
        result = .failure(translated)
      }
      if let caller = write.end() { callers.append((write, caller, result)) }
    }
    group.removeAll()
    // Before it can come back. Where several are resumed their threads have better things to do than to look.
    if callers.count == 1 { gate.noteReady(true) }
    // One right after the other: a thread of the pool that is woken for the first finds the rest there.
    for (write, caller, result) in callers {
      caller.resume(with: result)
      write.didResume()
    }
    callers.removeAll(keepingCapacity: true)
  }

  /// Runs `body` between BEGIN IMMEDIATE and COMMIT, with capture.
  ///
  /// - Parameter isOwnWork: whether the library's own tables may be touched.
  func committing(
    since start: MonotonicTime, isOwnWork: Bool = false, _ body: (BoutiqueConnection) throws -> Void
  ) throws -> ChangeSet? {
    try begin(since: start, nil)
    let connection = BoutiqueConnection(
      sqlite: sqlite, role: .write, collector: collector, mayTouchInternalTables: isOwnWork)
    letTriggersFollow(connection)
    do {
      let changesBefore = sqlite.totalChanges
      try body(connection)
      try connection.checkProcess()
      connection.end()
      if let error = connection.fatalError { throw error }
      return try commit(hasChanges: sqlite.totalChanges != changesBefore)
    } catch {
      if case BoutiqueError.usedAcrossFork = error {
        // A child of fork shares the memory of the WAL index with its parent: not even a rollback here.
        sqlite.abandon()
        throw error
      }
      connection.end()
      undo()
      // The error that ended the transaction is the cause; what the closure made of it is not.
      throw connection.fatalError ?? error
    }
  }

  /// Takes the triggers for foreign writers out of the way of what a closure does to a table.
  func letTriggersFollow(_ connection: BoutiqueConnection) {
    guard log.foreign.isPrecise else { return }
    connection.willAlter = { [log] in try log.foreign.willAlter($0) }
  }

  /// Adds the row to the change log and commits.
  ///
  /// Pages that were changed and changed back (by a savepoint) are committed all the same and move the
  /// counter; without a row that would look like a foreign commit.
  ///
  /// - Parameter hasChanges: whether rows were changed, be it that they were changed back.
  /// - Returns: what was committed, or nil when nothing was changed.
  func commit(hasChanges: Bool) throws -> ChangeSet? {
    let change =
      hasChanges || !collector.isEmpty
      ? try log.append(collector.summary(), schemaChanged: collector.hasSchemaChange)
      : try log.appendNothing()
    FaultPoint.reach(.beforeCommit)
    // Without a change nobody is told of the foreign commits that may have been found.
    if change != nil { hub.ownCommit.begin() }
    do {
      try transaction().commit()
    } catch {
      hub.ownCommit.didWrite()
      // Others' writes to the log may have been taken for ours.
      hub.wake(.writeAheadLog)
      throw error
    }
    hub.ownCommit.didWrite()
    log.didCommit(change)
    return change
  }

  /// Begins a transaction and learns where everything stands.
  func begin(since start: MonotonicTime, _ cancellation: CancellationFlag?) throws {
    let transaction = try transaction()
    do {
      if Sabotage.noLease.isOn { try sqlite.execute("BEGIN") } else { try transaction.begin() }
    } catch {
      // A time limit that is over here has been waited away: that is a matter of the lock.
      if let cancellation, !cancellation.end(), cancellation.isCancelled {
        throw CancellationError()
      }
      guard error.code.primary == .busy else { throw Self.cause(of: error, cancellation) }
      throw BoutiqueError.lockTimeout(
        LockTimeout(foreignHolderOf: path, waited: start.duration(to: .now())))
    }
    FaultPoint.reach(.afterBegin)
    do {
      // With SQLite's write lock held, no other program's checkpoint can cut the log. Each time, unlike
      // the files' identities: what is cut between two looks would be grown over and never noticed.
      try files?.checkLog(of: sqlite)
      try log.begin()
      collector.reset()
    } catch {
      undo()
      throw Self.cause(of: error, cancellation)
    }
  }

  /// Returns why a statement of ours was interrupted, which SQLite does not know.
  private static func cause(of error: any Error, _ cancellation: CancellationFlag?) -> any Error {
    guard let sqlite = error as? SQLiteError, sqlite.code.primary == .interrupt else {
      return error
    }
    return cancellation?.stop ?? error
  }

  /// Throws when the files are not those that were opened.
  ///
  /// - Returns: whether a look was due.
  func checkFiles(at now: MonotonicTime) throws -> Bool {
    guard let files, facts.mustLook(at: now) else { return false }
    try files.check()
    return true
  }

  /// Notes that the files were found as they should be.
  func didCheckFiles(at now: MonotonicTime) { facts.didLook(at: now) }

  private func transaction() throws(SQLiteError) -> RepeatedTransaction {
    if let repeated { return repeated }
    let made = try RepeatedTransaction(on: sqlite)
    repeated = made
    return made
  }

  /// The savepoint of a write that runs in a transaction which another has begun.
  func memberSavepoint() throws(SQLiteError) -> MemberSavepoint {
    if let savepoint { return savepoint }
    let made = try MemberSavepoint(on: sqlite)
    savepoint = made
    return made
  }

  /// Undoes the transaction, if it is still open.
  func undo() {
    facts.forget()
    ImmediateTransaction.rollback(on: sqlite)
    log.didRollBack()
  }
}

extension PendingWrite {
  fileprivate var isRead: Bool {
    if case .read = work { true } else { false }
  }
}
