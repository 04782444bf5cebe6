import Glibc
package import SharedFileCoordination

/// Tells what can be known of a process from its number.
package struct ProcessDescriber: Sendable {
  private var users: [UInt32: String] = [:]
  private var seen: [Int32: ProcessFacts] = [:]

  /// Makes a describer that knows nobody yet.
  package init() {}

  /// Describes a process of this pid namespace; nil when there is none.
  package mutating func facts(pid: Int32) -> ProcessFacts? {
    if let known = seen[pid] { return known }
    guard let process = ProcessDescription.of(pid: pid) else { return nil }
    let facts = facts(process, pidNamespace: .own)
    seen[pid] = facts
    return facts
  }

  /// Describes a process by what it has written about itself, completed from `/proc` where that speaks of
  /// the same one.
  package mutating func facts(
    _ process: ProcessDescription, pidNamespace: ProcessReference.PidNamespace
  ) -> ProcessFacts {
    var facts = ProcessFacts(
      pid: process.pid, pidNamespace: pidNamespace, userId: process.userID,
      user: user(process.userID), label: process.label, command: process.command,
      state: process.state, role: .foreign, files: [])
    guard pidNamespace == .own, process.state != .gone else { return facts }
    let status = SystemFile.text(path: "/proc/\(process.pid)/status") ?? ""
    facts.parentPid = Self.numbers(status, "PPid:").first.flatMap { $0 > 0 ? $0 : nil }
    let inner = Self.numbers(status, "NSpid:").last
    facts.innerPid = inner == process.pid ? nil : inner
    facts.runningForSeconds = Self.age(startTime: process.startTime)
    let group = Self.cgroup(pid: process.pid)
    facts.cgroup = group
    facts.container = group.flatMap(ControlGroup.container)
    return facts
  }

  /// The name of a user, or the number as text.
  package mutating func user(_ number: UInt32) -> String {
    if let name = users[number] { return name }
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    let code = getpwuid_r(number, &entry, &buffer, buffer.count, &found)
    let name =
      code == 0 && found != nil
      ? String(cString: entry.pw_name) : number == .max ? "?" : String(number)
    users[number] = name
    return name
  }

  private static func numbers(_ status: String, _ field: String) -> [Int32] {
    for line in status.split(separator: "\n") where line.hasPrefix(field) {
      return line.dropFirst(field.count).split(whereSeparator: \.isWhitespace)
        .compactMap { Int32($0) }
    }
    return []
  }

  /// Start times are in clock ticks since the machine started.
  private static func age(startTime: UInt64) -> Double? {
    guard startTime > 0 else { return nil }
    let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    let age = Double(BootClock.now().nanoseconds) / 1e9 - Double(startTime) / ticks
    return max(0, (age * 100).rounded() / 100)
  }

  private static func cgroup(pid: Int32) -> String? {
    let text = SystemFile.text(path: "/proc/\(pid)/cgroup") ?? ""
    var found: String?
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3, parts[2] != "/" else { continue }
      // The unified hierarchy says it best; of the old ones any will do.
      if parts[0] == "0" { return String(parts[2]) }
      found = found ?? String(parts[2])
    }
    return found
  }
}

/// Reads the names that container engines and systemd give to control groups.
package enum ControlGroup {
  /// Returns the container or unit that a group belongs to, as far as its name tells.
  package static func container(_ group: String) -> String? {
    let parts = group.split(separator: "/")
    for part in parts.reversed() {
      var name = part
      for suffix in [".scope", ".slice"] where name.hasSuffix(suffix) {
        name = name.dropLast(suffix.count)
      }
      // docker-ID, libpod-ID, crio-ID, cri-containerd-ID, or the number alone below a directory that
      // is named after the engine.
      let words = name.split(separator: "-")
      if let id = words.last, id.count == 64, id.allSatisfy(\.isHexDigit) {
        return "container \(id.prefix(12))"
      }
      for engine in ["lxc.payload.", "lxc.", "machine-"] where name.hasPrefix(engine) {
        return "container \(name.dropFirst(engine.count))"
      }
    }
    if let unit = parts.last(where: { $0.hasSuffix(".service") }) { return "unit \(unit)" }
    return nil
  }
}
