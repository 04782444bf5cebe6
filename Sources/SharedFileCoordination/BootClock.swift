import Glibc

/// The clock of all waits and tickets: time since the machine started, sleep included.
///
/// Setting the wall clock does not move it, and all processes of one kernel agree on it. A process
/// in a time namespace of its own sees it shifted (time_namespaces(7)); the shift is taken out, so
/// readings can be compared across containers that share a directory.
package enum BootClock {
  /// A reading of the boot clock in nanoseconds.
  package struct Instant: Comparable, Hashable, Sendable, Codable {
    /// Nanoseconds since the machine started.
    package var nanoseconds: UInt64

    /// Makes an instant from a number of nanoseconds since the machine started.
    package init(nanoseconds: UInt64) {
      self.nanoseconds = nanoseconds
    }

    package static func < (left: Instant, right: Instant) -> Bool {
      left.nanoseconds < right.nanoseconds
    }

    /// Returns the instant that lies `duration` later, or the first or last there is.
    package func advanced(by duration: Duration) -> Instant {
      let shift = duration.clampedNanoseconds
      if shift >= 0 {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(UInt64(shift))
        return Instant(nanoseconds: overflow ? .max : sum)
      }
      let back = shift.magnitude
      return Instant(nanoseconds: back > nanoseconds ? 0 : nanoseconds - back)
    }

    /// Returns how long it is from this instant to another, negative when the other was before.
    package func duration(to other: Instant) -> Duration {
      other >= self
        ? .nanoseconds(Int64(clamping: other.nanoseconds - nanoseconds))
        : .zero - .nanoseconds(Int64(clamping: nanoseconds - other.nanoseconds))
    }
  }

  /// Returns the present instant.
  package static func now() -> Instant {
    var time = timespec()
    // Cannot fail for this clock on any kernel since 2.6.39.
    clock_gettime(CLOCK_BOOTTIME, &time)
    let reading = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    return Instant(nanoseconds: UInt64(max(1, reading - namespaceOffset)))
  }

  /// Returns the instant `duration` from now.
  package static func now(advancedBy duration: Duration) -> Instant {
    now().advanced(by: duration)
  }

  /// How far this process's time namespace is ahead of the machine's, in nanoseconds.
  ///
  /// A process cannot change its own time namespace while it has threads, so once is enough.
  static let namespaceOffset: Int64 = {
    // The file speaks of the namespace that children get; where that is another than our own,
    // it says nothing about us.
    guard
      FileIdentity.of(path: "/proc/self/ns/time")
        == FileIdentity.of(path: "/proc/self/ns/time_for_children"),
      let text = SystemFile.text(path: "/proc/self/timens_offsets")
    else { return 0 }
    return parseOffsets(text)
  }()

  /// Returns the boot clock's offset in nanoseconds from the text of `/proc/self/timens_offsets`.
  package static func parseOffsets(_ text: String) -> Int64 {
    for line in text.split(separator: "\n") {
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      guard words.count == 3, words[0] == "boottime", let seconds = Int64(words[1]),
        let rest = Int64(words[2])
      else { continue }
      let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
      let (sum, overflowToo) = product.addingReportingOverflow(rest)
      return overflow || overflowToo ? 0 : sum
    }
    return 0
  }
}

extension Duration {
  /// The duration in whole nanoseconds, held to what 64 bits can say.
  package var clampedNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return seconds < 0 ? .min : .max }
    let (sum, overflowToo) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflowToo ? (seconds < 0 ? .min : .max) : sum
  }
}
