extension String {
  /// Returns the text with every occurrence of a character of ASCII doubled.
  ///
  /// By bytes, as SQLite reads them: for Swift a quote and a combining mark behind it are one character, which
  /// is not the quote, and would end a literal.
  func doubling(_ scalar: Unicode.Scalar) -> String {
    let byte = UInt8(ascii: scalar)
    guard utf8.contains(byte) else { return self }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count + 8)
    for found in utf8 {
      bytes.append(found)
      if found == byte { bytes.append(found) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the text with every pair of a character of ASCII made one; what stands alone stays.
  func undoubling(_ scalar: Unicode.Scalar) -> String {
    let byte = UInt8(ascii: scalar)
    var bytes: [UInt8] = []
    var isSecond = false
    for found in utf8 {
      if found == byte, isSecond {
        isSecond = false
        continue
      }
      isSecond = found == byte
      bytes.append(found)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
