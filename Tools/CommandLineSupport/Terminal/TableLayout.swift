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
/// Rows that come after the sample can be wider: they take the room they need, out of line, rather
/// than be cut, except in columns that were narrowed to fit the terminal. So a table of any length
/// can be printed while it is read.
package struct TableLayout: Sendable {
  private static let gap = 2
  private static let narrowest = 3

  private let titles: [String]
  private let widths: [Int]
  private let isNumeric: [Bool]
  private let isNarrowed: [Bool]
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
    let widths = width.map { Self.fit(wanted, into: $0) } ?? wanted
    self.widths = widths
    isNarrowed = titles.indices.map { widths[$0] < wanted[$0] }
  }

  /// The titles and the line under them.
  package func header(_ style: TerminalStyle) -> [String] {
    let rules = widths.map { String(repeating: "─", count: $0) }
    return [
      joined(titles.map { ($0, Ink.bold) }, style), joined(rules.map { ($0, Ink.dim) }, style),
    ]
  }

  /// One row as a line without its line end.
  package func line(_ row: [TableCell], _ style: TerminalStyle) -> String {
    let cells = titles.indices.map { column -> (text: String, ink: Ink?) in
      let cell = column < row.count ? row[column] : .text("")
      let limit = isNarrowed[column] ? widths[column] : lineWidth ?? .max
      return (cell.shown(upToWidth: limit), cell == .null ? .dim : nil)
    }
    return joined(cells, style)
  }

  private typealias Ink = TerminalStyle.Ink

  /// Puts cells side by side; what does not fit the terminal is cut at its right edge.
  private func joined(_ cells: [(text: String, ink: Ink?)], _ style: TerminalStyle) -> String {
    var line = ""
    var room = lineWidth ?? .max
    for (column, cell) in cells.enumerated() {
      let gap = column > 0 ? Self.gap : 0
      // A cut cell of one column would be nothing but the sign of the cut.
      guard room >= gap + 1 else { break }
      let text = padded(cell.text, column).truncated(toWidth: room - gap)
      line += String(repeating: " ", count: gap)
      line += cell.ink.map { style.paint(text, $0) } ?? text
      room -= gap + text.displayWidth
    }
    while line.last == " " { line.removeLast() }
    return line
  }

  private func padded(_ text: String, _ column: Int) -> String {
    let shown = isNarrowed[column] ? text.truncated(toWidth: widths[column]) : text
    let padding = widths[column] - shown.displayWidth
    if padding <= 0 { return shown }
    let space = String(repeating: " ", count: padding)
    return isNumeric[column] ? space + shown : shown + space
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
