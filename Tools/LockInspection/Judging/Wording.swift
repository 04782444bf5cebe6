/// How the findings speak of processes, times and numbers.
package enum Wording {
  /// Names a process in a sentence: “worker”, pid 42.
  package static func name(_ process: ProcessReference) -> String {
    var text = process.label.isEmpty ? "" : "“\(process.label)”, "
    text += "pid \(process.pid)"
    if process.pidNamespace == .other { text += " of another pid namespace" }
    return text
  }

  /// A span of time, as exact as a person needs it.
  package static func time(_ seconds: Double) -> String {
    switch seconds {
    case ..<0.9995: return "\(Int((seconds * 1000).rounded())) ms"
    case ..<119.95: return "\(tenths(seconds)) s"
    case ..<7200: return "\(Int(seconds / 60)) min"
    case ..<172_800: return "\(Int(seconds / 3600)) h"
    default: return "\(Int(seconds / 86_400)) days"
    }
  }

  /// A number of bytes.
  package static func bytes(_ count: Int64) -> String {
    if count < 1000 { return "\(count) bytes" }
    var value = Double(count) / 1000
    let units = ["kB", "MB", "GB", "TB"]
    var unit = 0
    while value >= 999.95, unit < units.count - 1 {
      value /= 1000
      unit += 1
    }
    return "\(tenths(value)) \(units[unit])"
  }

  /// A number of things: “1 page”, “3 pages”.
  package static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
  }

  /// A place in line.
  package static func ordinal(_ place: Int) -> String {
    let suffix =
      switch (place % 10, place % 100) {
      case (_, 11...13): "th"
      case (1, _): "st"
      case (2, _): "nd"
      case (3, _): "rd"
      default: "th"
      }
    return "\(place)\(suffix)"
  }

  /// The last part of a path.
  package static func file(_ path: String) -> String {
    path.split(separator: "/").last.map { String($0) } ?? path
  }

  private static func tenths(_ value: Double) -> String {
    let tenths = Int64((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
