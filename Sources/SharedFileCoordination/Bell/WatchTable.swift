import CInotifyTools

/// Which watches are set for which databases, and what an event means for them.
///
/// Confined to the watcher's thread. For each database three things are watched: the lock file for
/// the bell (IN_ATTRIB), the log for writers who do not ring (IN_MODIFY), and the directory for
/// files that come and go. The directory tells about names; what a name leads to is compared with
/// the file that was watched, since an event may be older than the present state.
struct WatchTable {
  /// A watched path.
  private struct Watch {
    var number: Int32
    var identity: FileIdentity?
    var isOver = false
  }

  /// What a watch stands for.
  private enum Role: Hashable {
    case lock
    case log
    case directory
  }

  /// One database's paths.
  struct Database: Hashable {
    let path: String
    let lock: String
    let log: String
    let directory: String
    let names: Set<String>

    init(path: String) {
      self.path = path
      lock = CoordinationFile.path(forDatabase: path)
      // SQLite follows a link to the real file before it names the log; so does the lock's path.
      let real = String(lock.dropLast("-lock".count))
      log = real + "-wal"
      let parent = LockFile.parentDirectory(of: lock)
      // libinotifytools files directories under their name with a slash.
      directory = parent.hasSuffix("/") ? parent : parent + "/"
      let name = real.split(separator: "/").last.map(String.init) ?? real
      names = [name, name + "-wal", name + "-shm", name + "-lock"]
    }
  }

  /// An event for the listeners of one database.
  struct Delivery: Equatable {
    var database: String
    var event: BellEvent
  }

  /// What an event asks for.
  struct Outcome: Equatable {
    /// In order.
    var events: [Delivery] = []
    /// Whether everything has to be set up again.
    var mustRebuild = false
  }

  private let calls: InotifyCalls
  private var databases: [String: Database] = [:]
  private var watches: [String: Watch] = [:]
  private var roles: [Int32: [(database: String, role: Role)]] = [:]

  init(calls: InotifyCalls) {
    self.calls = calls
  }

  var paths: Set<String> { Set(databases.keys) }

  /// Forgets everything; the kernel's watches are gone already.
  mutating func clear() {
    databases = [:]
    watches = [:]
    roles = [:]
  }

  /// Sets the watches of a database.
  ///
  /// - Returns: Why that cannot be done, or nil.
  mutating func add(_ path: String) -> String? {
    let database = Database(path: path)
    databases[path] = database
    // The directory first: what appears after it is told.
    if let reason = watch(
      database.directory, role: .directory, of: path,
      mask: IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
        | Int32(IN_ONLYDIR), isNeeded: true)
    {
      return reason
    }
    return watchFiles(of: database)
  }

  private mutating func watchFiles(of database: Database) -> String? {
    watch(
      database.lock, role: .lock, of: database.path,
      mask: IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF, isNeeded: false)
      ?? watch(
        database.log, role: .log, of: database.path,
        mask: IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF, isNeeded: false)
  }

  private mutating func watch(
    _ path: String, role: Role, of database: String, mask: Int32, isNeeded: Bool
  ) -> String? {
    if let known = watches[path] {
      if roles[known.number]?.contains(where: { $0.database == database && $0.role == role })
        != true
      {
        roles[known.number, default: []].append((database, role))
      }
      return nil
    }
    // Known before as well as after, so that a file put in place meanwhile is noticed.
    let before = FileIdentity.of(path: path)
    switch calls.watch(path, UInt32(bitPattern: mask)) {
    case .watching(let number):
      let after = FileIdentity.of(path: path)
      watches[path] = Watch(number: number, identity: before == after ? after : nil)
      roles[number, default: []].append((database, role))
      return nil
    case .missing:
      return isNeeded ? "\(path) does not exist" : nil
    case .refused(let reason):
      return "\(path) cannot be watched: \(reason)"
    }
  }

  /// Says what an event means.
  mutating func note(_ event: InotifyEvent) -> Outcome {
    var outcome = Outcome()
    if event.isOverflow {
      outcome.events = databases.keys.sorted().flatMap { path in
        [
          Delivery(database: path, event: .overflow),
          Delivery(database: path, event: .writeAheadLogWritten),
        ]
      }
      // Lost events may have told of files that came or went.
      outcome.mustRebuild = databases.values.contains { !isUpToDate($0) }
      return outcome
    }
    if event.endsWatch {
      for (path, watch) in watches where watch.number == event.watch {
        watches[path]?.isOver = true
      }
    }
    for (path, role) in roles[event.watch] ?? [] {
      guard let database = databases[path] else { continue }
      switch role {
      case .lock where !event.endsWatch:
        outcome.events.append(Delivery(database: path, event: .bell))
      case .log where !event.endsWatch:
        outcome.events.append(Delivery(database: path, event: .writeAheadLogWritten))
      case .directory where !event.endsWatch && !database.names.contains(event.name):
        continue
      default:
        outcome.events.append(Delivery(database: path, event: .filesChanged))
        catchUp(database, &outcome)
      }
    }
    return outcome
  }

  /// Sets watches for files that have appeared, or asks for a rebuild when a watched file is not
  /// the one at its path any more.
  private mutating func catchUp(_ database: Database, _ outcome: inout Outcome) {
    guard isUpToDate(database) else {
      outcome.mustRebuild = true
      return
    }
    let hadLog = watches[database.log] != nil
    if watchFiles(of: database) != nil { outcome.mustRebuild = true }
    // What was written before the watch was set raised no event.
    if !hadLog, watches[database.log] != nil {
      outcome.events.append(Delivery(database: database.path, event: .writeAheadLogWritten))
    }
  }

  /// Whether every watch of a database is on the file that its path leads to.
  private func isUpToDate(_ database: Database) -> Bool {
    for path in [database.directory, database.lock, database.log] {
      guard let watch = watches[path] else { continue }
      let present = FileIdentity.of(path: path)
      // Gone is not out of date: the watch stays in the tables until something is there again.
      if present == nil, path != database.directory { continue }
      if watch.isOver || present != watch.identity { return false }
    }
    return true
  }
}
