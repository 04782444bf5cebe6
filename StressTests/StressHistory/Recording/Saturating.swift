// Numbers come from files, which may say anything. What is worked out of them stops at the ends of the range
// instead of trapping: a wrong number in a drawing is the file's.

extension FixedWidthInteger {
  /// The difference; the end of the range where it lies beyond.
  package func minus(_ other: Self) -> Self {
    let (difference, overflow) = subtractingReportingOverflow(other)
    if !overflow { return difference }
    return other < 0 ? .max : .min
  }

  /// The sum; the end of the range where it lies beyond.
  package func plus(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    if !overflow { return sum }
    return other < 0 ? .min : .max
  }
}

extension Double {
  /// The whole number below it; the end of the range where it lies beyond, and 0 for what is no number.
  package var whole: Int64 {
    if isNaN { return 0 }
    // 2^63 is the first that does not fit; the least number is exact.
    if self >= 0x1p63 { return .max }
    return self <= -0x1p63 ? .min : Int64(self)
  }
}
