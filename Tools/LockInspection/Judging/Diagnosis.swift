import SharedFileCoordination

/// Says what is wrong with a database, or that nothing is; the model in, findings out.
package struct Diagnosis: Sendable {
  /// Pages that may come into the log behind a reader before it counts as a warning.
  private static let manyFrames = 1000
  /// Seconds that a writer waits for a foreign one before that is more than the usual turn.
  private static let momentarily = 1.0

  private let database: DatabaseInspection
  private let bound: Double
  private var findings: [Finding] = []

  /// Returns the findings about a database, the gravest first.
  ///
  /// - Parameter bound: How long a wait may be, in seconds, before it counts as one too long.
  package static func findings(of database: DatabaseInspection, bound: Double) -> [Finding] {
    var diagnosis = Diagnosis(database: database, bound: bound)
    diagnosis.judgeHolder()
    diagnosis.judgeForeignWriters()
    diagnosis.judgeQueue()
    diagnosis.judgeLog()
    diagnosis.judgeFiles()
    diagnosis.judgeSlots()
    diagnosis.judgeConsumers()
    // Stable: of equal severity the more telling one was found first.
    return Finding.Severity.allCases.reversed().flatMap { severity in
      diagnosis.findings.filter { $0.severity == severity }
    }
  }

  private init(database: DatabaseInspection, bound: Double) {
    self.database = database
    self.bound = bound
  }

  private mutating func add(
    _ kind: Finding.Kind, _ severity: Finding.Severity, _ text: String, _ advice: String? = nil
  ) {
    findings.append(Finding(kind, severity, text, advice: advice))
  }

  private func facts(_ process: ProcessReference) -> ProcessFacts? {
    database.processes.first {
      $0.pid == process.pid && $0.pidNamespace == process.pidNamespace
    }
  }

  private func name(_ process: ProcessReference) -> String { Wording.name(process) }

  private func nameWithCommand(_ process: ProcessReference) -> String {
    guard process.label.isEmpty, let command = facts(process)?.command, !command.isEmpty else {
      return name(process)
    }
    let short = command.count > 60 ? command.prefix(60) + "…" : command[...]
    return "\(name(process)) (\(short))"
  }

  private var waiting: String {
    let count = database.queue.count
    if count == 0 { return "Nobody waits for it." }
    let longest = database.queue.map(\.waitingForSeconds).max() ?? 0
    return count == 1
      ? "One process waits for it, for \(Wording.time(longest))."
      : "\(count) processes wait for it, the longest for \(Wording.time(longest))."
  }

  // MARK: Holders

  private mutating func judgeHolder() {
    judge(database.writeLease, "write lease", others: waiting)
    judge(
      database.migrationLease, "migration lease", others: "Who opens the database waits for it.")
  }

  private mutating func judge(_ lease: LeaseFacts?, _ what: String, others: String) {
    guard let lease else { return }
    guard let holder = lease.holder else {
      add(
        .unknownHolder, .warning,
        "The \(what) is held by a process that cannot be seen from here. \(others)",
        "Run this as root, or in the container of that process.")
      return
    }
    let time = lease.heldForSeconds.map { " for \(Wording.time($0))" } ?? ""
    let purpose = lease.purpose.map { " (\($0))" } ?? ""
    let who = nameWithCommand(holder)
    let isBlocking = what == "migration lease" || !database.queue.isEmpty
    switch holder.state {
    case .stopped:
      add(
        .stoppedHolder, isBlocking ? .problem : .warning,
        "\(who) has held the \(what)\(time)\(purpose) and is stopped: by Ctrl-Z, a debugger, a "
          + "SIGSTOP or a frozen container. \(others) What it has begun is not lost.",
        "Let it go on with “kill -CONT \(holder.pid)”, or end it with “kill -KILL \(holder.pid)”: "
          + "its transaction is rolled back and the next in line goes on at once.")
    case .zombie:
      let parent = facts(holder)?.parentPid.map { "its parent, pid \($0)," } ?? "its parent"
      add(
        .zombieHolder, isBlocking ? .problem : .warning,
        "\(who) has ended and \(parent) has not taken notice; the \(what) it held\(time)\(purpose) is "
          + "kept by a thread that has not ended or by a child. \(others)",
        "See what \(parent) does, and look for children of pid \(holder.pid).")
    default:
      judgeRunning(lease, holder, what, time + purpose, others, isBlocking)
    }
    guard !lease.alsoHeldBy.isEmpty else { return }
    let children = lease.alsoHeldBy.map(name).joined(separator: "; ")
    add(
      .forkedHolder, holder.state == .gone ? .problem : .warning,
      "The \(what) of \(name(holder)) is held as well by \(children): made by fork without exec, it "
        + "shares the lock and keeps it when the other ends.",
      "End the child, or let it exec a program.")
  }

  private mutating func judgeRunning(
    _ lease: LeaseFacts, _ holder: ProcessReference, _ what: String, _ since: String,
    _ others: String, _ isBlocking: Bool
  ) {
    guard let seconds = lease.heldForSeconds, seconds > bound else { return }
    let inTheWay = what == "write lease" ? database.writersInTheWay(of: holder) : []
    // Told by what stands in its way.
    if !inTheWay.isEmpty { return }
    let state =
      switch holder.state {
      case .running: "It is running"
      case .sleeping: "It is waiting for something other than this database"
      default: "What it does cannot be seen from here"
      }
    add(
      .longHolder, isBlocking ? .problem : .warning,
      "\(nameWithCommand(holder)) has held the \(what)\(since). \(state). \(others)",
      "A long transaction is legitimate and is never broken: see what it does (a debugger, "
        + "“cat /proc/\(holder.pid)/stack” as root). If it will not end, “kill \(holder.pid)”: its "
        + "transaction is rolled back.")
  }

  // MARK: Foreign writers

  private mutating func judgeForeignWriters() {
    let holder = database.writeLease?.holder
    let members = Set(
      database.processes.filter { $0.role == .member || $0.role == .forked }.map(\.reference.key))
    for writer in database.writersInTheWay(of: holder) {
      let isForeign = !members.contains(writer.key)
      guard isForeign else {
        // A member without the lease: one that has just given it up, seen between two looks; unless
        // another has had the lease for longer than that, and cannot begin.
        if (database.writeLease?.heldForSeconds ?? 0) > 1 {
          add(
            .foreignWriter, .warning,
            "\(nameWithCommand(writer)) has a write transaction of SQLite open, though the lease is "
              + "another's. \(whoIsKeptFromWriting)", "End it: kill \(writer.pid).")
        }
        continue
      }
      let isRollback = !database.sqliteLocks.contains {
        $0.name == .write && $0.process?.key == writer.key
      }
      let severity = severity(ofForeignWriter: writer)
      let stopped = writer.state == .stopped ? " and is stopped" : ""
      let cause = severity == .note ? "" : " A shell left after BEGIN is the usual cause."
      add(
        isRollback ? .rollbackWriter : .foreignWriter, severity,
        "\(nameWithCommand(writer)) does not stand in line and has a write transaction of SQLite "
          + "open\(stopped). \(whoIsKeptFromWriting)\(cause)",
        severity == .note ? nil : Self.advice(onForeignWriter: writer))
    }
    for lock in database.sqliteLocks
    where lock.name == .checkpoint && lock.isExclusive && !lock.isWaiting {
      guard let process = lock.process, !members.contains(process.key) else { continue }
      add(
        .foreignCheckpoint, .note,
        "\(nameWithCommand(process)) copies the log into the database without standing in line; "
          + "writers go on meanwhile.")
    }
  }

  private var whoIsKeptFromWriting: String {
    guard let holder = database.writeLease?.holder else { return "Nobody in line waits for it." }
    let time = database.writeLease?.heldForSeconds.map { " for \(Wording.time($0))" } ?? ""
    let count = database.queue.count
    return "\(name(holder)) has had the write lease\(time) and cannot begin."
      + (count == 0
        ? "" : " \(Wording.count(count, "process is", "processes are")) in line behind it.")
  }

  private static func advice(onForeignWriter writer: ProcessReference) -> String {
    writer.state == .stopped
      ? "Let it go on with “kill -CONT \(writer.pid)”, or end it with “kill -KILL \(writer.pid)”."
      : "Type COMMIT or ROLLBACK there, or end it with “kill \(writer.pid)”: what it has not "
        + "committed is rolled back."
  }

  /// Foreign programs write too: only one in whose way somebody has been for a while is a problem.
  private func severity(ofForeignWriter writer: ProcessReference) -> Finding.Severity {
    guard let lease = database.writeLease else {
      return writer.state == .stopped ? .warning : .note
    }
    let waited = lease.heldForSeconds ?? 0
    return writer.state == .stopped || waited > min(bound, Self.momentarily) ? .problem : .note
  }

  // MARK: Queue

  private mutating func judgeQueue() {
    for entry in database.queue where entry.process.state == .stopped {
      add(
        .stoppedWaiter, .note,
        "\(name(entry.process)) waits for the write lease and is stopped; others go before it.",
        "“kill -CONT \(entry.process.pid)” lets it go on.")
    }
    let tooLong = database.queue.filter { entry in
      entry.waitingForSeconds > bound && entry.process.state != .stopped
    }
    let isExplained = findings.contains { $0.severity == .problem }
    guard let longest = tooLong.max(by: { $0.waitingForSeconds < $1.waitingForSeconds }),
      !isExplained
    else { return }
    add(
      .longWait, .problem,
      "\(name(longest.process)) has waited \(Wording.time(longest.waitingForSeconds)) for the write "
        + "lease, and no single process has had it for so long: there are more writes than the disk "
        + "or the processors take.",
      "Write in larger transactions, or less often.")
  }

  // MARK: Log

  private mutating func judgeLog() {
    guard let log = database.log, let frames = log.frames else { return }
    let holding = log.readers.filter(\.holdsLogBack)
    guard let oldest = holding.min(by: { $0.frame < $1.frame }) else { return }
    let who = oldest.process.map(nameWithCommand) ?? "A process that cannot be seen from here"
    let left = log.uncheckpointedFrames ?? 0
    let pid = oldest.process?.pid
    let isStopped = oldest.process?.state == .stopped
    let isMuch = (oldest.framesBehind ?? left) >= Self.manyFrames || isStopped
    add(
      .readerHoldsLogBack, isMuch ? .warning : .note,
      "\(who) reads a snapshot that is \(Wording.count(oldest.framesBehind ?? 0, "page")) behind"
        + (isStopped ? " and is stopped" : "")
        + ". Until it ends, \(Wording.count(left, "page")) of \(frames) stay in the log, which has "
        + "\(Wording.bytes(log.bytes)), and it can only grow.",
      isMuch
        ? pid.map { pid in
          isStopped
            ? "Let it go on with “kill -CONT \(pid)”, or end it with “kill -KILL \(pid)”."
            : "Let it end its read transaction, or end it with “kill \(pid)”; the log is emptied by "
              + "the next checkpoint."
        } : nil)
  }

  // MARK: Files

  private mutating func judgeFiles() {
    let path = database.lockFile.path
    let users = database.processes.filter { $0.role != .foreign }.count
    switch database.lockFile.condition {
    case .good:
      break
    case .missing:
      guard database.isThere else { break }
      if database.processes.isEmpty {
        add(
          .notInUse, .note,
          "There is no lock file \(path): nobody has opened the database through this library.")
      } else {
        add(
          .lockFileMissing, .note,
          "There is no lock file \(path): the \(Wording.count(database.processCount, "process", "processes")) "
            + "that have the database open do not stand in line with others, or cannot.")
      }
    case .unreadable:
      add(
        .lockFileUnusable, .note,
        "The lock file \(path) cannot be read by this user.", "Run this as the owner or as root.")
    case .notRegular:
      add(
        .lockFileUnusable, .warning,
        "The lock file's path \(path) is taken by something that is not a regular file.",
        "Move it away; the lock file is made anew.")
    case .damaged:
      add(
        .lockFileDamaged, users > 0 ? .warning : .note,
        "The lock file \(path) is damaged: who has the leases is known from the kernel only.",
        "Nothing: the next writer makes it good, and the database is not touched by it.")
    case .otherVersion:
      add(
        .lockFileUnusable, .warning,
        database.lockFile.problem ?? "The lock file has another layout.")
    case .replaced:
      add(
        .lockFileReplaced, .warning,
        "Processes use a lock file that is not at \(path) any more: it was deleted or replaced. They "
          + "change over at their next write; until then there are two lines, and SQLite's own lock "
          + "alone keeps the order.",
        "Find the program that removes the file; it must not be removed while anybody has the "
          + "database open.")
    }
    if !database.isThere, !database.processes.isEmpty {
      add(
        .databaseReplaced, .problem,
        "There is no file \(database.path) any more, and \(Wording.count(database.processCount, "process", "processes")) "
          + "still have it open.",
        "Restart these processes; what they have not copied out is lost with them.")
    }
  }

  // MARK: Slots

  private mutating func judgeSlots() {
    let members = database.processes.filter { $0.role == .member }.count
    let slots = database.lockFile.slotCount
    if slots > 0, members >= slots {
      add(
        .slotTableFull, .warning,
        "All \(slots) slots of the lock file are taken: further processes work without a place in line "
          + "and do not appear here.",
        "Share the database among fewer processes.")
    }
    guard !database.leftovers.isEmpty else { return }
    let first = database.leftovers.prefix(3).map { leftover in
      let label = leftover.process.label.isEmpty ? "" : "“\(leftover.process.label)”, "
      return "\(label)pid \(leftover.process.pid)"
    }.joined(separator: "; ")
    add(
      .leftovers, .note,
      "\(Wording.count(database.leftovers.count, "slot")) left by processes that ended without "
        + "closing the database (\(first)). They block nobody and are used again.")
  }

  private mutating func judgeConsumers() {
    guard let changes = database.changes, let last = changes.lastToken else { return }
    for consumer in changes.consumers where consumer.behind > 10_000 {
      add(
        .consumerBehind, .warning,
        "The consumer “\(consumer.name)” has acknowledged up to \(consumer.token) of \(last): the "
          + "change log keeps \(consumer.behind) commits for it.",
        "Start the program that follows it, or forget the consumer.")
    }
  }
}
