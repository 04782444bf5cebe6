/// How the text of a search is understood.
public enum BlackbirdFullTextQuerySyntaxMode: Sendable {
  /// As FTS5's query language: `AND`, `OR`, `NOT`, `*`, column filters. A text that is none throws.
  case allowFullQuerySyntax
  /// As words that must all occur, and phrases in quotation marks. Nothing in it is an operator.
  case escapeQuerySyntax
  /// As ``escapeQuerySyntax``; the last word, where it is in no quotation marks, may be the beginning of a
  /// word: for searching while somebody types.
  case escapeQuerySyntaxAndPrefixMatchLastPhrase
}

/// Turns what people type into FTS5's query language.
enum SearchText {
  /// What begins and ends a phrase.
  ///
  /// An apostrophe does not: it is part of words.
  private static let quotationMarks: Set<Character> = [
    "\"", "“", "”", "„", "‟", "«", "»", "＂", "〝", "〞", "〟", "❝", "❞", "⹂",
  ]

  /// Returns a query of FTS5 for a text; never one that FTS5 cannot read, but for full syntax.
  static func query(_ text: String, mode: BlackbirdFullTextQuerySyntaxMode) -> String {
    if mode == .allowFullQuerySyntax { return text }
    let phrases = phrases(of: text)
    // FTS5 knows no empty query; an empty phrase is one that matches nothing.
    guard let last = phrases.last else { return "\"\"" }
    let query = phrases.map { "\"\($0.text)\"" }.joined(separator: " ")
    let isPrefix = mode == .escapeQuerySyntaxAndPrefixMatchLastPhrase && !last.isQuoted
    return isPrefix ? query + " *" : query
  }

  private struct Phrase {
    var text: String
    var isQuoted: Bool
  }

  private static func phrases(of text: String) -> [Phrase] {
    var phrases: [Phrase] = []
    var current = ""
    var isQuoted = false
    func end() {
      if current.contains(where: { !$0.isWhitespace }) {
        phrases.append(Phrase(text: current, isQuoted: isQuoted))
      }
      current = ""
    }
    // By scalar: a combining mark behind a quotation mark must not hide it from FTS5, which reads bytes.
    for scalar in text.unicodeScalars {
      if quotationMarks.contains(Character(scalar)) {
        end()
        isQuoted.toggle()
      } else if scalar.value == 0 || !isQuoted && scalar.properties.isWhitespace {
        // FTS5's text ends at a NUL.
        if isQuoted { current.append(" ") } else { end() }
      } else {
        current.unicodeScalars.append(scalar)
      }
    }
    // A mark that nobody closed is none: the last word is still being typed.
    isQuoted = false
    end()
    return phrases
  }
}
