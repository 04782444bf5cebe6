import Glibc

/// Clock readings that mean the same in every process of the machine.
enum Clock {
  /// Nanoseconds of `CLOCK_MONOTONIC`.
  static func monotonic() -> Int64 { nanoseconds(CLOCK_MONOTONIC) }

  /// Nanoseconds since 1970.
  static func wall() -> Int64 { nanoseconds(CLOCK_REALTIME) }

  private static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// The distribution of measured durations.
struct Durations: Codable, Sendable {
  /// Each one, in nanoseconds.
  private(set) var samples: [Int64] = []

  /// Adds a measurement.
  mutating func add(_ nanoseconds: Int64) { samples.append(nanoseconds) }

  /// What a summary tells of a distribution.
  struct Summary: Codable, Sendable {
    var count = 0
    var median: Int64 = 0
    var p99: Int64 = 0
    var longest: Int64 = 0
  }

  /// Ranks the samples; a quantile is the nearest rank, so always a duration that really occurred.
  var summary: Summary {
    guard !samples.isEmpty else { return Summary() }
    let sorted = samples.sorted()
    func rank(_ share: Double) -> Int64 {
      sorted[min(sorted.count - 1, max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1))]
    }
    return Summary(
      count: sorted.count, median: rank(0.5), p99: rank(0.99), longest: sorted[sorted.count - 1])
  }
}
