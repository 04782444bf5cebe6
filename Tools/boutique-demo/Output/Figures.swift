import CommandLineSupport
import Glibc

/// Numbers for people.
enum Figures {
  /// A count with its thousands set apart.
  static func count(_ number: some BinaryInteger) -> String {
    ProgressMeter.grouped(Int64(clamping: number))
  }

  /// An amount of bytes with three digits: "546 MB".
  static func bytes(_ number: Int64) -> String {
    var amount = Double(number)
    for unit in ["B", "kB", "MB", "GB"] {
      if amount < 999.5 { return scaled(amount, unit == "B" ? 0 : digits(amount)) + " " + unit }
      amount /= 1000
    }
    return scaled(amount, digits(amount)) + " TB"
  }

  /// A duration with three digits: "12.3 ms".
  static func duration(_ nanoseconds: Int64) -> String {
    var amount = Double(nanoseconds) / 1000
    for unit in ["µs", "ms"] {
      if amount < 999.5 { return scaled(amount, digits(amount)) + " " + unit }
      amount /= 1000
    }
    return scaled(amount, digits(amount)) + " s"
  }

  /// "1 file", "2 files".
  static func many(_ number: some BinaryInteger, _ noun: String) -> String {
    "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
  }

  private static func digits(_ amount: Double) -> Int {
    amount < 9.995 ? 2 : amount < 99.95 ? 1 : 0
  }

  private static func scaled(_ amount: Double, _ digits: Int) -> String {
    let power = pow(10, Double(digits))
    let units = Int64((amount * power).rounded())
    guard digits > 0 else { return String(units) }
    let fraction = String(units % Int64(power))
    return "\(units / Int64(power))." + String(repeating: "0", count: digits - fraction.count)
      + fraction
  }
}
