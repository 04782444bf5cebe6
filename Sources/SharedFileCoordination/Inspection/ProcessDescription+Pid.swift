import Glibc

extension ProcessDescription {
  /// Describes a process that has no slot, from `/proc` alone; nil when there is no such process.
  package static func of(pid: Int32) -> ProcessDescription? {
    let state = ProcessProbe.state(pid: pid, startTime: 0, pidNamespace: 0)
    guard state != .gone else { return nil }
    var owner = stat()
    let userID = stat("/proc/\(pid)", &owner) == 0 ? owner.st_uid : UInt32.max
    let bytes = SystemFile.bytes(path: "/proc/\(pid)/cmdline", limit: 512) ?? []
    let words = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    return ProcessDescription(
      pid: pid, startTime: ProcessProbe.facts(pid: pid)?.startTime ?? 0, label: "",
      command: words.joined(separator: " "), userID: userID, state: state)
  }
}
