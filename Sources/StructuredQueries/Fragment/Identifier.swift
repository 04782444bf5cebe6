/// Returns a name as a quoted SQL identifier.
///
/// Double quotes inside are doubled (SQLite, "SQL Keywords"), so any name is safe, keywords and
/// quotes included.
package func quoted(identifier name: String) -> String {
  guard name.utf8.contains(UInt8(ascii: "\"")) else { return "\"" + name + "\"" }
  return "\""
    + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
    + "\""
}

/// Returns a text as an SQL literal, for the places of `CREATE TABLE` that allow no parameter.
///
/// A NUL would end the statement's text, so a text with one is written by its bytes.
func quoted(text: String) -> String {
  guard !text.utf8.contains(0) else {
    let digits = text.utf8.map { byte in
      let hex = String(byte, radix: 16)
      return hex.count == 1 ? "0" + hex : hex
    }
    return "CAST(x'\(digits.joined())' AS TEXT)"
  }
  return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
    + "'"
}
