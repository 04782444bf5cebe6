import Dispatch
import SQLiteConnection
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
  /// The durable consumers of this open database.
  let consumers: ActiveConsumers
  let plan: BoutiqueMigrationPlan
  let markReader: CommitMarkReader
  private let fork = ForkGuard()
  private let life = Mutex(Life())

  init(
    path: String, configuration: BoutiqueConfiguration, gate: WriteGate?, pool: ReaderPool?,
    hub: ChangeHub, files: OpenedFiles?, factory: ConnectionFactory,
    coordination: CoordinationFile?, checkpointer: Checkpointer, consumers: ActiveConsumers,
    plan: BoutiqueMigrationPlan, markReader: CommitMarkReader
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
    self.consumers = consumers
    self.plan = plan
    self.markReader = markReader
  }

  /// Throws when this database can no longer be used here.
  func checkUsable() throws {
    // Without a system call, for each read and write: where a program forks past the C library there is
    // no thread in the child that could serve it, nor any to wait.
    guard fork.isSameGeneration else { throw BoutiqueError.usedAcrossFork(path: path) }
    if life.withLock(\.isClosing) { throw BoutiqueError.closed(path: path) }
  }

  /// What is known of the present continuity (see `CoordinationFile.continuity`); nothing where nobody can
  /// vouch for foreign commits while this process was away.
  ///
  /// - Parameter sqlite: a reader's connection that has not begun its snapshot.
  func presence(on sqlite: Connection) -> Presence {
    // A database in memory has no other programs.
    if pool == nil { return Presence(continuity: 1) }
    guard configuration.multiProcess else { return .unknown }
    if let coordination, let continuity = coordination.continuity {
      return Presence(continuity: continuity, bridge: coordination.bridge)
    }
    let continuity = CoordinationFile.continuity(forDatabase: path)
    return Presence(
      continuity: continuity,
      bridge: CoordinationFile.bridge(forDatabase: path, continuity: continuity) {
        sqlite.logState
      })
  }

  // MARK: Transactions

  func write<R: Sendable>(
    purpose: String, priority: WritePriority = .normal, limit: Duration? = nil,
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> R {
    let result = Mutex<R?>(nil)
    try await submit(
      pending(
        .transaction { connection in
          let value = try body(connection)
          result.withLock { $0 = value }
        }, purpose: purpose, priority: priority, limit: limit))
    return try result.withLock { try Self.unwrap($0) }
  }

  func writeWithToken<R: Sendable>(
    purpose: String, priority: WritePriority, limit: Duration?,
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> (value: R, token: ChangeToken) {
    let result = Mutex<R?>(nil)
    let write = pending(
      .transaction { connection in
        let value = try body(connection)
        result.withLock { $0 = value }
      }, purpose: purpose, priority: priority, limit: limit, wantsToken: true)
    try await submit(write)
    return (try result.withLock { try Self.unwrap($0) }, try Self.unwrap(write.token))
  }

  private func pending(
    _ work: PendingWrite.Work, purpose: String, priority: WritePriority = .normal,
    limit: Duration? = nil, wantsToken: Bool = false
  ) -> PendingWrite {
    PendingWrite(
      work, purpose: purpose, priority: priority, wait: configuration.writeLockTimeout,
      limit: limit, wantsToken: wantsToken, path: path)
  }

  /// Commits an alteration of the schema by itself, with foreign keys not enforced meanwhile.
  func alterSchema<R: Sendable>(
    _ id: String, _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> R {
    let result = Mutex<R?>(nil)
    let work = PendingWrite.Work.alteration { connection in
      let value = try body(connection)
      result.withLock { $0 = value }
    }
    try await submit(
      PendingWrite(work, purpose: id, wait: configuration.migrationTimeout, path: path))
    return try result.withLock { try Self.unwrap($0) }
  }

  /// Runs something on the writer thread, under the lease but outside a transaction.
  func maintain<R: Sendable>(
    purpose: String, _ body: @escaping @Sendable (Writer) throws -> R
  ) async throws -> R {
    let result = Mutex<R?>(nil)
    try await submit(
      pending(
        .maintenance { writer in
          let value = try body(writer)
          result.withLock { $0 = value }
        }, purpose: purpose))
    return try result.withLock { try Self.unwrap($0) }
  }

  /// Writes into the library's own tables, in a commit that changes nothing for observers.
  ///
  /// Others get no bell for it: there is nothing for them to see.
  func writeOwn<R: Sendable>(
    purpose: String, _ body: @escaping @Sendable (Connection) throws -> R
  ) async throws -> R {
    let hub = hub
    return try await maintain(purpose: purpose) { writer in
      var result: R?
      let change = try writer.committing(since: .now(), isOwnWork: true) { _ in
        result = try body(writer.sqlite)
      }
      // The hub's place in the chain goes on, so that it need not look.
      if let change { hub.publish(change) }
      return try Self.unwrap(result)
    }
  }

  private func submit(_ write: PendingWrite) async throws {
    try checkUsable()
    guard let gate else {
      throw BoutiqueError.readOnly(path: path, message: "it was opened for reading only")
    }
    try RunningWrite.check(gate: gate)
    try await write.run(through: gate)
    runOffered()
  }

  func read<R: Sendable>(
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> R {
    try checkUsable()
    if let pool, let value = try await pool.readInPlace(body) { return value }
    let result = Mutex<R?>(nil)
    let outcome = Rendezvous()
    let run: @Sendable (BoutiqueConnection) throws -> Void = { connection in
      let value = try body(connection)
      result.withLock { $0 = value }
    }
    let work = ReadWork(pace: pool?.pace(of: R.self), body: run) {
      outcome.complete($0.map { _ in })
    }
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
      gate.submit(
        PendingWrite(.read(work), purpose: "read", wait: .seconds(1 << 30), path: path))
    } else {
      work.fail(BoutiqueError.closed(path: path))
    }
  }

  /// Runs the reads of live queries that a write of this process has left to its caller.
  private func runOffered() {
    let works = hub.takeOffered()
    guard !works.isEmpty else { return }
    if let pool { pool.runInPlace(works) } else { submit(works) }
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

extension Connection {
  /// What the log's index says now; nil when there is none.
  var logState: LogState? {
    walIndexHeader().map { LogState(counter: $0.change, isEmpty: $0.maxFrame == 0) }
  }
}
