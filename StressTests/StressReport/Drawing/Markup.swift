/// Text that becomes part of a page.
package enum Markup {
  /// The text as a page shows it: nothing in it is taken for markup.
  ///
  /// Control characters, which a page may not contain, are shown by their pictures; so is what changes the
  /// direction of writing, because it could make one text look like another.
  package static func escaped(_ text: String) -> String {
    var result = ""
    result.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\n", "\t": result.unicodeScalars.append(scalar)
      case "\u{0}"..<"\u{20}": result.unicodeScalars.append(picture(of: scalar.value))
      case "\u{7F}": result += "\u{2421}"
      case "\u{80}"..<"\u{A0}", "\u{200E}", "\u{200F}", "\u{202A}"..."\u{202E}",
        "\u{2066}"..."\u{2069}", "\u{FFFE}", "\u{FFFF}":
        result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// An element with escaped text in it.
  static func element(_ name: String, _ attributes: String = "", text: String) -> String {
    "<\(name)\(attributes.isEmpty ? "" : " " + attributes)>\(escaped(text))</\(name)>"
  }

  /// At most so many characters, the last of them an ellipsis where something is left out.
  static func shortened(_ text: String, to limit: Int) -> String {
    text.count <= limit ? text : text.prefix(max(0, limit - 1)) + "…"
  }

  /// The picture that stands for a control character.
  private static func picture(of value: UInt32) -> Unicode.Scalar {
    Unicode.Scalar(0x2400 + value) ?? "\u{FFFD}"
  }
}
