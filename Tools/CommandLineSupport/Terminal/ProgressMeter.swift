/// Works out how fast a job goes and how long it will take; has no clock of its own.
package struct ProgressMeter: Sendable {
  /// How quickly the shown rate follows the real one: after this time, half of it is new.
  private static let settlingSeconds = 3.0
  private static let shortestSample = 0.05

  /// What is counted, in the singular: "row".
  package let unit: String

  /// The size of the whole job in bytes, nil when unknown.
  package let totalBytes: Int64?

  private var count: Int64 = 0
  private var bytes: Int64 = 0
  private var seconds = 0.0
  private var countRate: Double?
  private var byteRate: Double?
  private var sampled: (count: Int64, bytes: Int64, seconds: Double) = (0, 0, 0)

  /// Starts at nothing done.
  package init(unit: String, totalBytes: Int64?) {
    self.unit = unit
    self.totalBytes = totalBytes
  }

  /// Notes how much is done at a time since the start.
  package mutating func update(count: Int64, bytes: Int64, elapsed: Duration) {
    self.count = count
    self.bytes = bytes
    seconds = elapsed.inSeconds
    let span = seconds - sampled.seconds
    guard span >= Self.shortestSample else { return }
    let weight = span / (span + Self.settlingSeconds)
    countRate = Self.mix(countRate, Double(count - sampled.count) / span, weight)
    byteRate = Self.mix(byteRate, Double(bytes - sampled.bytes) / span, weight)
    sampled = (count, bytes, seconds)
  }

  /// The state as a short line: "12,400 rows  31%  4,100 rows/s  0:06 left".
  package var text: String {
    var parts = [amount(count)]
    if let fraction { parts.append("\(Int(fraction * 100))%") }
    if let countRate { parts.append("\(amount(Int64(countRate)))/s") }
    if let secondsLeft { parts.append("\(Self.clock(secondsLeft)) left") }
    return parts.joined(separator: "  ")
  }

  /// The whole job in one line: "50,000 rows in 1.8 s (27,777 rows/s)".
  package var summary: String {
    let head = "\(amount(count)) in \(Self.tenths(seconds)) s"
    return seconds > 0.1 ? head + " (\(amount(Int64(Double(count) / seconds)))/s)" : head
  }

  private func amount(_ number: Int64) -> String {
    "\(Self.grouped(number)) \(unit)\(number == 1 ? "" : "s")"
  }

  /// The part that is done, from 0 to 1; nil when the size of the job is not known.
  package var fraction: Double? {
    guard let totalBytes, totalBytes > 0 else { return nil }
    return min(1, Double(bytes) / Double(totalBytes))
  }

  /// How long the rest takes at the present rate; nil when that cannot be known.
  package var secondsLeft: Int? {
    guard let totalBytes, let byteRate, byteRate > 0 else { return nil }
    let left = Double(max(0, totalBytes - bytes)) / byteRate
    // A job that seems to take more than a hundred days is stuck rather than slow.
    return left < 8_640_000 ? Int(left.rounded(.up)) : nil
  }

  private static func mix(_ old: Double?, _ new: Double, _ weight: Double) -> Double {
    old.map { $0 + (new - $0) * weight } ?? new
  }

  private static func tenths(_ seconds: Double) -> String {
    let tenths = Int64((seconds * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  private static func clock(_ seconds: Int) -> String {
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    let tail = twoDigits(seconds % 60)
    return hours > 0 ? "\(hours):\(twoDigits(minutes)):\(tail)" : "\(minutes):\(tail)"
  }

  private static func twoDigits(_ number: Int) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }

  /// Writes a number with a comma between groups of three digits.
  package static func grouped(_ number: Int64) -> String {
    let digits = String(number.magnitude)
    var result = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { result.append(",") }
      result.append(digit)
    }
    return number < 0 ? "-" + result : result
  }
}

extension Duration {
  /// This duration in seconds.
  package var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
