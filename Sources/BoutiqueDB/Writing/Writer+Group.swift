// One transaction for several writes that wait at the same time: group commit.
//
// For: the cost of a commit (the log's frames, `fsync` where configured, the change log's row, the
// bell) paid once for up to `groupCommitLimit` writes.
//
// Invariants
//  1. Nobody's closure runs twice, and nobody is told of success before the commit.
//  2. What one member does wrong undoes that member only: each runs in a savepoint, but for the
//     first, which has nobody before it; when the first fails the transaction is rolled back with
//     nothing else in it.
//  3. A member is never interrupted in a way that ends the transaction. SQLite does so when a
//     statement that writes is interrupted, so such a statement is let come to its end (`StatementLimits`),
//     and writes with a time limit of their own only begin groups. `OR ROLLBACK` is run as `OR ABORT`
//     (`ConflictText`), and where the schema itself says ROLLBACK there are no groups.
//  4. When SQLite ends the transaction nonetheless (disk full, I/O error), or the commit fails, all
//     that were in it get that error. Also those that had failed by themselves: they may have failed
//     because of what another had written, which now never was.
//  5. One commit, one row in the change log, one token: the group is one commit for everybody.
//  6. Each member answers for the foreign keys that are checked at the end: before the next one
//     begins there are no violations.
//
// Steps: take the first → BEGIN IMMEDIATE → its closure → [take the next → SAVEPOINT → closure → look
// at foreign keys → RELEASE]… → change log's row → COMMIT → bell → everybody is told.
//
// Death before the commit mark is in the log: nothing of any member; after it: all that had not
// failed. Nobody was told yet in either case.

import FaultPoints
import SQLiteConnection
import SharedFileCoordination

/// The writes of one transaction and how each has ended so far.
struct WriteGroup {
  private(set) var members: [(write: PendingWrite, result: Result<Void, any Error>)] = []

  var count: Int { members.count }
  var wantsToken: Bool { members.contains { $0.write.wantsToken } }

  mutating func settle(_ write: PendingWrite, _ result: Result<Void, any Error>) {
    members.append((write, result))
  }

  /// The transaction is gone, and with it what each member did, saw or failed at.
  mutating func lose(_ error: any Error) {
    for index in members.indices { members[index].result = .failure(error) }
  }

  mutating func removeAll() { members.removeAll(keepingCapacity: true) }
}

extension Writer {
  /// What the members have done so far.
  private struct Progress {
    /// Whether one that ended well changed rows.
    var hasChanges = false
    /// Whether one that ended well did what only a commit makes last.
    var needsCommit = false
    /// Whether something was undone.
    var hasUndone = false
    /// Whether one did something that is not to be mixed with what others do, failed or not.
    var isClosed = false
  }

  /// Runs a write in a transaction, together with those behind it that may share it.
  ///
  /// - Returns: what was committed, or nil when nothing was changed.
  func transaction(
    for first: PendingWrite, _ body: (BoutiqueConnection) throws -> Void,
    mustHandOver: (Bool) -> Bool
  ) -> ChangeSet? {
    defer {
      limits.cancellation = nil
      limits.isShared = false
    }
    var progress = Progress()
    let start: MonotonicTime
    do {
      let now = hold.begin(.starting)
      let isLook = try checkFiles(at: now)
      limits.wait = first.remainingTime
      limits.cancellation = first.cancellation
      guard first.cancellation.begin(sqlite.interruption) else { throw CancellationError() }
      try begin(since: first.enqueued, first.cancellation)
      if isLook { didCheckFiles(at: now) }
      start = hold.begin(.running(purpose: first.purpose))
      do {
        try run(first, body, isShared: false, &progress)
      } catch {
        if sqlite.isOpen { undo() }
        throw error
      }
    } catch {
      group.settle(first, .failure(error))
      return nil
    }
    group.settle(first, .success(()))
    if Sabotage.earlyAcknowledgement.isOn { first.end()?.resume() }
    do {
      limits.cancellation = nil
      try letJoin(since: start, &progress, mustHandOver)
      return try commitGroup(progress)
    } catch {
      if sqlite.isOpen { undo() }
      group.lose(error)
      return nil
    }
  }

  private func commitGroup(_ progress: Progress) throws -> ChangeSet? {
    if group.count > 1, !fork.isSameProcess {
      sqlite.abandon()
      throw BoutiqueError.usedAcrossFork(path: path)
    }
    let wantsToken = group.wantsToken
    if progress.hasUndone, !progress.hasChanges, !progress.needsCommit, !log.hasWritten {
      // Only what was undone was ever written; a commit of it would look like a foreign one.
      if wantsToken { note(ChangeToken(try ChangeReader.head(on: sqlite))) }
      undo()
      return nil
    }
    let generation = wantsToken ? try ChangeReader.generation(on: sqlite) : nil
    // Where something is committed its own number is the token.
    let isEmpty = !progress.hasChanges && collector.isEmpty
    let head = wantsToken && isEmpty ? ChangeToken(try ChangeReader.head(on: sqlite)) : nil
    let change = try commit(hasChanges: progress.hasChanges)
    if let change, let generation {
      note(
        ChangeToken(
          generation: generation, number: change.token, stamp: change.stamp,
          counter: change.counterAfter, continuity: change.continuity))
    } else if let head {
      note(head)
    }
    return change
  }

  private func note(_ token: ChangeToken) {
    for (write, _) in group.members where write.wantsToken { write.note(token) }
  }

  // MARK: Those who join

  /// Takes in waiting writes as long as that is to everybody's good.
  ///
  /// Throws when the transaction is lost.
  private func letJoin(
    since start: MonotonicTime, _ progress: inout Progress, _ mustHandOver: (Bool) -> Bool
  ) throws {
    let limit = configuration.groupCommitLimit
    guard limit > 1, !log.schemaMayRollBack else { return }
    let long = max(configuration.leaseQuantum, .milliseconds(1)).nanosecondsClamped
    var last = start
    while group.count < limit, !progress.isClosed,
      collector.count <= configuration.captureRowLimit
    {
      let now = MonotonicTime.now()
      if now.nanoseconds - last.nanoseconds > long { return }
      if now.nanoseconds - start.nanoseconds > long, mustHandOver(false) { return }
      // What the first has violated it must answer for at the commit, alone.
      if group.count == 1, sqlite.hasDeferredViolations { return }
      guard let next = nextToJoin(mustHandOver) else { return }
      last = now
      try join(next, &progress)
    }
  }

  private func nextToJoin(_ mustHandOver: (Bool) -> Bool) -> PendingWrite? {
    switch gate.takeToJoin(evenYielding: false) {
    case .nobody: return nil
    case .write(let write): return write
    case .yields:
      guard !mustHandOver(true), case .write(let write) = gate.takeToJoin(evenYielding: true)
      else { return nil }
      return write
    }
  }

  private func join(_ member: PendingWrite, _ progress: inout Progress) throws {
    guard case .transaction(let body) = member.work else { return }
    do {
      let savepoint = try memberSavepoint()
      try savepoint.begin()
      let part = collector.beginPart()
      do {
        limits.isShared = true
        limits.cancellation = member.cancellation
        defer { limits.cancellation = nil }
        // Without the connection's interruption: see invariant 3.
        guard member.cancellation.begin(nil) else { throw CancellationError() }
        var own = Progress()
        defer { progress.isClosed = own.isClosed }
        try run(member, body, isShared: true, &own)
        if sqlite.hasDeferredViolations { throw SQLiteError.deferredForeignKey(path: path) }
        limits.cancellation = nil
        try savepoint.keep()
        progress.hasChanges = progress.hasChanges || own.hasChanges
        progress.needsCommit = progress.needsCommit || own.needsCommit
        group.settle(member, .success(()))
      } catch {
        // A full disk has undone everything; nothing is left that could be kept.
        guard sqlite.isInTransaction else { throw error }
        try savepoint.undo()
        collector.undo(part)
        progress.hasUndone = true
        if member.cancellation.isCancelled, error is CancellationError {
          // Depends on nothing that others did, and its caller wants to be gone.
          member.finish(.failure(error))
        } else {
          group.settle(member, .failure(error))
        }
      }
    } catch {
      group.settle(member, .failure(error))
      throw error
    }
  }

  // MARK: One closure

  /// Runs a closure in the open transaction.
  ///
  /// Throws what it failed with; what it did is still there then.
  private func run(
    _ write: PendingWrite, _ body: (BoutiqueConnection) throws -> Void, isShared: Bool,
    _ progress: inout Progress
  ) throws {
    let connection = BoutiqueConnection(
      sqlite: sqlite, role: .write, collector: collector, cancellation: write.cancellation,
      isShared: isShared, fork: fork)
    letTriggersFollow(connection)
    #if FAULT_POINTS
      if Sabotage.noLease.isOn { connection.goOnAfterConflict = { [self] in try beginAnew() } }
    #endif
    let changesBefore = sqlite.totalChanges
    defer { progress.isClosed = connection.hasSpecialEffects }
    do {
      try RunningWrite.within(gate: gate) { try body(connection) }
      try connection.checkProcess(thoroughly: !isShared)
      connection.end()
      if let error = connection.fatalError { throw error }
      if !write.cancellation.end() { throw write.cancellation.stop ?? CancellationError() }
      if connection.madeRollback { log.noteRollbackInSchema() }
      progress.hasChanges = sqlite.totalChanges != changesBefore
      progress.needsCommit = connection.hasSpecialEffects
    } catch {
      do {
        try connection.checkProcess()
      } catch {
        // A child of fork shares the memory of the WAL index with its parent: not even a rollback here.
        sqlite.abandon()
        throw error
      }
      connection.end()
      // The statement that a cancellation interrupted says so in SQLite's words only.
      if !write.cancellation.end(), let stop = write.cancellation.stop { throw stop }
      // The error that ended the transaction is the cause; what the closure made of it is not.
      throw connection.fatalError ?? error
    }
  }
}

extension SQLiteError {
  /// What COMMIT says of violated foreign keys that are checked at the end.
  fileprivate static func deferredForeignKey(path: String) -> SQLiteError {
    SQLiteError(
      code: .constraintForeignKey, message: "FOREIGN KEY constraint failed", sql: "COMMIT",
      path: path)
  }
}
