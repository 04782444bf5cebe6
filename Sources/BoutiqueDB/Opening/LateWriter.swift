import SQLiteConnection
import SharedFileCoordination

/// Opens a database that needs nothing done to it with a connection that reads, and opens the one that
/// writes when somebody wants to write.
///
/// Invariants:
/// 1. Whatever is not plainly as it should be, an error included, is left to the other way of opening, which
///    does it or says what is wrong.
/// 2. The reader's connection stays open as long as the pool, so from the look at the files on somebody holds
///    them in their place.
/// 3. What is looked at here can change until the first write comes; so the late writer looks again at what
///    could make its writing wrong.
/// 4. A late writer that cannot be had is the failure of the write that wanted it. The next one tries again.
extension DatabaseOpener {
  /// Returns a connection that reads the file as it is, if it is there and nobody has to be waited for.
  func firstReader(_ factory: ConnectionFactory) -> Reader? {
    // Who asks for triggers or modes asks for a write, nearly always.
    guard sharesFile, configuration.foreignCapture == .coarse, FileFacts.size(path) > 0,
      let (sqlite, limits) = try? factory.openReader(waiting: .zero)
    else { return nil }
    guard sqlite.logState != nil,
      let reader = try? Reader(sqlite, limits, number: 0)
    else {
      sqlite.close()
      return nil
    }
    return reader
  }

  /// Whether opening has nothing to write into the database.
  func looksFinished(to reader: Reader) -> Bool {
    let sqlite = reader.sqlite
    let migrator = Migrator(plan: plan, path: path)
    defer { reader.end() }
    do {
      try reader.begin()
      try CaptureSchema.checkVersion(on: sqlite)
      return try CaptureSchema.isInstalled(on: sqlite)
        && CaptureModes.agree(with: configuration.captureModes, on: sqlite)
        && !migrator.isBehind(on: sqlite)
        && !ForeignCapture.isPrecise(on: sqlite)
        // No triggers are left of a time in which it was.
        && ForeignCapture(sqlite: sqlite, rowLimit: 0).isSettled(continuity: nil, bridge: nil)
    } catch {
      return false
    }
  }

  /// Makes the open database around a reader.
  func serveLater(
    _ reader: Reader, _ factory: ConnectionFactory, _ coordination: CoordinationFile?
  ) throws -> (OpenDatabase, WritingService?) {
    let files = try OpenedFiles(path: path)
    reader.limits.wait = configuration.writeLockTimeout
    let parts = WriterParts(
      path: path, configuration: configuration, sharesFile: sharesFile, factory: factory,
      files: files, coordination: coordination, consumers: ActiveConsumers())
    let pool = ReaderPool(
      factory: factory, files: files, limit: configuration.readerCount, first: reader)
    return (
      // Of the pool's connection; whoever closes takes the mark's reader away before the pool.
      core(parts, pool, markReader: CommitMarkReader(reader.sqlite.walIndexRegion())),
      WritingService(parts: parts, writer: nil)
    )
  }

  /// Blocks until a write comes or the database is closed, and makes the writer.
  ///
  /// Closing needs it too: the last one moves the log into the database, which a reader's connection cannot.
  ///
  /// - Returns: nil when the database is closed and no writer can be had.
  func lateWriter(_ parts: WriterParts) -> Writer? {
    while let first = parts.gate.waitForWork() {
      do {
        return try makeWriter(parts, waiting: first.remainingTime)
      } catch {
        let failure = BoutiqueError.translate(error, path: path)
        if case BoutiqueError.fileReplaced = failure { parts.hub.fail(failure) }
        first.giveUp(failure)
      }
    }
    return try? makeWriter(parts, waiting: .seconds(2), isForClosing: true)
  }

  /// - Parameter isForClosing: whether it writes nothing of ours, so that it matters to nobody what a newer
  ///   program has made of the database.
  private func makeWriter(
    _ parts: WriterParts, waiting wait: Duration, isForClosing: Bool = false
  ) throws -> Writer {
    // A path that names another file now would join the new file with the old log.
    try parts.files?.check()
    let (sqlite, limits) = try parts.factory.openWriter(waiting: wait)
    do {
      let tools = try WriterTools(
        sqlite, limits, configuration: configuration, isInMemory: false,
        coordination: parts.coordination, consumers: parts.consumers)
      _ = try sqlite.queryInt64("SELECT count(*) FROM sqlite_schema")
      try parts.files?.check()
      let writer = tools.writer(for: parts)
      guard !isForClosing else { return writer }
      let migrator = Migrator(plan: plan, path: path)
      try CaptureSchema.checkVersion(on: sqlite)
      try migrator.checkCompatible(on: sqlite)
      writer.log.onForeignSchemaChange = { try migrator.checkCompatible(on: sqlite) }
      return writer
    } catch {
      sqlite.close()
      throw error
    }
  }
}
