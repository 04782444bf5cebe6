/// How fields of a line are told apart.
package struct DelimitedFormat: Sendable, Equatable {
  /// The byte between two fields.
  package var delimiter: UInt8

  /// Whether a quote inside a field that does not begin with one is text rather than a fault.
  package var allowsQuoteInPlainField: Bool

  /// Comma-separated values, RFC 4180.
  package static let csv = DelimitedFormat(
    delimiter: UInt8(ascii: ","), allowsQuoteInPlainField: false)

  /// Tab-separated values; fields may be quoted as in CSV, and a quote within a field is text.
  package static let tsv = DelimitedFormat(
    delimiter: UInt8(ascii: "\t"), allowsQuoteInPlainField: true)

  /// Reads what a user gave as delimiter: one ASCII character, or `\t` or `tab`.
  package static func delimiter(_ text: String) throws(InvalidValue) -> UInt8 {
    if text == "\\t" || text == "tab" { return UInt8(ascii: "\t") }
    guard text.utf8.count == 1, let byte = text.utf8.first, byte < 0x80,
      ![UInt8(ascii: "\""), UInt8(ascii: "\n"), UInt8(ascii: "\r"), 0].contains(byte)
    else {
      throw InvalidValue(expected: "one ASCII character other than a quote, or “tab”")
    }
    return byte
  }

  /// Writes fields as one line with its line end; nil stands for NULL and becomes an empty field,
  /// while an empty text is written as two quotes, so that reading gives the same again.
  package func line(_ fields: [String?]) -> String {
    var line = ""
    for (index, field) in fields.enumerated() {
      if index > 0 { line.unicodeScalars.append(Unicode.Scalar(delimiter)) }
      guard let field else { continue }
      if needsQuotes(field) {
        line += "\""
        for scalar in field.unicodeScalars {
          if scalar == "\"" { line += "\"" }
          line.unicodeScalars.append(scalar)
        }
        line += "\""
      } else {
        line += field
      }
    }
    return line + "\n"
  }

  private func needsQuotes(_ field: String) -> Bool {
    field.isEmpty || field.utf8.first == UInt8(ascii: " ") || field.utf8.last == UInt8(ascii: " ")
      || field.utf8.contains {
        $0 == delimiter || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\n")
          || $0 == UInt8(ascii: "\r")
      }
  }
}
