import Glibc

/// How much memory this process has, in bytes, from `/proc/self/status` (proc_pid_status(5)).
struct ProcessMemory: Sendable {
  /// What it has now (VmRSS).
  let resident: Int64
  /// The most that it had since the start, or since the peak was forgotten (VmHWM).
  let peak: Int64

  /// Asks the kernel.
  static func now() -> ProcessMemory {
    var values: [Substring: Int64] = [:]
    for line in MachineFacts.text(of: "/proc/self/status").split(separator: "\n") {
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      if words.count == 3, words[2] == "kB" { values[words[0]] = Int64(words[1]) }
    }
    return ProcessMemory(
      resident: (values["VmRSS:"] ?? 0) * 1024, peak: (values["VmHWM:"] ?? 0) * 1024)
  }

  /// Makes the peak what the process has now (proc_pid_clear_refs(5), value 5).
  static func forgetPeak() {
    let descriptor = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = write(descriptor, "5", 1)
    close(descriptor)
  }
}
