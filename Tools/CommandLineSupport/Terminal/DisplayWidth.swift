// How many columns of a terminal a text takes.
//
// Terminals follow two tables of the Unicode standard: East_Asian_Width (annex 11: W and F take two
// columns) and Emoji_Presentation (technical standard 51). The second is known to the standard
// library; of the first only the ranges outside the emoji are listed here. What is shown is a
// grapheme cluster, so marks and joined emoji add nothing to the first scalar that has a width.

extension String {
  /// The number of terminal columns this text takes.
  package var displayWidth: Int {
    if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return utf8.count }
    return reduce(0) { $0 + $1.displayWidth }
  }

  /// Cuts the text to a number of terminal columns; a cut is shown as “…”.
  package func truncated(toWidth limit: Int) -> String {
    if displayWidth <= limit { return self }
    if limit <= 0 { return "" }
    var width = 0
    var result = ""
    for character in self {
      width += character.displayWidth
      if width > limit - 1 { break }
      result.append(character)
    }
    return result + "…"
  }

  /// Makes a text safe for one line of a terminal: what would move the cursor, change colours or
  /// reorder the line is replaced by a visible sign.
  ///
  /// A long text is looked at only as far as `limit` columns reach.
  package func visible(upToWidth limit: Int = .max) -> String {
    if utf8.count <= limit, utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return self }
    var result = ""
    var width = 0
    for character in self {
      if width > limit { break }
      for scalar in character.unicodeScalars {
        if let sign = scalar.replacementSign {
          result += sign
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
      width += max(1, character.displayWidth)
    }
    return result
  }
}

extension Character {
  /// The number of terminal columns this character takes: 0, 1 or 2.
  package var displayWidth: Int {
    var width = 0
    for scalar in unicodeScalars {
      // Variation selector 16 asks for the coloured, two-column form.
      if scalar.value == 0xFE0F, width == 1 { return 2 }
      if width == 0 { width = scalar.displayWidth }
    }
    return width
  }
}

extension Unicode.Scalar {
  fileprivate var displayWidth: Int {
    if value < 0x300 { return value < 0x20 || (value >= 0x7F && value < 0xA0) ? 0 : 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator:
      return 0
    default:
      return properties.isEmojiPresentation || isWide ? 2 : 1
    }
  }

  private var isWide: Bool {
    switch value {
    case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4C6,
      0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B,
      0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265,
      0x20000...0x3FFFD:
      true
    default:
      false
    }
  }

  /// What to print instead of this scalar, nil for harmless ones.
  fileprivate var replacementSign: String? {
    switch value {
    case 0..<0x20:
      // The block "Control Pictures" has one picture a control character, in the same order.
      Unicode.Scalar(0x2400 + value).map { String($0) }
    case 0x7F:
      "\u{2421}"
    case 0x80..<0xA0, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069:
      "\\u{\(String(value, radix: 16, uppercase: true))}"
    default:
      nil
    }
  }
}
