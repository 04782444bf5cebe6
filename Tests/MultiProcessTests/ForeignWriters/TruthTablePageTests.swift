import Foundation
import Testing

/// Holds `docs/truth-table.md` to the data that `TruthTableTests` run.
///
/// With BOUTIQUE_WRITE_PAGES set, writes the page anew instead.
@Suite struct TruthTablePageTests {
  private static let page = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "docs/truth-table.md")
  private static let begin = "<!-- The tables below are written by a test. -->\n"
  private static let end = "<!-- The tables above are written by a test. -->\n"

  @Test func `the page shows what the tests run`() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let first = try #require(text.range(of: Self.begin))
    let last = try #require(text.range(of: Self.end))
    let tables = "\n" + Self.tables
    if ProcessInfo.processInfo.environment["BOUTIQUE_WRITE_PAGES"] != nil {
      let new = text.replacingCharacters(in: first.upperBound..<last.lowerBound, with: tables)
      try new.write(to: Self.page, atomically: true, encoding: .utf8)
    } else {
      #expect(String(text[first.upperBound..<last.lowerBound]) == tables)
    }
  }

  private static var tables: String {
    var text = ""
    for tables in TruthTable.Tables.allCases {
      text += "The \(tables.rawValue) tables:\n\n```sql\n\(tables.sql)\n```\n\n"
    }
    for section in TruthTable.sections {
      text += """
        ### \(section.title)

        | statement | for example | by this library | by others, coarse | by others, precise |
        |---|---|---|---|---|

        """
      for example in section.cases {
        let cells = [
          example.title, sample(of: example), shown(example.own), shown(example.coarse),
          shown(example.precise),
        ]
        text +=
          "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |\n"
      }
      text += "\n"
    }
    return text
  }

  private static func sample(of example: TruthTable.Case) -> String {
    var parts: [String] = []
    if !example.sql.isEmpty, example.shell == nil { parts.append(code(example.sql)) }
    if let shell = example.shell, !shell.isEmpty {
      parts.append("shell: " + shell.map(code).joined(separator: " "))
    }
    if let python = example.python, !python.isEmpty {
      parts.append(
        "Python: " + python.split(separator: "\n").map { code(String($0)) }.joined(separator: " "))
    }
    return parts.joined(separator: "; ")
  }

  private static func code(_ text: String) -> String { "`\(text)`" }

  private static func shown(_ text: String) -> String {
    ["–", "nothing", "everything", "refused"].contains(text) ? text : code(text)
  }
}
