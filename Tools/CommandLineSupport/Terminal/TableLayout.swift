/// One value in a table for people.
package enum TableCell: Sendable, Equatable {
  /// Text, set to the left.
  case text(String)
  /// A number already written out, set to the right.
  case number(String)
  /// No value. Shown as NULL, dim where there is colour; a text that reads NULL is put in quotes
  /// so that the two can be told apart without colour too.
  case null

  func shown(upToWidth limit: Int) -> String {
    switch self {
    case .text("NULL"): "'NULL'"
    case .text(let text): text.visible(upToWidth: limit)
    case .number(let text): text
    case .null: "NULL"
    }
  }
}

/// The widths and alignments of a table's columns, fixed from its titles and a sample of its rows.
///
/// Rows that come after the sample are cut to these widths, so a table of any length can be printed
/// while it is read.
package struct TableLayout: Sendable {
  private static let gap = 2
  private static let narrowest = 3

  private let titles: [String]
  private let widths: [Int]
  private let isNumeric: [Bool]
  private let lineWidth: Int?

  /// Decides the layout; nil for `width` means that lines may be as long as they need.
  package init(titles: [String], sample: [[TableCell]], width: Int?) {
    let cellLimit = width ?? .max
    self.titles = titles.map { $0.visible(upToWidth: cellLimit) }
    var wanted = self.titles.map(\.displayWidth)
    var isNumeric = titles.map { _ in true }
    var hasNumber = titles.map { _ in false }
    for row in sample {
      for (column, cell) in row.prefix(titles.count).enumerated() {
        let shown = cell.shown(upToWidth: cellLimit)
        wanted[column] = max(wanted[column], min(shown.displayWidth, cellLimit))
        if case .text = cell { isNumeric[column] = false }
        if case .number = cell { hasNumber[column] = true }
      }
    }
    for column in titles.indices where !hasNumber[column] { isNumeric[column] = false }
    self.isNumeric = isNumeric
    lineWidth = width
    widths = width.map { Self.fit(wanted, into: $0) } ?? wanted
  }

  /// The titles and the line under them.
  package func header(_ style: TerminalStyle) -> [String] {
    let names = titles.indices.map { column in
      style.paint(padded(titles[column], column), .bold)
    }
    let rules = widths.map { style.paint(String(repeating: "─", count: $0), .dim) }
    return [joined(names, style), joined(rules, style)]
  }

  /// One row as a line without its line end.
  package func line(_ row: [TableCell], _ style: TerminalStyle) -> String {
    var pieces: [String] = []
    for column in titles.indices {
      let cell = column < row.count ? row[column] : .text("")
      let text = padded(cell.shown(upToWidth: widths[column]), column)
      pieces.append(cell == .null ? style.paint(text, .dim) : text)
    }
    return joined(pieces, style)
  }

  private func padded(_ text: String, _ column: Int) -> String {
    let cut = text.truncated(toWidth: widths[column])
    let padding = String(repeating: " ", count: max(0, widths[column] - cut.displayWidth))
    return isNumeric[column] ? padding + cut : cut + padding
  }

  /// Joins cells; a table that is too wide with its narrowest columns is cut at the right edge,
  /// whole cells at a time so that no colour is left on.
  private func joined(_ pieces: [String], _ style: TerminalStyle) -> String {
    var line = ""
    var used = 0
    for (column, piece) in pieces.enumerated() {
      let needed = widths[column] + (column > 0 ? Self.gap : 0)
      if let lineWidth, used + needed > lineWidth {
        if used + 2 <= lineWidth { line += " …" }
        break
      }
      line += (column > 0 ? String(repeating: " ", count: Self.gap) : "") + piece
      used += needed
    }
    while line.hasSuffix(" ") { line.removeLast() }
    return line
  }

  /// Takes columns from the widest first: the largest limit under which all columns fit.
  private static func fit(_ wanted: [Int], into width: Int) -> [Int] {
    let available = width - gap * max(0, wanted.count - 1)
    if wanted.reduce(0, +) <= available { return wanted }
    var low = narrowest
    var high = max(narrowest, wanted.max() ?? narrowest)
    while low < high {
      let middle = (low + high + 1) / 2
      if wanted.reduce(0, { $0 + min($1, middle) }) <= available {
        low = middle
      } else {
        high = middle - 1
      }
    }
    var widths = wanted.map { min($0, low) }
    var spare = available - widths.reduce(0, +)
    for column in widths.indices where spare > 0 && widths[column] < wanted[column] {
      widths[column] += 1
      spare -= 1
    }
    return widths
  }
}
