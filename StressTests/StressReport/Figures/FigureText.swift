import Foundation
import StressHistory

/// Numbers as people read them.
package enum FigureText {
  /// A time of nanoseconds: `870 ns`, `12.4 µs`, `3.1 ms`, `2.50 s`, `4:10 min`.
  package static func time(_ nanoseconds: Int64) -> String {
    let value = Double(nanoseconds)
    switch nanoseconds {
    case ..<1000: return "\(nanoseconds) ns"
    case ..<1_000_000: return three(value / 1e3) + " µs"
    case ..<1_000_000_000: return three(value / 1e6) + " ms"
    case ..<120_000_000_000: return three(value / 1e9) + " s"
    default: return clock(value / 1e9) + " min"
    }
  }

  /// A time that may not be known.
  package static func time(_ nanoseconds: Int64?) -> String {
    nanoseconds.map { time($0) } ?? "–"
  }

  /// Seconds as minutes and seconds, with hours where there are any: `0:06`, `1:02:30`.
  package static func clock(_ seconds: Double) -> String {
    let whole = Int(min(max(0, seconds), 1e9))
    let tail = String(format: "%02d", whole % 60)
    return whole < 3600
      ? "\(whole / 60):\(tail)"
      : "\(whole / 3600):\(String(format: "%02d", whole / 60 % 60)):\(tail)"
  }

  /// A number of bytes: `512 B`, `4.0 KiB`, `12.5 MiB`.
  package static func bytes(_ bytes: Int64) -> String {
    if bytes < 1024 { return "\(bytes) B" }
    var value = Double(bytes)
    var unit = "B"
    for larger in ["KiB", "MiB", "GiB", "TiB"] where value >= 1024 {
      value /= 1024
      unit = larger
    }
    return three(value) + " " + unit
  }

  /// A whole number with a comma between groups of three digits.
  package static func count(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return number < 0 ? "-" + text : text
  }

  /// A count or a rate in little room: `87`, `4.2 k`, `1.3 M`.
  package static func short(_ number: Double) -> String {
    switch number {
    case ..<10 where number != number.rounded(): three(number)
    case ..<1000: String(number.rounded().whole)
    case ..<1e6: three(number / 1e3) + " k"
    default: three(number / 1e6) + " M"
    }
  }

  /// A word in the singular for one and in the plural for others: `1 fault`, `2,400 faults`.
  package static func amount(_ number: Int, _ word: String, plural: String? = nil) -> String {
    "\(count(number)) \(number == 1 ? word : plural ?? word + "s")"
  }

  /// Three figures at most.
  private static func three(_ value: Double) -> String {
    if value >= 99.95 { return String(format: "%.0f", value) }
    let digits = value >= 9.995 ? 1 : 2
    var text = String(format: "%.\(digits)f", value)
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
  }
}
