import Glibc
import Synchronization

/// Looks up a process in `/proc`: what it does, and whether it is still the same one.
package enum ProcessProbe {
  /// State letter and start time of a process, as `/proc/PID/stat` gives them.
  struct Facts: Equatable {
    var letter: Character
    var startTime: UInt64
  }

  /// Returns what a process does, or `.gone` when its number is free or was given to another.
  ///
  /// - Parameter pidNamespace: Inode of the namespace in which `pid` means something, 0 when it
  ///   is not known.
  package static func state(pid: Int32, startTime: UInt64, pidNamespace: UInt64) -> ProcessState {
    guard pid > 0 else { return .unknown }
    if pidNamespace != 0, pidNamespace != ownNamespace { return .unknown }
    guard let facts = facts(pid: pid) else {
      // `/proc` mounted with hidepid shows nothing of other users; a signal asks the kernel.
      return kill(pid, 0) == 0 || errno == EPERM ? .unknown : .gone
    }
    // One tick of play: the start time is rounded after the time namespace is taken out.
    if startTime != 0, facts.startTime.distance(to: startTime).magnitude > 1 { return .gone }
    switch facts.letter {
    case "R": return .running
    case "T", "t": return .stopped
    case "Z", "X", "x": return .zombie
    default: return isFrozen(pid: pid) ? .stopped : .sleeping
    }
  }

  /// Inode of this process's pid namespace, 0 when `/proc` is not there.
  package static var ownNamespace: UInt64 {
    FileIdentity.of(path: "/proc/self/ns/pid")?.inode ?? 0
  }

  static func facts(pid: Int32) -> Facts? {
    SystemFile.text(path: "/proc/\(pid)/stat").flatMap(parse)
  }

  /// Reads the fields of `/proc/PID/stat` that follow the name, which may contain anything.
  static func parse(_ text: String) -> Facts? {
    guard let end = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    // proc(5): state is field 3, start time field 22; the name was field 2.
    guard fields.count > 19, let letter = fields[0].first, let start = UInt64(fields[19]) else {
      return nil
    }
    let ticks = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    let offset = BootClock.namespaceOffset / Int64(1_000_000_000 / ticks)
    return Facts(letter: letter, startTime: UInt64(clamping: Int64(clamping: start) - offset))
  }

  /// Whether the process lies in a frozen cgroup (version 2), which its state letter hides.
  static func isFrozen(pid: Int32) -> Bool {
    guard let text = SystemFile.text(path: "/proc/\(pid)/cgroup") else { return false }
    for line in text.split(separator: "\n") where line.hasPrefix("0::") {
      let group = line.dropFirst(3)
      for root in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] {
        if let events = SystemFile.text(path: "\(root)\(group)/cgroup.events"),
          events.contains("frozen 1")
        {
          return true
        }
      }
    }
    return false
  }
}

/// What this process writes into its records about itself.
package struct OwnProcess: Sendable {
  let pid: Int32
  let startTime: UInt64
  let pidNamespace: UInt64
  let userID: UInt32

  /// What stays the same as long as a process lives, and which process that is: a forked child is another one.
  private struct Lasting {
    var generation: UInt64
    var pid: Int32
    var startTime: UInt64
    var pidNamespace: UInt64
  }

  private static let lasting = Mutex<Lasting?>(nil)

  /// Looks at this process.
  init() {
    let pid = getpid()
    let generation = ForkGuard.generation
    // In a forked child the lock may be held by a thread that did not come along.
    let known = Self.lasting.withLockIfAvailable { $0 } ?? nil
    self.pid = pid
    userID = geteuid()
    if let known, known.pid == pid, known.generation == generation, known.startTime != 0 {
      startTime = known.startTime
      pidNamespace = known.pidNamespace
      return
    }
    let found = Lasting(
      generation: generation, pid: pid, startTime: ProcessProbe.facts(pid: pid)?.startTime ?? 0,
      pidNamespace: ProcessProbe.ownNamespace)
    _ = Self.lasting.withLockIfAvailable { $0 = found }
    startTime = found.startTime
    pidNamespace = found.pidNamespace
  }

  /// This process's command line, arguments parted by blanks.
  package static var commandLine: String {
    var bytes = SystemFile.bytes(path: "/proc/self/cmdline", limit: 4096) ?? []
    while let last = bytes.last, last == 0 || last == 0x20 { bytes.removeLast() }
    for index in bytes.indices where bytes[index] == 0 { bytes[index] = 0x20 }
    return String(decoding: bytes, as: UTF8.self)
  }
}
