public import Foundation

// A date is REAL, seconds since 1970, rounded once, when bound, to a multiple of 2⁻²⁰ s (about a
// microsecond). Foundation keeps seconds since 2001; converting between the two epochs would lose the
// last bits, and a date read back would then differ from the one written. On this grid both numbers
// are exact for more than a century around either epoch, so a value is stable from its first binding.

private let grid: Double = 1_048_576

extension Date: QueryBindable, QueryDecodable {
  /// REAL.
  public static var sqlType: SQLType { .real }

  /// Returns seconds since 1970, rounded to 2⁻²⁰ s, or fails for a date that is not a number.
  public func sqlValue() throws(BindingFailure) -> SQLValue {
    let seconds = timeIntervalSince1970
    guard !seconds.isNaN else {
      throw BindingFailure(value: "nan", type: "Date", reason: "SQLite stores NaN as NULL")
    }
    let rounded = (seconds * grid).rounded() / grid
    return .real(rounded.isFinite ? rounded : seconds)
  }

  /// Creates the date from REAL or INTEGER seconds since 1970.
  public init(sqlValue: SQLValue) throws(DecodingFailure) {
    switch sqlValue {
    case .real(let seconds): self = Date(timeIntervalSince1970: seconds)
    case .integer(let seconds): self = Date(timeIntervalSince1970: Double(seconds))
    default: throw DecodingFailure(expected: Date.self, found: sqlValue)
    }
  }
}
