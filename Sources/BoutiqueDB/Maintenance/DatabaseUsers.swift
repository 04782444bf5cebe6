import SharedFileCoordination

extension BoutiqueDB {
  /// Returns the processes that have the database at a path open, this one included.
  ///
  /// Those that use this library are told by their places in the lock file, others by the locks that SQLite
  /// holds while it is attached to the write-ahead log; these have no label. Nothing is locked, and neither
  /// the database nor its log is opened. A process of another container, or one that runs SQLite without a
  /// write-ahead log and is between two transactions, is not seen. It is a look at one moment: who opens the
  /// file afterwards is not in it.
  ///
  /// - Parameter path: the database; nobody has one open that does not exist.
  public static func processes(usingDatabaseAt path: String) -> [DatabaseStatus.Member] {
    let path = (try? DatabasePath.resolve(path)) ?? path
    var found: [DatabaseStatus.Member] = []
    for member in LockReport.of(databasePath: path, includesKernelLocks: false).members {
      found.append(DatabaseStatus.Member(member.process))
    }
    let files = [path, path + "-shm"].compactMap { FileIdentity.of(path: $0) }
    for entry in KernelLockTable.read()?.entries ?? [] where files.contains(entry.file) {
      guard let pid = entry.lock.pid, !found.contains(where: { $0.pid == pid }),
        let process = ProcessDescription.of(pid: pid)
      else { continue }
      found.append(DatabaseStatus.Member(process))
    }
    return found
  }
}
