// A copy of a live database into one file.
//
// Invariants
// 1. The copy is one snapshot: the source connection holds one read transaction from before the
//    first page to after the last. Without it SQLite would start anew at each commit of another
//    process, perhaps for ever (sqlite.org/backup.html).
// 2. The destination's name is there only with the whole copy behind it, synced.
// 3. The copy is one file: it is not in WAL mode, so that reading it needs no file beside it and
//    no permission to write.
// 4. No descriptor of ours is opened on the source; the temporary file is opened and closed before
//    SQLite sees it.
//
// Steps, and what is left after death at each
// 1. make the temporary file, empty, with its final mode   → an empty temporary file
// 2. copy the pages; SQLite commits and syncs them         → a temporary file, and its journal
// 3. switch the copy to a rollback journal                 → the same
// 4. link or rename it to its name                         → the backup, perhaps two names
// 5. sync the directory                                    → the backup

internal import CSQLite
internal import Glibc

extension Connection {
  /// Copies the whole database into a file of its own, while others read and write.
  ///
  /// The copy is the state at the time of the call. Until it ends the connection holds a read
  /// transaction, which keeps the log from starting anew. `fileMode` is the mode of the new file,
  /// whatever the umask; without it the file gets the mode of the source. An existing destination
  /// is an error unless `overwrite` is set; one with a `-wal` or `-journal` beside it always is,
  /// since that would be played into the copy. `progress` returning `false` ends the backup with
  /// `interrupt` and leaves nothing behind.
  package func backup(
    to destinationPath: String, fileMode: UInt32? = nil, overwrite: Bool = false,
    progress: ((_ remaining: Int, _ total: Int) -> Bool)? = nil
  ) throws(SQLiteError) {
    try OnlineBackup(source: self, destination: destinationPath).run(
      fileMode: fileMode, overwrite: overwrite, progress: progress)
  }
}

private struct OnlineBackup {
  let source: Connection
  let destination: String
  let temporary: String
  /// Between two calls of `progress`; 2 MiB with pages of 4096 bytes.
  static let pagesInStep: Int32 = 512

  init(source: Connection, destination: String) {
    self.source = source
    self.destination = destination
    let number = String(UInt64.random(in: .min ... .max), radix: 36)
    temporary = "\(destination).backup-\(number)"
  }

  func run(
    fileMode: UInt32?, overwrite: Bool, progress: ((Int, Int) -> Bool)?
  ) throws(SQLiteError) {
    try checkDestination(overwrite: overwrite)
    try makeTemporaryFile(mode: fileMode ?? sourceMode())
    do throws(SQLiteError) {
      try inSnapshot { () throws(SQLiteError) in try copyPages(progress) }
      try publish(overwrite: overwrite)
    } catch {
      removeTemporaryFiles()
      throw error
    }
    try syncDirectory()
  }

  // MARK: Files

  private func checkDestination(overwrite: Bool) throws(SQLiteError) {
    _ = try source.openDatabase()
    guard !destination.isEmpty, !destination.utf8.contains(0) else {
      throw refusal("the path is empty or contains a NUL", EINVAL)
    }
    for suffix in ["-wal", "-journal"] where status(destination + suffix) != nil {
      throw refusal(
        "there is a \(suffix) file beside it: the database there is open, or was not closed", EEXIST
      )
    }
    guard let existing = status(destination) else { return }
    if let own = status(source.path), own.st_dev == existing.st_dev, own.st_ino == existing.st_ino {
      throw refusal("it is the database itself", EEXIST)
    }
    if !overwrite { throw refusal("it exists already", EEXIST) }
  }

  private func makeTemporaryFile(mode: mode_t) throws(SQLiteError) {
    let descriptor = open(temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw refusal("cannot make \(temporary)", errno) }
    defer { _ = Glibc.close(descriptor) }
    // Past the umask.
    guard fchmod(descriptor, mode) == 0 else {
      let reason = errno
      unlink(temporary)
      throw refusal("cannot set the mode of \(temporary)", reason)
    }
  }

  private func removeTemporaryFiles() {
    unlink(temporary)
    for suffix in ["-journal", "-wal", "-shm"] { unlink(temporary + suffix) }
  }

  private func publish(overwrite: Bool) throws(SQLiteError) {
    if overwrite {
      guard rename(temporary, destination) == 0 else {
        throw refusal("cannot rename \(temporary) to it", errno)
      }
    } else if link(temporary, destination) == 0 {
      // Unlike a renaming, a link cannot displace a file that came meanwhile.
      unlink(temporary)
    } else {
      throw refusal("cannot link \(temporary) to it", errno)
    }
  }

  private func syncDirectory() throws(SQLiteError) {
    let parent = destination.lastIndex(of: "/").map { String(destination[...$0]) } ?? "."
    let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw refusal("cannot open its directory to sync it", errno) }
    defer { _ = Glibc.close(descriptor) }
    // Some file systems cannot sync a directory and say so with EINVAL.
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw refusal("cannot sync its directory", errno)
    }
  }

  private func sourceMode() -> mode_t {
    guard let status = status(source.path) else { return 0o600 }
    return status.st_mode & 0o777
  }

  private func status(_ path: String) -> stat? {
    var result = stat()
    return stat(path, &result) == 0 ? result : nil
  }

  private func refusal(_ reason: String, _ systemError: Int32) -> SQLiteError {
    SQLiteError(
      code: systemError == ENOSPC ? .full : .cantOpen,
      message: "cannot back up to \(destination): \(reason)", path: source.path,
      systemError: systemError)
  }

  // MARK: Pages

  /// Runs `body` in a read transaction whose snapshot is taken.
  private func inSnapshot(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    let database = try source.openDatabase()
    if sqlite3_txn_state(database, "main") == SQLITE_TXN_WRITE {
      throw SQLiteError(
        code: .misuse, message: "a backup cannot be made inside a write transaction",
        path: source.path)
    }
    let ownsTransaction = !source.isInTransaction
    if ownsTransaction { try source.execute("BEGIN DEFERRED") }
    defer { if ownsTransaction { ImmediateTransaction.rollback(on: source) } }
    // A deferred transaction has its snapshot from its first read on.
    _ = try source.queryInt64("SELECT count(*) FROM sqlite_master")
    try body()
  }

  private func copyPages(_ progress: ((Int, Int) -> Bool)?) throws(SQLiteError) {
    let sourceDatabase = try source.openDatabase()
    let copy = try Connection(path: temporary, options: ConnectionOptions())
    defer { copy.close() }
    let database = try copy.openDatabase()
    guard let backup = sqlite3_backup_init(database, "main", sourceDatabase, "main") else {
      throw SQLiteError(sqlite3_extended_errcode(database), on: database, path: temporary)
    }
    var code = SQLITE_OK
    var isCancelled = false
    while code == SQLITE_OK {
      code = sqlite3_backup_step(backup, Self.pagesInStep)
      guard code == SQLITE_OK || code == SQLITE_DONE else { break }
      let remaining = Int(sqlite3_backup_remaining(backup))
      let total = Int(sqlite3_backup_pagecount(backup))
      if progress?(remaining, total) == false {
        isCancelled = true
        break
      }
    }
    let finishCode = sqlite3_backup_finish(backup)
    if isCancelled {
      throw SQLiteError(
        code: .interrupt, message: "the backup to \(destination) was cancelled", path: source.path)
    }
    guard code == SQLITE_DONE else {
      // Errors of the copy are left on its connection, those of the source only in the code.
      throw SQLiteError(finishCode == SQLITE_OK ? code : finishCode, on: database, path: temporary)
    }
    // The first page says WAL as the source's does; opening such a copy would need a log beside it.
    guard try copy.queryText("PRAGMA journal_mode = DELETE") == "delete" else {
      throw SQLiteError(
        code: .error, message: "the copy cannot be taken out of WAL mode", path: temporary)
    }
  }
}
