import SharedFileCoordination

// Who waits for whom, as a graph; the model in, edges and cycles out.
//
// Edges
//  a  in line for the write lease  → its holder
//  b  holder of the write lease    → another process that has SQLite's write lock, while the holder has
//                                    not: it can only be met by a program that does not stand in line.
//                                    Once it has had the lease for a moment: before that it may just not
//                                    have begun, or the looks at the two locks were a turn apart
//  c  waits in the kernel for a lock → who has it (the lines with `->` of /proc/locks), of any file, for
//                                    processes that a or b has led to
// SQLite itself does not wait in the kernel: it asks again and again, which nobody can see. So b is told
// from who has what, and a foreign program that waits for SQLite's lock is not seen at all.

/// Waits between processes.
package struct WaitGraph: Sendable {
  package private(set) var waits: [Wait]

  /// Makes a graph of waits.
  package init(waits: [Wait]) {
    self.waits = waits
  }

  /// Makes the graph of some databases.
  package init(databases: [DatabaseInspection], view: MachineView?) {
    waits = []
    for database in databases { addQueue(of: database) }
    guard let view else { return }
    addKernelWaits(view, databases)
  }

  private mutating func add(_ wait: Wait) {
    guard wait.waiter.key != wait.blocker.key else { return }
    let isKnown = waits.contains {
      $0.waiter.key == wait.waiter.key && $0.blocker.key == wait.blocker.key
        && $0.resource == wait.resource
    }
    if !isKnown { waits.append(wait) }
  }

  private mutating func addQueue(of database: DatabaseInspection) {
    let name = Wording.file(database.path)
    guard let holder = database.writeLease?.holder else { return }
    for entry in database.queue {
      let place = entry.place.map { " (\(Wording.ordinal($0)))" } ?? " (passed over)"
      add(
        Wait(
          waiter: entry.process, blocker: holder, resource: "the write lease of \(name)\(place)",
          seconds: entry.waitingForSeconds))
    }
    for writer in database.writersInTheWay(of: holder) {
      add(
        Wait(
          waiter: holder, blocker: writer, resource: "SQLite's write lock of \(name)",
          seconds: database.writeLease?.heldForSeconds))
    }
  }

  /// Follows processes that are in the graph or hold something into the kernel's own waits.
  private mutating func addKernelWaits(_ view: MachineView, _ databases: [DatabaseInspection]) {
    var labels: [Int32: ProcessReference] = [:]
    for process in databases.flatMap(\.processes) where process.pidNamespace == .own {
      labels[process.pid] = process.reference
    }
    let entries = view.locks?.entries ?? []
    var pending = Array(labels.keys)
    var done: Set<Int32> = []
    while let pid = pending.popLast() {
      guard done.insert(pid).inserted else { continue }
      for waiting in entries where waiting.lock.isWaiting && waiting.lock.pid == pid {
        for held in entries
        where !held.lock.isWaiting && held.file == waiting.file
          && Self.conflict(held.lock, waiting.lock)
        {
          let file = view.openings(of: held.file).first?.target ?? "inode \(held.file.inode)"
          for blocker in Self.holders(of: held, view) where blocker != pid {
            add(
              Wait(
                waiter: labels[pid] ?? ProcessReference.seen(pid),
                blocker: labels[blocker] ?? ProcessReference.seen(blocker),
                resource: "a \(Self.name(held.lock.kind)) lock of \(file)"))
            pending.append(blocker)
          }
        }
      }
    }
  }

  private static func conflict(_ held: KernelLock, _ wanted: KernelLock) -> Bool {
    let isFlock = held.kind == .flock
    return isFlock == (wanted.kind == .flock) && (held.isExclusive || wanted.isExclusive)
      && held.start <= wanted.end && wanted.start <= held.end
  }

  private static func holders(of entry: KernelLockTable.Entry, _ view: MachineView) -> [Int32] {
    if let pid = entry.lock.pid { return [pid] }
    return view.openings(of: entry.file).filter { file in
      (KernelLockTable.held(pid: file.pid, descriptor: file.descriptor) ?? []).contains {
        $0.lock.kind == entry.lock.kind && $0.lock.start == entry.lock.start
      }
    }.map(\.pid)
  }

  private static func name(_ kind: KernelLock.Kind) -> String {
    switch kind {
    case .posix: "POSIX"
    case .openFileDescription: "open file description"
    case .flock: "flock"
    case .lease: "lease"
    case .other: "kernel"
    }
  }

  // MARK: Shape

  /// Rings of waits, each found once and begun at its lowest pid.
  package var cycles: [[ProcessReference]] {
    var found: [[ProcessReference]] = []
    for start in nodes {
      for path in paths(from: start, to: start) {
        // A ring is found from each of its members; the one from the lowest pid is kept.
        guard path.allSatisfy({ $0.pid >= start.pid }), path.first?.key == start.key else {
          continue
        }
        if !found.contains(where: { $0.map(\.key) == path.map(\.key) }) { found.append(path) }
      }
    }
    return found
  }

  /// Every process in the graph, lowest pid first.
  package var nodes: [ProcessReference] {
    var seen: Set<ProcessReference.Key> = []
    return (waits.map(\.waiter) + waits.map(\.blocker))
      .filter { seen.insert($0.key).inserted }
      .sorted { ($0.pid, $0.pidNamespace.rawValue) < ($1.pid, $1.pidNamespace.rawValue) }
  }

  /// Processes that others wait for and that wait for nobody.
  package var roots: [ProcessReference] {
    nodes.filter { node in !waits.contains { $0.waiter.key == node.key } }
  }

  /// Who waits for a process.
  package func waiters(of process: ProcessReference) -> [Wait] {
    waits.filter { $0.blocker.key == process.key }
  }

  private func paths(from start: ProcessReference, to end: ProcessReference) -> [[ProcessReference]]
  {
    var found: [[ProcessReference]] = []
    var path: [ProcessReference] = []
    func walk(_ node: ProcessReference) {
      path.append(node)
      defer { path.removeLast() }
      // Rings are short; a bound keeps a graph made by an odd machine from taking for ever.
      guard path.count <= 16, found.count < 16 else { return }
      for next in waits where next.waiter.key == node.key {
        if next.blocker.key == end.key {
          found.append(path)
        } else if !path.contains(where: { $0.key == next.blocker.key }) {
          walk(next.blocker)
        }
      }
    }
    walk(start)
    return found
  }
}

extension ProcessReference {
  /// Names a process of which only the number is known.
  static func seen(_ pid: Int32) -> ProcessReference {
    ProcessReference(
      pid: pid, state: ProcessProbe.state(pid: pid, startTime: 0, pidNamespace: 0))
  }
}

extension DatabaseInspection {
  /// Processes that have SQLite's own write lock while somebody else has the write lease.
  package func writersInTheWay(of holder: ProcessReference?) -> [ProcessReference] {
    if holder != nil, let held = writeLease?.heldForSeconds, held < 0.1 { return [] }
    let writers = sqliteLocks.filter { lock in
      lock.isExclusive && !lock.isWaiting
        && [.write, .reserved, .pending].contains(lock.name)
    }.compactMap(\.process)
    if let holder, writers.contains(where: { $0.key == holder.key }) { return [] }
    // The lease's other holders are the same transaction, seen in a forked child.
    let sharers = writeLease?.alsoHeldBy.map(\.key) ?? []
    var seen: Set<ProcessReference.Key> = []
    return writers.filter { !sharers.contains($0.key) && seen.insert($0.key).inserted }
  }
}
