import Foundation

/// Dates as ISO 8601 text in UTC, by the proleptic Gregorian calendar, as SQLite's date functions have it.
///
/// Foundation's formatters stop at milliseconds; the arithmetic here is on whole microseconds.
enum ISO8601Text {
  static func text(of date: Date) -> String? {
    let total = (date.timeIntervalSince1970 * 1_000_000).rounded()
    guard let microseconds = Int64(exactly: total) else { return nil }
    let (seconds, fraction) = floorDivide(microseconds, 1_000_000)
    let (days, secondOfDay) = floorDivide(seconds, 86400)
    let (year, month, day) = civil(fromDays: days)
    guard (0...9999).contains(year) else { return nil }
    return pad(year, 4) + "-" + pad(month, 2) + "-" + pad(day, 2) + "T"
      + pad(secondOfDay / 3600, 2) + ":" + pad(secondOfDay / 60 % 60, 2) + ":"
      + pad(secondOfDay % 60, 2) + "." + pad(fraction, 6) + "Z"
  }

  static func date(of text: String) -> Date? {
    let bytes = Array(text.utf8)
    func number(_ range: Range<Int>) -> Int64? {
      guard range.upperBound <= bytes.count else { return nil }
      var value: Int64 = 0
      for byte in bytes[range] {
        guard (48...57).contains(byte) else { return nil }
        value = value * 10 + Int64(byte - 48)
      }
      return value
    }
    func isByte(_ character: Character, _ index: Int) -> Bool {
      index < bytes.count && bytes[index] == character.asciiValue
    }
    guard let year = number(0..<4), isByte("-", 4), let month = number(5..<7), isByte("-", 7),
      let day = number(8..<10), (1...12).contains(month), day >= 1, day <= length(month, year)
    else { return nil }
    var microseconds = days(fromCivil: year, month, day) * 86_400_000_000
    var index = 10
    if bytes.count > 10 {
      guard isByte("T", 10) || isByte(" ", 10), let hour = number(11..<13), isByte(":", 13),
        let minute = number(14..<16), hour < 24, minute < 60
      else { return nil }
      microseconds += (hour * 3600 + minute * 60) * 1_000_000
      index = 16
      if isByte(":", 16) {
        guard let second = number(17..<19), second < 60 else { return nil }
        microseconds += second * 1_000_000
        index = 19
      }
      if isByte(".", index) {
        let start = index + 1
        index = start
        while index < bytes.count, (48...57).contains(bytes[index]) { index += 1 }
        guard index > start, index - start <= 18, let digits = number(start..<index) else {
          return nil
        }
        let fraction = Double(digits) / pow(10, Double(index - start))
        microseconds += Int64((fraction * 1_000_000).rounded())
      }
      if isByte("Z", index) { index += 1 }
    }
    guard index == bytes.count else { return nil }
    return Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }

  private static func pad(_ number: Int64, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }

  private static func floorDivide(_ number: Int64, _ divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  private static func isLeap(_ year: Int64) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  private static func length(_ month: Int64, _ year: Int64) -> Int64 {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days before a year, counted from year 0; years of the calendar are not negative here.
  private static func daysBefore(year: Int64) -> Int64 {
    guard year > 0 else { return 0 }
    let last = year - 1
    return year * 365 + last / 4 - last / 100 + last / 400 + 1
  }

  /// Year 0 to 1970.
  private static let epoch = daysBefore(year: 1970)

  private static func days(fromCivil year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    var days = daysBefore(year: year) + day - 1 - epoch
    for before in 1..<max(1, month) { days += length(before, year) }
    return days
  }

  private static func civil(fromDays days: Int64) -> (Int64, Int64, Int64) {
    let sinceZero = days + epoch
    guard sinceZero >= 0 else { return (-1, 1, 1) }
    var year = sinceZero / 366
    while daysBefore(year: year + 1) <= sinceZero { year += 1 }
    var rest = sinceZero - daysBefore(year: year)
    var month: Int64 = 1
    while month < 12, rest >= length(month, year) {
      rest -= length(month, year)
      month += 1
    }
    return (year, month, rest + 1)
  }
}
