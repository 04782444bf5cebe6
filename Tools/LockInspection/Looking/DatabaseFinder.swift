import Glibc
import SharedFileCoordination

/// Why a database cannot be looked at.
package struct FindingFailure: Error, Equatable, CustomStringConvertible {
  package let description: String
}

/// Finds the databases that are meant.
package enum DatabaseFinder {
  /// Returns the databases that an argument names: a file, one of its companions, or a directory.
  package static func databases(named argument: String) throws(FindingFailure) -> [String] {
    var facts = stat()
    if stat(argument, &facts) != 0 {
      return [try database(withoutFileAt: argument, code: errno)]
    }
    switch facts.st_mode & S_IFMT {
    case S_IFDIR: return try databases(inDirectory: argument)
    case S_IFREG: return [try database(at: argument)]
    default: throw FindingFailure(description: "\(argument) is neither a file nor a directory")
    }
  }

  /// A database that has been deleted can still be open in many processes.
  private static func database(
    withoutFileAt path: String, code: CInt
  ) throws(FindingFailure) -> String {
    if code == ENOENT, LockReport.isLockFile(path: path + "-lock") {
      return FileLook.resolved(path)
    }
    let reason = strerror(code).map { String(cString: $0) } ?? "error \(code)"
    throw FindingFailure(description: "\(path): \(reason)")
  }

  private static func database(at path: String) throws(FindingFailure) -> String {
    for suffix in ["-lock", "-wal", "-shm", "-journal"] where path.hasSuffix(suffix) {
      let database = String(path.dropLast(suffix.count))
      if suffix == "-lock" ? LockReport.isLockFile(path: path) : isDatabase(database) {
        return FileLook.resolved(database)
      }
    }
    switch DatabaseHead.kind(path: path) {
    case .database, .empty: return FileLook.resolved(path)
    case .other where LockReport.isLockFile(path: path + "-lock"): return FileLook.resolved(path)
    case .other: throw FindingFailure(description: "\(path) is not an SQLite database")
    // Who may not read the file may still learn from the kernel who has it open.
    case .unreadable: return FileLook.resolved(path)
    }
  }

  private static func databases(inDirectory path: String) throws(FindingFailure) -> [String] {
    guard access(path, R_OK | X_OK) == 0 else {
      throw FindingFailure(
        description: "\(path): \(strerror(errno).map { String(cString: $0) } ?? "no access")")
    }
    let base = path.hasSuffix("/") ? String(path.dropLast()) : path
    var found: Set<String> = []
    for name in SystemFile.names(inDirectory: path) where name.hasSuffix("-lock") {
      let database = "\(base)/\(name.dropLast(5))"
      let isOurs = LockReport.isLockFile(path: "\(base)/\(name)")
      if isOurs || mayBeDatabase(database) { found.insert(FileLook.resolved(database)) }
    }
    if found.isEmpty {
      throw FindingFailure(
        description: "\(path) has no database that is used through BoutiqueDB (no lock file)")
    }
    return found.sorted()
  }

  private static func isDatabase(_ path: String) -> Bool {
    if case .database = DatabaseHead.kind(path: path) { return true }
    return false
  }

  /// What this user may not read is shown and said not to be readable, rather than passed over.
  private static func mayBeDatabase(_ path: String) -> Bool {
    switch DatabaseHead.kind(path: path) {
    case .database: true
    case .unreadable: FileLook.facts(path: path)?.isRegular == true
    case .empty, .other: false
    }
  }

  /// Returns the databases that a process on this machine has open through this library, and what could
  /// not be seen.
  package static func databasesInUse(_ view: MachineView) -> (paths: [String], unseen: [Unseen]) {
    // By lock file: through bind mounts and containers one file has many names.
    var paths: [FileIdentity: String] = [:]
    var known: Set<FileIdentity> = []
    let deleted = " (deleted)"
    for file in view.openFiles {
      let isDeleted = file.target.hasSuffix(deleted)
      let name = isDeleted ? String(file.target.dropLast(deleted.count)) : file.target
      guard name.hasSuffix("-lock"), holdsOurLocks(file) else { continue }
      known.insert(file.identity)
      // A process in a container sees its files under names that mean something else here.
      let inside = "/proc/\(file.pid)/root\(name)"
      let place =
        [name, inside].first { FileIdentity.of(path: $0) == file.identity }
        ?? (MachineView.sharesNames(withProcess: file.pid) ? name : inside)
      known.formUnion(view.lockNames(of: file.identity, path: place))
      let database = FileLook.resolved(String(place.dropLast(5)))
      // The name that is good here is better than one through another process.
      if paths[file.identity]?.hasPrefix("/proc/") ?? true { paths[file.identity] = database }
    }
    var unseen: [Unseen] = []
    let strangers = Set(
      (view.locks?.entries ?? []).filter { entry in
        entry.lock.kind == .openFileDescription && !known.contains(entry.file)
          && LockFileLayout.name(ofLockByte: entry.lock.start)?.hasPrefix("slot") == true
      }.map(\.file))
    for file in strangers.sorted(by: { $0.inode < $1.inode }) where !view.closedProcesses.isEmpty {
      unseen.append(
        Unseen(
          "the database whose lock file is inode \(file.inode)",
          why: "only processes that this user may not look into have it open"))
    }
    return (Set(paths.values).sorted(), unseen)
  }

  /// Whether a descriptor has a lock on one of our bytes, which no other program's lock file has.
  private static func holdsOurLocks(_ file: MachineView.OpenFile) -> Bool {
    let entries = KernelLockTable.held(pid: file.pid, descriptor: file.descriptor) ?? []
    return entries.contains { entry in
      entry.lock.kind == .openFileDescription
        && LockFileLayout.name(ofLockByte: entry.lock.start) != nil
    }
  }
}
