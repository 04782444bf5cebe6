import Glibc
import SQLiteConnection
import SharedFileCoordination

// One synchronous read of a database that need not be open.
//
// For: a program that wants a few values before anything else, as settings at its start, where it cannot
// await an opening.
//
// Invariants
//  1. Nothing waits for a writer: it is a reader like any other. Only SQLite's own recovery of the log can
//     make it wait, and that wait is bounded.
//  2. No file is made. SQLite's reader would make a log and its index where there are none, and could not
//     take them away again; so without a log the file is read as one that nobody changes.
//  3. Whoever opens the database makes the log before it changes anything, and changes the file's times
//     with it. So: no log before, none after, and the same file with the same times, means that nothing
//     was changed in between. Otherwise what was read is thrown away and read again.
//  4. The process's own locks stay as they are, since SQLite itself opens and closes the file.

extension BoutiqueDB {
  /// Reads a database on the calling thread, without opening it for longer than that.
  ///
  /// For small files at the start of a program, which cannot await anything yet. It never waits for a
  /// writer, takes no part in the coordination of processes, applies no migration, and makes no file. The
  /// database may be open elsewhere, in this process as well.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - wait: how long to wait where SQLite must first recover the log that a crash has left.
  ///   - body: reads; all of it is of one moment. It is called once more when others changed the file
  ///     under its eyes.
  /// - Returns: what `body` returns; nil when the file or its directory does not exist.
  /// - Throws: what `body` throws, or ``BoutiqueError``.
  @available(*, noasync, message: "it blocks its thread; open the database and use read")
  public static func readOnce<R>(
    path: String, waiting wait: Duration = .seconds(1),
    _ body: (BoutiqueConnection) throws -> R
  ) throws -> R? {
    let resolved: String
    do {
      resolved = try DatabasePath.resolve(path)
    } catch BoutiqueError.directoryMissing {
      return nil
    }
    var configuration = BoutiqueConfiguration()
    configuration.writeLockTimeout = wait
    let reading = SingleRead(
      path: resolved, factory: ConnectionFactory(path: resolved, configuration: configuration))
    do {
      return try reading.run(body)
    } catch {
      throw BoutiqueError.translate(error, path: resolved)
    }
  }
}

private struct SingleRead {
  let path: String
  let factory: ConnectionFactory

  /// What tells whether the file was changed.
  private struct Stamp: Equatable {
    var identity: FileIdentity
    var size: Int64
    var changed: [Int]

    init?(_ path: String) {
      var facts = stat()
      guard stat(path, &facts) == 0, let identity = FileIdentity.of(path: path) else { return nil }
      self.identity = identity
      size = Int64(facts.st_size)
      changed = [
        facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec,
      ]
    }
  }

  func run<R>(_ body: (BoutiqueConnection) throws -> R) throws -> R? {
    // Others that open and close it all the time leave a log to read with sooner or later.
    for _ in 0..<8 {
      guard let before = Stamp(path) else { return nil }
      guard !hasLog else { break }
      let result = Result { try read(isUnchanging: true, body) }
      if !hasLog, Stamp(path) == before { return try result.get() }
    }
    guard FileIdentity.of(path: path) != nil else { return nil }
    return try read(isUnchanging: false, body)
  }

  private var hasLog: Bool {
    FileFacts.exists(path + "-wal") || FileFacts.exists(path + "-journal")
  }

  private func read<R>(
    isUnchanging: Bool, _ body: (BoutiqueConnection) throws -> R
  ) throws -> R {
    let (sqlite, _) = try factory.openReader(isUnchanging: isUnchanging)
    defer { sqlite.close() }
    try sqlite.execute("BEGIN")
    let connection = BoutiqueConnection(sqlite: sqlite, role: .read)
    defer { ImmediateTransaction.rollback(on: sqlite) }
    defer { connection.end() }
    return try body(connection)
  }
}
