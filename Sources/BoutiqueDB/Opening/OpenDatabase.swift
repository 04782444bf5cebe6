import Dispatch
import SharedFileCoordination
import Synchronization

/// Everything that belongs to one open database of this process.
final class OpenDatabase: Sendable {
  private struct Life {
    var isClosing = false
    var isClosed = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  let path: String
  let configuration: BoutiqueConfiguration
  /// nil for a database opened for reading only.
  let gate: WriteGate?
  /// nil for a database in memory, whose reads share the writer's connection.
  let pool: ReaderPool?
  let hub: ChangeHub
  let files: OpenedFiles?
  let factory: ConnectionFactory
  let coordination: CoordinationFile?
  let checkpointer: Checkpointer
  let plan: BoutiqueMigrationPlan
  private let fork = ForkGuard()
  private let life = Mutex(Life())

  init(
    path: String, configuration: BoutiqueConfiguration, gate: WriteGate?, pool: ReaderPool?,
    hub: ChangeHub, files: OpenedFiles?, factory: ConnectionFactory,
    coordination: CoordinationFile?, checkpointer: Checkpointer, plan: BoutiqueMigrationPlan
  ) {
    self.path = path
    self.configuration = configuration
    self.gate = gate
    self.pool = pool
    self.hub = hub
    self.files = files
    self.factory = factory
    self.coordination = coordination
    self.checkpointer = checkpointer
    self.plan = plan
  }

  /// Throws when this database can no longer be used here.
  func checkUsable() throws {
    guard fork.isSameProcess else { throw BoutiqueError.usedAcrossFork(path: path) }
    if life.withLock(\.isClosing) { throw BoutiqueError.closed(path: path) }
  }

  /// The present continuity (see `CoordinationFile.continuity`); nil where nobody can vouch for foreign
  /// commits while this process was away.
  var continuity: Int64? {
    // A database in memory has no other programs.
    if pool == nil { return 1 }
    guard configuration.multiProcess else { return nil }
    return coordination?.continuity ?? CoordinationFile.continuity(forDatabase: path)
  }

  // MARK: Transactions

  func write<R: Sendable>(
    purpose: String, _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> R {
    let result = Mutex<R?>(nil)
    try await submit(
      .transaction { connection in
        let value = try body(connection)
        result.withLock { $0 = value }
      }, purpose: purpose)
    return try result.withLock { try Self.unwrap($0) }
  }

  /// Runs something on the writer thread, under the lease but outside a transaction.
  func maintain<R: Sendable>(
    purpose: String, _ body: @escaping @Sendable (Writer) throws -> R
  ) async throws -> R {
    let result = Mutex<R?>(nil)
    try await submit(
      .maintenance { writer in
        let value = try body(writer)
        result.withLock { $0 = value }
      }, purpose: purpose)
    return try result.withLock { try Self.unwrap($0) }
  }

  private func submit(_ work: PendingWrite.Work, purpose: String) async throws {
    try checkUsable()
    guard let gate else {
      throw BoutiqueError.readOnly(path: path, message: "it was opened for reading only")
    }
    try RunningWrite.check(gate: gate)
    try await PendingWrite(work, purpose: purpose, timeout: configuration.writeLockTimeout)
      .run(through: gate)
  }

  func read<R: Sendable>(
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> R {
    try checkUsable()
    let result = Mutex<R?>(nil)
    let outcome = Rendezvous()
    let run: @Sendable (BoutiqueConnection) throws -> Void = { connection in
      let value = try body(connection)
      result.withLock { $0 = value }
    }
    let work = ReadWork(body: run) { outcome.complete($0.map { _ in }) }
    try await withTaskCancellationHandler {
      submit(work)
      try await outcome.value()
    } onCancel: {
      work.cancel()
    }
    return try result.withLock { try Self.unwrap($0) }
  }

  /// Hands a read to a connection.
  func submit(_ work: ReadWork) {
    if let pool {
      pool.submit(work)
    } else if let gate {
      // In memory there is one connection; nobody waits for the result here, the completion tells.
      gate.submit(PendingWrite(.read(work), purpose: "read", timeout: .seconds(1 << 30)))
    } else {
      work.fail(BoutiqueError.closed(path: path))
    }
  }

  /// Hands several reads to connections.
  func submit(_ works: [ReadWork]) {
    if let pool { pool.submit(works) } else { for work in works { submit(work) } }
  }

  private static func unwrap<R>(_ value: R?) throws -> R {
    // A closure that returned has stored its value; nothing else leads here.
    guard let value else { throw BoutiqueError.connectionEnded }
    return value
  }

  // MARK: Closing

  /// Closes and waits for the end. The order, kept by the writer thread (`DatabaseOpener.shutDown`):
  ///
  /// 1. no new work is taken, and writes in the line finish;
  /// 2. observers end;
  /// 3. reads in the line finish, readers close;
  /// 4. the writer closes, under the lease, since the last one to close checkpoints;
  /// 5. slot and lock file are given up.
  func close() async {
    beginClosing()
    await withCheckedContinuation { continuation in
      let isClosed = life.withLock { life in
        if !life.isClosed { life.waiting.append(continuation) }
        return life.isClosed
      }
      if isClosed { continuation.resume() }
    }
  }

  /// Closes in the background.
  func abandon() {
    // The parent of a fork owns the files; the child must not even close them.
    guard fork.isSameProcess else { return }
    beginClosing()
  }

  private func beginClosing() {
    let isFirst = life.withLock { life in
      defer { life.isClosing = true }
      return !life.isClosing
    }
    guard isFirst else { return }
    if let gate {
      gate.close()
    } else {
      let close: @Sendable () -> Void = {
        self.hub.close(path: self.path)
        self.pool?.close()
        self.coordination?.close()
        self.didClose()
      }
      // Without a thread to be had, a thread of Dispatch has to wait for the readers.
      if !DatabaseThread.start(name: "boutique-close", close) {
        DispatchQueue.global().async(execute: close)
      }
    }
  }

  /// Called when the last step of closing is done.
  func didClose() {
    let waiting = life.withLock { life in
      life.isClosed = true
      defer { life.waiting = [] }
      return life.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
