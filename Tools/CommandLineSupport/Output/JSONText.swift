/// Writes values as JSON text, RFC 8259.
package enum JSONText {
  /// A string in quotes; what has no letter of its own is escaped.
  package static func string(_ text: String) -> String {
    // E2 begins the line separators; that it begins others too only costs the slow way.
    let isPlain = text.utf8.allSatisfy { byte in
      byte >= 0x20 && byte != 0x22 && byte != 0x5C && byte != 0x7F && byte != 0xE2
    }
    return isPlain ? "\"\(text)\"" : escaped(text)
  }

  private static func escaped(_ text: String) -> String {
    var result = "\""
    result.reserveCapacity(text.utf8.count + 2)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\u{0}"..<"\u{20}", "\u{7F}", "\u{2028}", "\u{2029}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// A number that reads back as the same double.
  ///
  /// JSON has no infinity: one is written as a number that is too big for a double, which readers
  /// (this library's, SQLite's, Python's, JavaScript's) take for infinity again.
  package static func number(_ value: Double) -> String {
    if value.isNaN { return "null" }
    if value.isInfinite { return value < 0 ? "-9e999" : "9e999" }
    return value.description
  }

  /// An object from names and values that are JSON text already.
  package static func object(_ members: [(name: String, value: String)]) -> String {
    "{" + members.map { string($0.name) + ":" + $0.value }.joined(separator: ",") + "}"
  }

  /// An array from values that are JSON text already.
  package static func array(_ values: [String]) -> String {
    "[" + values.joined(separator: ",") + "]"
  }
}
