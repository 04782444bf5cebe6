import Glibc
import SharedFileCoordination

/// Finds out everything about one database.
///
/// Takes no lock and changes no file. What the lock file says is put together with what the kernel says;
/// where they disagree the kernel is right.
package struct DatabaseLook {
  /// Logs of more bytes are not read for the change log's ends, which lie behind them.
  package static let usualLogLimit: Int64 = 256 << 20

  let path: String
  let view: MachineView
  let report: LockReport
  let lockFilePath: String
  var describer = ProcessDescriber()
  var result: DatabaseInspection
  /// Through which descriptors which byte of the lock file is locked.
  var byteHolders: [Int64: [MachineView.OpenFile]] = [:]

  /// Looks at a database.
  ///
  /// - Parameter known: What an earlier look found in the change log, taken over while the log and its
  ///   index are unchanged.
  package static func look(
    at path: String, view: MachineView, logLimit: Int64 = usualLogLimit,
    memory: inout ChangeMemory
  ) -> DatabaseInspection {
    var look = DatabaseLook(path: path, view: view)
    look.lookAtLockFile()
    look.lookAtProcesses()
    look.lookAtLeases()
    look.lookAtSQLite()
    look.lookAtLog()
    look.lookAtChanges(logLimit: logLimit, memory: &memory)
    look.remarkOnOthers()
    look.result.processes.sort { ($0.pid, $0.slot ?? -1) < ($1.pid, $1.slot ?? -1) }
    return look.result
  }

  private init(path: String, view: MachineView) {
    self.path = path
    // As near in time to the lock file's content as can be.
    self.view = view.withNewLocks()
    lockFilePath = CoordinationFile.path(forDatabase: path)
    report = LockReport.of(databasePath: path, includesKernelLocks: false)
    var lockFile = LockFileFacts(path: lockFilePath, condition: .good)
    lockFile.condition =
      switch report.condition {
      case .good: .good
      case .missing: .missing
      case .refused: .unreadable
      case .notRegular: .notRegular
      case .damaged: .damaged
      case .otherVersion: .otherVersion
      }
    lockFile.problem = report.problem
    lockFile.slotCount = report.slotCount
    lockFile.commitCounter = report.commitCounter
    result = DatabaseInspection(path: path, lockFile: lockFile)
    if let facts = FileLook.facts(path: path) {
      result.isThere = true
      result.databaseBytes = facts.size
    }
    switch DatabaseHead.kind(path: path) {
    case .database(let mode): result.journalMode = mode
    case .unreadable where result.isThere:
      result.unseen.append(Unseen("the database's content", why: "this user may not read the file"))
    default: break
    }
  }

  func companion(_ file: ProcessFacts.File) -> String {
    switch file {
    case .database: path
    case .log: path + "-wal"
    case .index: path + "-shm"
    case .journal: path + "-journal"
    case .lockFile: lockFilePath
    }
  }

  // MARK: Lock file

  private mutating func lookAtLockFile() {
    let identity = FileIdentity.of(path: lockFilePath)
    let strays = view.strays(path: lockFilePath, now: identity)
    if !strays.isEmpty { result.lockFile.condition = .replaced }
    for file in identity.map({ view.openings(of: $0) }) ?? [] { noteLocks(of: file) }
    for file in strays { noteLocks(of: file) }
  }

  private mutating func noteLocks(of file: MachineView.OpenFile) {
    guard let entries = KernelLockTable.held(pid: file.pid, descriptor: file.descriptor) else {
      return
    }
    for entry in entries where entry.lock.kind == .openFileDescription {
      // Bytes side by side are one line of the kernel's list.
      for byte in entry.lock.start...min(entry.lock.end, entry.lock.start + 1024)
      where byteHolders[byte]?.contains(where: { $0.pid == file.pid }) != true {
        byteHolders[byte, default: []].append(file)
      }
    }
  }

  /// Leaves of several holders of a byte only those who have it at the same time.
  ///
  /// Processes were looked at one after the other, and a lock may have changed hands in between. Only a
  /// fork shares one; then each is found to have it again and again.
  private func holders(of byte: Int64) -> [Int32] {
    let files = byteHolders[byte] ?? []
    guard files.count > 1 else { return files.map(\.pid) }
    var still = files
    for _ in 0..<3 { still = still.filter { Self.holds($0, byte) } }
    return still.map(\.pid)
  }

  private static func holds(_ file: MachineView.OpenFile, _ byte: Int64) -> Bool {
    KernelLockTable.held(pid: file.pid, descriptor: file.descriptor)?.contains {
      $0.lock.kind == .openFileDescription && $0.lock.covers(byte)
    } == true
  }

  // MARK: Processes

  private mutating func lookAtProcesses() {
    for member in report.members { addMember(member) }
    for file in ProcessFacts.File.allCases {
      let path = companion(file)
      let identity = FileIdentity.of(path: path)
      let openings =
        (identity.map { view.openings(of: $0) } ?? [])
        + view.strays(path: path, now: identity)
      for opening in openings { note(opening.pid, has: file) }
    }
    for byte in byteHolders.keys.sorted() {
      guard let slot = Self.slot(ofPresenceByte: byte) else { continue }
      for pid in holders(of: byte) { noteSlot(slot, pid) }
    }
    for slot in report.staleSlots where !slot.process.command.isEmpty || slot.process.pid > 0 {
      let namespace = namespace(slot.pidNamespace)
      result.leftovers.append(
        Leftover(
          slot: slot.slot,
          process: ProcessReference(
            pid: slot.process.pid, pidNamespace: namespace, label: slot.process.label,
            state: slot.process.state),
          command: slot.process.command))
    }
  }

  private static func slot(ofPresenceByte byte: Int64) -> Int? {
    let first = LockFileLayout.presenceByte(slot: 0)
    let range = first..<LockFileLayout.presenceByte(slot: LockFileLayout.maximumSlotCount)
    return range.contains(byte) ? Int(byte - first) : nil
  }

  private func namespace(_ inode: UInt64) -> ProcessReference.PidNamespace {
    inode == 0 || inode == ProcessProbe.ownNamespace ? .own : .other
  }

  private mutating func addMember(_ member: LockReport.Member) {
    let holders = holders(of: LockFileLayout.presenceByte(slot: member.slot))
    var process = member.process
    var namespace = namespace(member.pidNamespace)
    if namespace == .other,
      let pid = holders.first(where: { describer.facts(pid: $0)?.innerPid == process.pid }),
      let here = ProcessDescription.of(pid: pid)
    {
      // It can be seen from here under another number.
      process.pid = pid
      process.startTime = here.startTime
      process.state = here.state
      namespace = .own
    }
    var facts = describer.facts(process, pidNamespace: namespace)
    facts.role = .member
    facts.slot = member.slot
    facts.token = member.token
    facts.openForSeconds = member.since.duration(to: BootClock.now()).seconds
    result.processes.append(facts)
  }

  private mutating func note(_ pid: Int32, has file: ProcessFacts.File) {
    guard let index = index(of: pid) else { return }
    if !result.processes[index].files.contains(file) { result.processes[index].files.append(file) }
    if file == .lockFile, result.processes[index].role == .foreign {
      result.processes[index].role = .unlisted
    }
  }

  private mutating func noteSlot(_ slot: Int, _ pid: Int32) {
    guard let index = index(of: pid), result.processes[index].slot == nil else { return }
    let isOwned = result.processes.contains { $0.slot == slot && $0.role == .member }
    result.processes[index].slot = slot
    // A slot whose record is damaged has no member; its one holder is it.
    result.processes[index].role = isOwned ? .forked : .member
  }

  /// The place of a process in the list, added to it when it is not there yet.
  private mutating func index(of pid: Int32) -> Int? {
    let known = result.processes.firstIndex { $0.pid == pid && $0.pidNamespace == .own }
    if let known { return known }
    guard pid != getpid(), let facts = describer.facts(pid: pid) else { return nil }
    result.processes.append(facts)
    return result.processes.count - 1
  }

  func reference(_ pid: Int32) -> ProcessReference {
    result.processes.first { $0.pid == pid && $0.pidNamespace == .own }?.reference
      ?? ProcessReference(pid: pid)
  }

  // MARK: Leases

  private mutating func lookAtLeases() {
    result.writeLease = lease(report.holder, byte: LockFileLayout.writeLeaseByte)
    result.migrationLease = lease(report.migrationHolder, byte: LockFileLayout.migrationByte)
    var place = 0
    let waiters =
      report.waiters.filter { !$0.isPassedOver } + report.waiters.filter(\.isPassedOver)
    for waiter in waiters {
      let member = result.processes.first { $0.slot == waiter.slot && $0.role == .member }
      guard
        let process = member?.reference
          ?? waiter.process.map({ ProcessReference(pid: $0.pid, label: $0.label, state: $0.state) })
      else { continue }
      if !waiter.isPassedOver { place += 1 }
      result.queue.append(
        QueueEntry(
          place: waiter.isPassedOver ? nil : place, process: process,
          waitingForSeconds: waiter.waitingFor.seconds, isPassedOver: waiter.isPassedOver))
    }
  }

  private mutating func lease(_ holder: LockReport.Holder?, byte: Int64) -> LeaseFacts? {
    let pids = holders(of: byte)
    var facts = LeaseFacts()
    if let process = holder?.process {
      let member = holder?.slot.flatMap { slot in
        result.processes.first { $0.slot == slot && $0.role == .member }
      }
      facts.holder =
        member?.reference
        ?? ProcessReference(
          pid: process.pid, pidNamespace: namespace(holder?.pidNamespace ?? 0),
          label: process.label, state: process.state)
      facts.purpose = holder?.purpose.flatMap { $0.isEmpty ? nil : $0 }
      facts.heldForSeconds = holder?.heldFor?.seconds
    } else if let pid = pids.first {
      facts.holder = reference(pid)
    } else if holder == nil {
      return nil
    }
    // The list of `/proc` is older than the lock file's state; whoever gave the lease up since does not
    // share it.
    if holder != nil, let main = facts.holder, main.pidNamespace == .own {
      let sharers = pids.filter { $0 != main.pid }
      if pids.contains(main.pid) || main.state == .gone {
        facts.alsoHeldBy = sharers.map { reference($0) }
      }
    }
    return facts
  }

  // MARK: What could not be seen

  private mutating func remarkOnOthers() {
    if view.locks == nil {
      result.unseen.append(Unseen("SQLite's locks", why: "/proc/locks cannot be read"))
    }
    if !view.closedProcesses.isEmpty {
      let count = view.closedProcesses.count
      result.unseen.append(
        Unseen(
          "what \(count) process\(count == 1 ? "" : "es") of other users may have open",
          why: "this user may not look into them; root may"))
    }
    let others = result.processes.filter { $0.pidNamespace == .other }
    if !others.isEmpty {
      result.unseen.append(
        Unseen(
          "the state of \(others.count) process\(others.count == 1 ? "" : "es")",
          why: "their numbers belong to another pid namespace, a container's for example"))
    }
  }
}

extension Duration {
  /// This duration in seconds.
  ///
  /// Whole microseconds: more is noise.
  var seconds: Double {
    let exact = Double(components.seconds) + Double(components.attoseconds) * 1e-18
    return (exact * 1e6).rounded() / 1e6
  }
}
