extension CommandSyntax {
  /// The first line of the help text, “usage: boutique check [OPTION]… DB” with its operands.
  package var usageLine: String {
    let words = operands.map { operand in
      switch operand.presence {
      case .required: operand.name
      case .optional: "[\(operand.name)]"
      case .repeated: "[\(operand.name)]..."
      }
    }
    return (["usage:", name, "[OPTION]..."] + words).joined(separator: " ")
  }

  /// The whole help text, laid out for a width.
  package func helpText(width: Int) -> String {
    var rows: [(term: String, help: String)] = operands.map { ($0.name, $0.help) }
    var blocks = [usageLine + "\n\n" + HelpLayout.wrap(summary, width: width)]
    if !rows.isEmpty { blocks.append(HelpLayout.definitions(rows, width: width)) }
    rows = options.map { (term(of: $0), $0.help) }
    rows.append(("-h, --help", "Show this text."))
    rows.append(("    --version", "Show the version."))
    blocks.append("Options:\n" + HelpLayout.definitions(rows, width: width))
    blocks += notes.map { HelpLayout.wrap($0, width: width) }
    if !examples.isEmpty {
      blocks.append("Examples:\n" + examples.map { "  " + $0 }.joined(separator: "\n"))
    }
    return blocks.joined(separator: "\n\n") + "\n"
  }

  private func term(of option: CommandOption<Settings>) -> String {
    let short = option.short.map { "-\($0), " } ?? "    "
    let value = option.placeholder.map { "=\($0)" } ?? ""
    return "\(short)--\(option.long)\(value)"
  }
}

/// Line breaking for help texts.
package enum HelpLayout {
  /// Breaks a paragraph at spaces into lines of at most `width` columns.
  package static func wrap(_ paragraph: String, width: Int, indent: Int = 0) -> String {
    var lines: [String] = []
    var line = ""
    for word in paragraph.split(separator: " ") {
      if !line.isEmpty, line.displayWidth + 1 + String(word).displayWidth > width - indent {
        lines.append(line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " \(word)"
    }
    lines.append(line)
    return lines.joined(separator: "\n" + String(repeating: " ", count: indent))
  }

  /// Lays out terms and their explanations in two columns.
  package static func definitions(_ rows: [(term: String, help: String)], width: Int) -> String {
    let longest = rows.map(\.term.displayWidth).max() ?? 0
    let indent = min(longest, 26) + 4
    return rows.map { row in
      let help = wrap(row.help, width: max(width, indent + 30), indent: indent)
      let padding = indent - 2 - row.term.displayWidth
      let gap =
        padding >= 2
        ? String(repeating: " ", count: padding)
        : "\n" + String(repeating: " ", count: indent)
      return "  " + row.term + gap + help
    }.joined(separator: "\n")
  }
}
