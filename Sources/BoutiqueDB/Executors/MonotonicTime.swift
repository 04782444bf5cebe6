import Glibc

/// A reading of the monotonic clock, which no setting of the wall clock moves.
struct MonotonicTime: Comparable, Sendable {
  /// Nanoseconds since an unspecified start.
  var nanoseconds: Int64

  static func now() -> MonotonicTime {
    var time = Glibc.timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

  /// The time `duration` later, held at the clock's end for very long durations.
  func advanced(by duration: Duration) -> MonotonicTime {
    MonotonicTime(nanoseconds: nanoseconds.saturatingAdd(duration.nanosecondsClamped))
  }

  func duration(to later: MonotonicTime) -> Duration {
    .nanoseconds(later.nanoseconds - nanoseconds)
  }

  var timespec: Glibc.timespec {
    Glibc.timespec(
      tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }
}

extension Duration {
  /// The duration in nanoseconds, clamped to what an Int64 holds (292 years).
  var nanosecondsClamped: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return seconds < 0 ? .min : .max }
    return scaled.saturatingAdd(attoseconds / 1_000_000_000)
  }

  /// The duration in seconds.
  var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}

extension Int64 {
  func saturatingAdd(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }
}
