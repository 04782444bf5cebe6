/// Returns a name as a quoted SQL identifier.
///
/// Double quotes inside are doubled (SQLite, "SQL Keywords"), so any name is safe, keywords and
/// quotes included.
package func quoted(identifier name: String) -> String {
  enclosed(name, in: UInt8(ascii: "\""))
}

/// Returns a text between quotation marks, those inside doubled.
///
/// By bytes, as SQLite reads it: with a combining mark behind it a quotation mark is another character.
private func enclosed(_ text: String, in mark: UInt8) -> String {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(text.utf8.count + 2)
  bytes.append(mark)
  for byte in text.utf8 {
    if byte == mark { bytes.append(byte) }
    bytes.append(byte)
  }
  bytes.append(mark)
  return String(decoding: bytes, as: UTF8.self)
}

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
  return enclosed(text, in: UInt8(ascii: "'"))
}
