import CommandLineSupport
import Foundation

/// Numbers as the tables show them.
enum Figure {
  /// A count, with commas.
  static func count(_ value: Double) -> TableCell {
    .number(ProgressMeter.grouped(Int64(value.rounded())))
  }

  /// A number with so many digits after the point.
  static func decimal(_ value: Double, digits: Int = 2) -> TableCell {
    .number(text(value, digits: digits))
  }

  /// A number of nanoseconds in milliseconds.
  static func milliseconds(_ nanoseconds: Double) -> TableCell {
    decimal(nanoseconds / 1_000_000, digits: 2)
  }

  /// A number of nanoseconds in microseconds.
  static func microseconds(_ nanoseconds: Double) -> TableCell {
    decimal(nanoseconds / 1000, digits: nanoseconds < 10_000 ? 2 : 1)
  }

  private static func text(_ value: Double, digits: Int) -> String {
    String(format: "%.\(digits)f", value)
  }
}
