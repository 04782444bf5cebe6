package import SwiftSyntax
import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// `#sql("…")` as a fragment of a statement.
package enum SQLFragmentMacro: ExpressionMacro {
  /// Checks the text and hands it on unchanged.
  package static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> ExprSyntax {
    let literal = SQLLiteral(node, in: context)
    return "(\(raw: literal.text) as StructuredQueries.SQLFragment)"
  }
}

/// `#sql("…", as: T.self)` as an expression or a statement with a type.
package enum SQLExpressionMacro: ExpressionMacro {
  /// Checks the text and hands it on unchanged.
  package static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> ExprSyntax {
    let literal = SQLLiteral(node, in: context)
    let type = node.arguments.first { $0.label?.text == "as" }
    let tail = type.map { ", as: \($0.expression.plainText())" } ?? ""
    return "StructuredQueries.SQLQueryExpression(\(raw: literal.text)\(raw: tail))"
  }
}

/// The text of a `#sql`, which has been checked for what would make it fail, or bind nothing.
private struct SQLLiteral {
  /// The literal as it is written, an empty one in place of what is none.
  let text: String

  init(
    _ node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) {
    guard let argument = node.arguments.first?.expression,
      let literal = argument.as(StringLiteralExprSyntax.self)
    else {
      context.diagnose(TableDiagnostic.sqlNotLiteral(node.arguments))
      text = "\"\""
      return
    }
    text = literal.trimmedDescription
    var scanner = SQLScanner()
    for segment in literal.segments {
      if case .stringSegment(let segment) = segment {
        scanner.scan(segment, isRaw: literal.openingPounds != nil)
      } else if case .expressionSegment(let segment) = segment, scanner.isQuoted {
        context.diagnose(TableDiagnostic.sqlInterpolatedInQuotes(segment))
      }
    }
    for (character, position) in scanner.unbalanced() {
      context.diagnose(
        TableDiagnostic.sqlUnbalanced(literal, at: position, character: character))
    }
  }
}

/// Walks through SQL and keeps account of quotes, comments and brackets.
private struct SQLScanner {
  private enum State: Equatable {
    case code
    case quoted(by: Character, since: AbsolutePosition)
    case lineComment
    case blockComment(since: AbsolutePosition)
  }

  private var state = State.code
  private var open: [(character: Character, position: AbsolutePosition)] = []
  private var stray: [(character: Character, position: AbsolutePosition)] = []

  /// Whether what comes next would stand within quotes.
  var isQuoted: Bool {
    if case .quoted = state { return true }
    return false
  }

  /// What is open at the end, and what was closed without being open.
  func unbalanced() -> [(character: Character, position: AbsolutePosition)] {
    var result = stray + open
    if case .quoted(let quote, let since) = state { result.append((quote, since)) }
    if case .blockComment(let since) = state { result.append(("/", since)) }
    return result
  }

  /// Reads on through a piece of the literal.
  mutating func scan(_ segment: StringSegmentSyntax, isRaw: Bool) {
    let characters = Self.characters(of: segment, isRaw: isRaw)
    var index = 0
    while index < characters.count {
      let next = index + 1 < characters.count ? characters[index + 1].character : nil
      let isPair = step(characters[index].character, next, at: characters[index].position)
      index += isPair ? 2 : 1
    }
  }

  /// Takes one character and says whether it took the next one too.
  private mutating func step(
    _ character: Character, _ next: Character?, at position: AbsolutePosition
  ) -> Bool {
    switch state {
    case .quoted(let quote, _):
      guard character == quote else { return false }
      if next == quote { return true }
      state = .code
    case .lineComment:
      if character.isNewline { state = .code }
    case .blockComment:
      guard character == "*", next == "/" else { return false }
      state = .code
      return true
    case .code:
      return stepCode(character, next, at: position)
    }
    return false
  }

  private mutating func stepCode(
    _ character: Character, _ next: Character?, at position: AbsolutePosition
  ) -> Bool {
    switch (character, next) {
    case ("'", _), ("\"", _), ("`", _): state = .quoted(by: character, since: position)
    case ("-", "-"):
      state = .lineComment
      return true
    case ("/", "*"):
      state = .blockComment(since: position)
      return true
    case ("(", _), ("[", _): open.append((character, position))
    case (")", _), ("]", _):
      if open.last?.character == (character == ")" ? "(" : "[") {
        open.removeLast()
      } else {
        stray.append((character, position))
      }
    default: break
    }
    return false
  }

  /// The characters that the literal means, each with its place in the source.
  private static func characters(
    of segment: StringSegmentSyntax, isRaw: Bool
  ) -> [(character: Character, position: AbsolutePosition)] {
    var result: [(character: Character, position: AbsolutePosition)] = []
    let start = segment.content.positionAfterSkippingLeadingTrivia
    let text = segment.content.text
    var isEscaped = false
    for index in text.indices {
      let offset = text.utf8.distance(from: text.startIndex, to: index)
      let character = text[index]
      if !isRaw, !isEscaped, character == "\\" {
        isEscaped = true
        continue
      }
      let meant = isEscaped && character == "n" ? "\n" : character
      result.append((meant, start.advanced(by: offset)))
      isEscaped = false
    }
    return result
  }
}
