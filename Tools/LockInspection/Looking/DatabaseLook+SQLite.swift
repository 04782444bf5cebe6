import Glibc
import SharedFileCoordination

extension DatabaseLook {
  // MARK: SQLite's locks

  mutating func lookAtSQLite() {
    for (file, place) in [(SQLiteLockByte.File.sharedMemory, path + "-shm"), (.database, path)] {
      guard let identity = FileIdentity.of(path: place) else { continue }
      let names = view.lockNames(of: identity, path: place)
      var seen: Set<SQLiteLockByte> = []
      for lock in view.locks(of: names)
      where lock.kind == .posix || lock.kind == .openFileDescription {
        for byte in SQLiteLockByte.names(in: lock, of: file) {
          if !lock.isWaiting { seen.insert(byte) }
          add(byte, lock.isExclusive, lock.isWaiting, lock.pid)
        }
      }
      addUnseen(in: file, place, names, seen: seen)
    }
  }

  private mutating func add(
    _ byte: SQLiteLockByte, _ isExclusive: Bool, _ isWaiting: Bool, _ pid: Int32?
  ) {
    let known = pid.flatMap { pid in
      result.processes.first { $0.pid == pid && $0.pidNamespace == .own }
    }
    if known == nil, let pid, var facts = describer.facts(pid: pid) {
      facts.role = .foreign
      result.processes.append(facts)
    }
    let facts = SQLiteLockFacts(
      byte, isExclusive: isExclusive, isWaiting: isWaiting, process: pid.map { reference($0) },
      isMember: known.map { $0.role == .member } ?? false)
    // One process has the shared range through as many locks as it likes.
    if !result.sqliteLocks.contains(facts) { result.sqliteLocks.append(facts) }
  }

  /// Locks of processes that `/proc/locks` does not show, being in a pid namespace out of sight.
  private mutating func addUnseen(
    in file: SQLiteLockByte.File, _ place: String, _ names: Set<FileIdentity>,
    seen: Set<SQLiteLockByte>
  ) {
    let bytes: [Int64] =
      file == .sharedMemory
      ? Array(120...128) : [1_073_741_824, 1_073_741_825, 1_073_741_826]
    for number in bytes {
      guard let byte = SQLiteLockByte(number, in: file), !seen.contains(byte),
        KernelLockTable.isLocked(number, path: place) == true
      else { continue }
      // It may have been taken since the list was read.
      let newer = KernelLockTable.read()?.entries.first { entry in
        names.contains(entry.file) && !entry.lock.isWaiting
          && SQLiteLockByte.names(in: entry.lock, of: file).contains(byte)
      }
      if let newer {
        add(byte, newer.lock.isExclusive, false, newer.lock.pid)
      } else if KernelLockTable.isLocked(number, path: place) == true {
        add(byte, false, false, nil)
      }
    }
  }

  // MARK: The log

  mutating func lookAtLog() {
    guard let log = FileLook.facts(path: path + "-wal") else { return }
    var facts = LogFacts(bytes: log.size)
    let isAttached = result.sqliteLocks.contains { $0.name == .attached && !$0.isWaiting }
    guard isAttached else {
      if log.size > 0 {
        result.unseen.append(
          Unseen("how many pages the log has", why: "nobody has it open, so its index may be old"))
      }
      result.log = facts
      return
    }
    guard let head = LogIndexHead.read(path: path + "-shm") else {
      result.unseen.append(
        Unseen("how many pages the log has", why: "its index cannot be read or is being made"))
      result.log = facts
      return
    }
    let frames = Int(head.frameCount)
    let checkpointed = min(frames, Int(head.checkpointed))
    facts.pageBytes = head.pageBytes
    facts.frames = frames
    facts.checkpointedFrames = checkpointed
    facts.uncheckpointedFrames = frames - checkpointed
    for lock in result.sqliteLocks where lock.name == .readMark && !lock.isExclusive {
      guard !lock.isWaiting, let mark = lock.mark, let value = head.readMarks[mark] else {
        continue
      }
      // Readers of mark 0 read the database file alone, as it is: nothing may be copied into it.
      let frame = mark == 0 ? checkpointed : min(frames, Int(value))
      facts.readers.append(
        LogFacts.Reader(
          process: lock.process, mark: mark, frame: frame, framesBehind: frames - frame,
          holdsLogBack: frame < frames))
    }
    facts.readers.sort { $0.frame < $1.frame }
    result.log = facts
  }

  // MARK: The change log

  mutating func lookAtChanges(logLimit: Int64, memory: inout ChangeMemory) {
    guard case .wal = result.journalMode else {
      if result.journalMode == .rollback { readChanges(logLimit, &memory) }
      return
    }
    readChanges(logLimit, &memory)
  }

  private mutating func readChanges(_ logLimit: Int64, _ memory: inout ChangeMemory) {
    let isAttached = result.sqliteLocks.contains { $0.name == .attached && !$0.isWaiting }
    let key = isAttached ? LogIndexHead.read(path: path + "-shm") : nil
    if let key, let known = memory.entries[path], known.head == key {
      result.changes = known.facts
      return
    }
    switch ChangeLook(path: path, logLimit: logLimit, isAttached: isAttached).read() {
    case .seen(let facts):
      result.changes = facts
      memory.entries[path] = key.map { ChangeMemory.Entry(head: $0, facts: facts) }
    case .absent:
      break
    case .unseen(let why):
      result.unseen.append(Unseen("the change log's tokens and consumers", why: why))
    }
  }
}

/// What was found in change logs before, for programs that look again and again.
package struct ChangeMemory: Sendable {
  struct Entry: Sendable {
    var head: LogIndexHead
    var facts: ChangeFacts
  }

  var entries: [String: Entry] = [:]

  /// Makes a memory of nothing.
  package init() {}
}

extension SQLiteLockFacts {
  init(
    _ byte: SQLiteLockByte, isExclusive: Bool, isWaiting: Bool, process: ProcessReference?,
    isMember: Bool
  ) {
    let (name, mark): (Name, Int?) =
      switch byte {
      case .write: (.write, nil)
      case .checkpoint: (.checkpoint, nil)
      case .recovery: (.recover, nil)
      case .readMark(let number): (.readMark, number)
      case .attached: (.attached, nil)
      case .pending: (.pending, nil)
      case .reserved: (.reserved, nil)
      case .shared: (.shared, nil)
      }
    self.init(
      name: name, mark: mark, isExclusive: isExclusive, isWaiting: isWaiting, process: process,
      isMember: isMember)
  }
}
