import Glibc

/// Times of day as text.
package enum ClockText {
  /// Milliseconds since 1970, now.
  package static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Local time for people: 14:03:27.
  package static func local(_ milliseconds: Int64) -> String {
    format(milliseconds, "%H:%M:%S", localtime_r)
  }

  /// Date and local time for people: 2026-11-30 14:03:27.
  package static func localDate(_ milliseconds: Int64) -> String {
    format(milliseconds, "%F %T", localtime_r)
  }

  /// For programs, RFC 3339 in UTC: 2026-11-30T13:03:27.042Z.
  package static func utc(_ milliseconds: Int64) -> String {
    let fraction = String(1000 + milliseconds % 1000).dropFirst()
    return format(milliseconds, "%FT%T", gmtime_r) + ".\(fraction)Z"
  }

  private static func format(
    _ milliseconds: Int64, _ pattern: String,
    _ split: (UnsafePointer<time_t>, UnsafeMutablePointer<tm>) -> UnsafeMutablePointer<tm>?
  ) -> String {
    var seconds = time_t(milliseconds / 1000)
    var parts = tm()
    guard split(&seconds, &parts) != nil else { return "?" }
    var buffer = [CChar](repeating: 0, count: 64)
    let length = strftime(&buffer, buffer.count, pattern, &parts)
    return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
