import Glibc
import SharedFileCoordination

/// What a process has used so far.
struct Expense: Sendable {
  private let time: BootClock.Instant
  private let processor: Int64
  private let voluntarySwitches: Int64
  private let involuntarySwitches: Int64

  /// Asks the kernel about this process.
  static func now() -> Expense {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func microseconds(_ time: timeval) -> Int64 {
      Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_usec)
    }
    return Expense(
      time: BootClock.now(),
      processor: (microseconds(usage.ru_utime) + microseconds(usage.ru_stime)) * 1000,
      voluntarySwitches: Int64(usage.ru_nvcsw), involuntarySwitches: Int64(usage.ru_nivcsw))
  }

  /// Returns what was used between two moments.
  func figures(since former: Expense) -> [String: [Int64]] {
    [
      "elapsed": [former.time.duration(to: time).clampedNanoseconds],
      "cpu": [processor - former.processor],
      "voluntary": [voluntarySwitches - former.voluntarySwitches],
      "involuntary": [involuntarySwitches - former.involuntarySwitches],
    ]
  }
}
