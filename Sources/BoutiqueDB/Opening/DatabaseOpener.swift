import FaultPoints
import Foundation
import SQLiteConnection
import SharedFileCoordination

/// Opens a database, in this order; the writer thread is the one that opens, and then serves writes.
///
/// 1. The path, the directory, its file system: can a shared WAL database live here at all?
/// 2. The file is made when it is missing, with its mode, without ever opening it by a descriptor.
/// 3. SQLite reads its header: is it a database? Nothing has been written beside it so far.
/// 4. The lock file; this process takes a slot.
/// 5. Under the migration lease: WAL mode, the library's tables, the migrations. Other openers wait.
///
/// Where nothing of that is missing (`looksFinished`) a reader's connection finds it so and becomes the pool's
/// first, and the writer's connection is opened when it is needed (`LateWriter`).
struct DatabaseOpener {
  let path: String
  let configuration: BoutiqueConfiguration
  let plan: BoutiqueMigrationPlan
  let cancellation = CancellationFlag()

  private var isInMemory: Bool { path == ":memory:" }
  var sharesFile: Bool { configuration.multiProcess && !isInMemory }

  static func open(
    path: String, configuration: BoutiqueConfiguration, plan: BoutiqueMigrationPlan
  ) async throws -> OpenDatabase {
    let opener = DatabaseOpener(path: path, configuration: configuration, plan: plan)
    try opener.checkConfiguration()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isStarted = DatabaseThread.start(name: "boutique-write") {
          opener.openAndServe(continuation)
        }
        if !isStarted { continuation.resume(throwing: DatabaseThread.missing(path: path)) }
      }
    } onCancel: {
      opener.cancellation.cancel()
    }
  }

  private func checkConfiguration() throws {
    func refuse(_ message: String) -> BoutiqueError { .invalidConfiguration(message: message) }
    if configuration.readerCount < 1 { throw refuse("readerCount is at least 1") }
    if configuration.cdcPollInterval <= .zero {
      throw refuse("cdcPollInterval is longer than zero")
    }
    if configuration.writeLockTimeout < .zero { throw refuse("writeLockTimeout is not negative") }
    if configuration.migrationTimeout < .zero { throw refuse("migrationTimeout is not negative") }
    if configuration.leaseQuantum < .zero { throw refuse("leaseQuantum is not negative") }
    if configuration.groupCommitLimit < 1 { throw refuse("groupCommitLimit is at least 1") }
    if configuration.longHoldWarning <= .zero {
      throw refuse("longHoldWarning is longer than zero")
    }
    if configuration.backgroundWriteAging < .zero {
      throw refuse("backgroundWriteAging is not negative")
    }
    if configuration.captureRowLimit < 0 { throw refuse("captureRowLimit is not negative") }
    if configuration.captureByteLimit < 0 { throw refuse("captureByteLimit is not negative") }
    for table in configuration.captureModes.keys { try CaptureModes.check(table) }
    if configuration.cdcRetention.rows < 1 { throw refuse("cdcRetention keeps at least one row") }
    if configuration.cdcRetention.hardRows < configuration.cdcRetention.rows {
      throw refuse("cdcRetention's hardRows are not fewer than its rows")
    }
    if configuration.consumerExpiry < .zero { throw refuse("consumerExpiry is not negative") }
    if configuration.writeAheadLogBound < 0 { throw refuse("writeAheadLogBound is not negative") }
    if isInMemory, configuration.readOnly { throw refuse("a database in memory is not read-only") }
    try plan.check()
  }

  private func openAndServe(_ continuation: CheckedContinuation<OpenDatabase, any Error>) {
    let core: OpenDatabase
    let service: WritingService?
    do {
      (core, service) = try configuration.readOnly ? openForReading() : openForWriting()
    } catch {
      continuation.resume(throwing: BoutiqueError.translate(error, path: path))
      return
    }
    continuation.resume(returning: core)
    guard let service else { return }
    let writer = service.writer ?? lateWriter(service.parts)
    writer?.run()
    shutDown(core, service.parts, writer)
  }

  // MARK: For reading

  private func openForReading() throws -> (OpenDatabase, WritingService?) {
    let factory = ConnectionFactory(path: path, configuration: configuration)
    guard FileIdentity.of(path: path) != nil else { throw BoutiqueError.fileMissing(path: path) }
    if sharesFile { try FileSystemCheck.check(directory: FileFacts.directory(of: path)) }
    let (probe, _) = try factory.openReader()
    defer { probe.close() }
    _ = try probe.queryInt64("PRAGMA schema_version")
    // The side files come and go with the writers; a reader that is between two reads holds none of them.
    let files = try OpenedFiles(path: path, followsSideFiles: false)
    try CaptureSchema.checkVersion(on: probe)
    try Migrator(plan: plan, path: path).checkCompatible(on: probe)
    let hub = ChangeHub(
      source: sharesFile
        ? HubSource(
          factory: factory, files: files, pollInterval: configuration.cdcPollInterval,
          usesInotify: configuration.usesInotify, adopter: nil) : nil)
    return (
      OpenDatabase(
        path: path, configuration: configuration, gate: nil,
        pool: ReaderPool(factory: factory, files: files, limit: configuration.readerCount),
        hub: hub,
        files: files, factory: factory, coordination: nil,
        checkpointer: Checkpointer(bound: configuration.writeAheadLogBound),
        consumers: ActiveConsumers(), plan: plan,
        // Here no connection stays open that would keep the index in its place.
        markReader: CommitMarkReader(nil)), nil
    )
  }

  // MARK: For writing

  private func openForWriting() throws -> (OpenDatabase, WritingService?) {
    let factory = ConnectionFactory(path: path, configuration: configuration)
    if !isInMemory {
      if sharesFile { try FileSystemCheck.check(directory: FileFacts.directory(of: path)) }
      try makeFile()
    }
    let start = MonotonicTime.now()
    let deadline = start.advanced(by: configuration.migrationTimeout)
    // Says whether this is a database at all, before anything is written beside it.
    let reader = firstReader(factory)
    var writer = reader == nil ? try openWriter(factory) : nil
    var coordination: CoordinationFile?
    do {
      _ = try writer?.0.queryInt64("PRAGMA schema_version")
      if sharesFile {
        coordination = try CoordinationFile(
          databasePath: path,
          options: CoordinationOptions(
            label: configuration.label, fileMode: configuration.filePermissions.mode,
            quantum: configuration.leaseQuantum))
      }
      writer?.1.wait = configuration.migrationTimeout
      let lease = try migrationLease(coordination, deadline)
      defer { lease?.release() }
      FaultPoint.reach(.inOpening)
      coordination?.settleContinuity { (reader?.sqlite ?? writer?.0)?.logState }
      if let reader, looksFinished(to: reader) {
        return try serveLater(reader, factory, coordination)
      }
      if writer == nil { writer = try openWriter(factory) }
      // The other way round nobody would hold the log's index in its place.
      reader?.sqlite.close()
      guard let (sqlite, limits) = writer else { throw BoutiqueError.connectionEnded }
      return try prepare(sqlite, limits, factory, coordination, since: start, until: deadline)
    } catch {
      reader?.sqlite.close()
      writer?.0.close()
      coordination?.close()
      throw error
    }
  }

  private func openWriter(_ factory: ConnectionFactory) throws -> (Connection, StatementLimits) {
    let start = MonotonicTime.now()
    do {
      return try factory.openWriter(waiting: configuration.migrationTimeout)
    } catch let error as SQLiteError where error.code.primary == .busy {
      throw BoutiqueError.migrationLockTimeout(
        LockTimeout(foreignHolderOf: path, waited: start.duration(to: .now())))
    }
  }

  private func prepare(
    _ sqlite: Connection, _ limits: StatementLimits, _ factory: ConnectionFactory,
    _ coordination: CoordinationFile?, since start: MonotonicTime, until deadline: MonotonicTime
  ) throws -> (OpenDatabase, WritingService?) {
    if !isInMemory { try switchToWAL(sqlite, until: deadline, since: start) }
    let consumers = ActiveConsumers()
    let tools = try WriterTools(
      sqlite, limits, configuration: configuration, isInMemory: isInMemory,
      coordination: coordination, consumers: consumers)
    // The files exist once the log has been read.
    _ = try sqlite.queryInt64("SELECT count(*) FROM sqlite_schema")
    let migrator = Migrator(plan: plan, path: path)
    try CaptureSchema.checkVersion(on: sqlite)
    try migrator.checkCompatible(on: sqlite)
    // The lease only where there is something to write: a process that is stopped while it holds it must
    // not keep others from reading.
    if try !CaptureSchema.isInstalled(on: sqlite) {
      try underLease(coordination, until: deadline) {
        try ImmediateTransaction.begin(on: sqlite)
        do {
          try CaptureSchema.install(on: sqlite)
          try ImmediateTransaction.commit(on: sqlite)
        } catch {
          ImmediateTransaction.rollback(on: sqlite)
          throw error
        }
      }
    }
    let files = isInMemory ? nil : try OpenedFiles(path: path)
    let parts = WriterParts(
      path: path, configuration: configuration, sharesFile: sharesFile, factory: factory,
      files: files, coordination: coordination, consumers: consumers)
    let writer = tools.writer(for: parts)
    // Before the migrations, so that what they do to tables that are there is kept like anything else.
    if try !CaptureModes.agree(with: configuration.captureModes, on: sqlite) {
      try underLease(coordination, until: deadline) {
        _ = try writer.committing(since: start, isOwnWork: true) { connection in
          for (table, mode) in configuration.captureModes {
            try CaptureModes.set(mode, forTable: table, on: connection.sqlite)
          }
        }
        try tools.shapes.loadModes(from: sqlite)
      }
    }
    if try migrator.isBehind(on: sqlite) {
      try underLease(coordination, until: deadline) { try migrator.migrate(with: writer) }
    }
    writer.log.onForeignSchemaChange = { try migrator.checkCompatible(on: sqlite) }
    if configuration.foreignCapture == .precise, !isInMemory {
      writer.log.foreign.ask(
        for: .init(
          isPrecise: true, selection: configuration.preciseTables, isAddition: true))
    }
    try settleForeignCapture(writer, coordination)
    let pool =
      isInMemory
      ? nil : ReaderPool(factory: factory, files: files, limit: configuration.readerCount)
    return (
      core(parts, pool, markReader: CommitMarkReader(sqlite.walIndexRegion())),
      WritingService(parts: parts, writer: writer)
    )
  }

  func core(
    _ parts: WriterParts, _ pool: ReaderPool?, markReader: CommitMarkReader
  ) -> OpenDatabase {
    OpenDatabase(
      path: path, configuration: configuration, gate: parts.gate, pool: pool, hub: parts.hub,
      files: parts.files, factory: parts.factory, coordination: parts.coordination,
      checkpointer: parts.checkpointer, consumers: parts.consumers, plan: plan,
      markReader: markReader)
  }

  /// Makes the triggers for foreign writers, if they are wanted, and accounts for what is not accounted for.
  ///
  /// Whoever holds the write lease for long keeps nobody from opening: then the first write does it.
  private func settleForeignCapture(
    _ writer: Writer, _ coordination: CoordinationFile?
  ) throws {
    guard !isInMemory, try !writer.log.isForeignCaptureSettled() else { return }
    do {
      let deadline = MonotonicTime.now().advanced(by: .seconds(1))
      try underLease(coordination, until: deadline) {
        _ = try writer.committing(since: .now()) { _ in }
      }
    } catch is CoordinationError {
    } catch BoutiqueError.lockTimeout {
    }
  }

  private func migrationLease(
    _ coordination: CoordinationFile?, _ deadline: MonotonicTime
  ) throws -> MigrationLease? {
    guard let coordination else { return nil }
    do {
      return try coordination.acquireMigrationLease(
        deadline: bootTime(deadline), isCancelled: { cancellation.isCancelled })
    } catch .leaseTimeout(let timeout) {
      throw BoutiqueError.migrationLockTimeout(LockTimeout(timeout, databasePath: path))
    }
  }

  private func underLease(
    _ coordination: CoordinationFile?, until deadline: MonotonicTime, _ body: () throws -> Void
  ) throws {
    guard let coordination else {
      try body()
      return
    }
    let turn = try coordination.writeLease.acquire(
      deadline: bootTime(deadline), purpose: "migrate",
      isCancelled: { [cancellation] in cancellation.isCancelled })
    let result = Result { try body() }
    turn.ring()
    turn.finish()
    try result.get()
  }

  private func bootTime(_ deadline: MonotonicTime) -> BootClock.Instant {
    BootClock.now().advanced(by: max(.zero, MonotonicTime.now().duration(to: deadline)))
  }

  // MARK: Files

  /// Makes the file without opening it: closing a descriptor of it would drop the SQLite locks that
  /// another thread of this process may have taken meanwhile.
  private func makeFile() throws {
    let directory = FileFacts.directory(of: path)
    if FileIdentity.of(path: path) == nil {
      guard configuration.createIfMissing else { throw BoutiqueError.fileMissing(path: path) }
      guard access(directory, W_OK | X_OK) == 0 else {
        throw BoutiqueError.permissionDenied(
          path: directory, message: "no file can be made in it (\(FileFacts.describe(directory)))")
      }
      let mode = mode_t(configuration.filePermissions.mode)
      if mknod(path, S_IFREG | mode, 0) == 0 {
        // The umask must not take away what `.group` promises.
        chmod(path, mode)
      } else if errno != EEXIST {
        let code = errno
        if code == ENOSPC || code == EDQUOT {
          throw BoutiqueError.diskFull(path: path, message: String(cString: strerror(code)))
        }
        throw BoutiqueError.permissionDenied(path: path, message: String(cString: strerror(code)))
      }
    }
    for name in [path, path + "-wal", path + "-shm"] where FileIdentity.of(path: name) != nil {
      // The last one to close takes the side files away at any moment.
      guard access(name, R_OK) == 0 || errno == ENOENT else {
        throw BoutiqueError.permissionDenied(
          path: name, message: "this user may not read it (\(FileFacts.describe(name)))")
      }
      guard access(name, W_OK) == 0 || errno == ENOENT else {
        throw BoutiqueError.readOnly(
          path: name, message: "this user may not write it (\(FileFacts.describe(name)))")
      }
    }
    guard access(directory, W_OK | X_OK) == 0 else {
      throw BoutiqueError.readOnly(
        path: path,
        message: "its directory must be writable for the -wal and -shm files "
          + "(\(FileFacts.describe(directory))); set readOnly to only read")
    }
  }

  /// Switches a new or foreign file to WAL, which needs it for a moment alone.
  private func switchToWAL(
    _ sqlite: Connection, until deadline: MonotonicTime, since start: MonotonicTime
  ) throws {
    while true {
      do {
        let mode = try sqlite.queryText("PRAGMA journal_mode = WAL")
        guard mode?.lowercased() != "wal" else { return }
        throw BoutiqueError.unsupportedFileSystem(
          path: path, message: "SQLite could not switch it to WAL and stays in \(mode ?? "?") mode")
      } catch let error as SQLiteError where error.code.primary == .busy {
        // SQLite does not ask the busy handler here.
        guard MonotonicTime.now() < deadline, !cancellation.isCancelled else {
          throw BoutiqueError.migrationLockTimeout(
            LockTimeout(foreignHolderOf: path, waited: start.duration(to: .now())))
        }
        usleep(2000)
      }
    }
  }

  // MARK: Closing

  /// The order is `OpenDatabase.close`'s.
  ///
  /// - Parameter writer: nil where none could be had even now; then the log stays for others.
  private func shutDown(_ core: OpenDatabase, _ parts: WriterParts, _ writer: Writer?) {
    parts.hold.close()
    core.markReader.close()
    core.hub.close(path: path)
    // Then it is the readers that are still attached.
    if writer == nil { whenItsTurnComes(core.coordination) { $0.renewContinuityIfAlone() } }
    core.pool?.close()
    if let writer, let coordination = core.coordination {
      let hadTurn = whenItsTurnComes(coordination) { coordination in
        writer.putToRest()
        coordination.renewContinuityIfAlone()
        writer.close(checkpointing: true)
      }
      // Whoever holds the lease will close after us; the log stays for them.
      if !hadTurn { writer.close(checkpointing: false) }
    } else {
      writer?.close(checkpointing: true)
    }
    core.coordination?.close()
    core.didClose()
  }

  /// Does something for the end with the write lease held.
  ///
  /// - Returns: whether the lease could be had soon.
  @discardableResult
  private func whenItsTurnComes(
    _ coordination: CoordinationFile?, _ body: (CoordinationFile) -> Void
  ) -> Bool {
    guard let coordination else { return false }
    do {
      let turn = try coordination.writeLease.acquire(
        deadline: BootClock.now().advanced(by: .seconds(2)), purpose: "close",
        isCancelled: { false })
      body(coordination)
      turn.finish()
      return true
    } catch {
      return false
    }
  }
}
