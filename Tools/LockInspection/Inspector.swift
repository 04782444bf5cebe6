import Glibc
import SharedFileCoordination

/// Looks at databases, once or again and again.
package struct Inspector: Sendable {
  /// What to look at.
  package enum Scope: Sendable, Equatable {
    /// Every database that a process on this machine has open through this library.
    case inUse
    /// Databases, their companions, or directories.
    case named([String])
  }

  /// What to look at.
  package var scope: Scope
  /// How long a wait may be, in seconds, before it counts as one too long.
  package var bound: Double
  /// Logs of more bytes are not read for the change log's ends.
  package var logLimit = DatabaseLook.usualLogLimit

  private var memory = ChangeMemory()

  /// Makes an inspector.
  package init(scope: Scope, bound: Double) {
    self.scope = scope
    self.bound = bound
  }

  /// Looks.
  package mutating func inspect() -> Inspection {
    let inspection = inspectOnce()
    guard !inspection.cycles.isEmpty else { return inspection }
    // A ring of waits lasts; what was put together from moments that were not the same one does not.
    usleep(50_000)
    let second = inspectOnce()
    let isLasting = inspection.cycles.contains { cycle in
      second.cycles.contains { $0.map(\.key) == cycle.map(\.key) }
    }
    return isLasting || second.cycles.isEmpty ? second : inspectOnce()
  }

  private mutating func inspectOnce() -> Inspection {
    var describer = ProcessDescriber()
    var inspection = Inspection(
      time: Self.now(), user: describer.user(geteuid()), boundSeconds: bound)
    let view = MachineView()
    var paths: [String] = []
    var failed = !view.isThere
    if failed {
      inspection.unseen.append(
        Unseen("all processes", why: "there is no /proc file system here; mount it"))
    }
    switch scope {
    case .inUse:
      let found = DatabaseFinder.databasesInUse(view)
      paths = found.paths
      inspection.unseen += found.unseen
      if paths.isEmpty, !view.closedProcesses.isEmpty {
        inspection.unseen.append(
          Unseen(
            "databases of \(view.closedProcesses.count) processes of other users",
            why: "this user may not look into them; root may"))
      }
    case .named(let arguments):
      for argument in arguments {
        do throws(FindingFailure) {
          paths += try DatabaseFinder.databases(named: argument)
        } catch {
          inspection.unseen.append(Unseen(argument, why: error.description))
          failed = true
        }
      }
    }
    var seen: Set<String> = []
    for path in paths where seen.insert(path).inserted {
      inspection.databases.append(
        DatabaseLook.look(at: path, view: view, logLimit: logLimit, memory: &memory))
    }
    for database in inspection.databases where database.lockFile.condition == .unreadable {
      inspection.unseen.append(
        Unseen(
          "who holds and who waits for the leases of \(database.path)",
          why: "\(database.lockFile.path) cannot be read by this user"))
      failed = true
    }
    complete(&inspection, view: view, failed: failed)
    return inspection
  }

  private func complete(_ inspection: inout Inspection, view: MachineView, failed: Bool) {
    let graph = WaitGraph(databases: inspection.databases, view: view)
    inspection.waits = graph.waits
    inspection.cycles = graph.cycles
    for index in inspection.databases.indices {
      inspection.databases[index].findings = Diagnosis.findings(
        of: inspection.databases[index], bound: bound)
      let own = Set(inspection.databases[index].processes.map(\.reference.key))
      for cycle in inspection.cycles where cycle.contains(where: { own.contains($0.key) }) {
        inspection.databases[index].findings.insert(Self.finding(cycle), at: 0)
      }
    }
    inspection.exitStatus = failed ? 2 : Self.isHeldUp(inspection, bound: bound) ? 1 : 0
  }

  private static func finding(_ cycle: [ProcessReference]) -> Finding {
    let names = (cycle + cycle.prefix(1)).map(Wording.name).joined(separator: " → ")
    return Finding(
      .cycle, .problem, "These processes wait for one another in a ring: \(names).",
      advice:
        "One of them has to give way: end one, and let each program take its locks in the same "
        + "order.")
  }

  /// Whether somebody waits longer than the bound, or holds longer while others wait.
  package static func isHeldUp(_ inspection: Inspection, bound: Double) -> Bool {
    inspection.databases.contains { database in
      let holds = [database.writeLease, database.migrationLease].compactMap(\.?.heldForSeconds)
      let blocks =
        !database.queue.isEmpty
        || database.writeLease?.holder.map { !database.writersInTheWay(of: $0).isEmpty } == true
      return database.queue.contains { $0.waitingForSeconds > bound }
        || (blocks && holds.contains { $0 > bound })
    } || !inspection.cycles.isEmpty
  }

  private static func now() -> String {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    var seconds = time.tv_sec
    var parts = tm()
    gmtime_r(&seconds, &parts)
    var buffer = [CChar](repeating: 0, count: 64)
    let length = strftime(&buffer, buffer.count, "%FT%T", &parts)
    let text = String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text + "." + String(String(1000 + time.tv_nsec / 1_000_000).dropFirst()) + "Z"
  }
}
