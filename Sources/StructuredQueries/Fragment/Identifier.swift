/// Returns a name as a quoted SQL identifier.
///
/// Double quotes inside are doubled (SQLite, "SQL Keywords"), so any name is safe, keywords and
/// quotes included.
package func quoted(identifier name: String) -> String { "\"" + name.doubling("\"") + "\"" }

/// Returns a text as an SQL literal, for the places of `CREATE TABLE` that allow no parameter.
///
/// A NUL would end the statement's text, so a text with one is written by its bytes.
package func quoted(text: String) -> String {
  guard !text.utf8.contains(0) else {
    let digits = text.utf8.map { byte in
      let hex = String(byte, radix: 16)
      return hex.count == 1 ? "0" + hex : hex
    }
    return "CAST(x'\(digits.joined())' AS TEXT)"
  }
  return "'" + text.doubling("'") + "'"
}

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
}
