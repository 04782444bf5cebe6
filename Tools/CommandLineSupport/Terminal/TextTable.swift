/// A small table for people, kept in memory and laid out as a whole.
package struct TextTable: Sendable, Equatable {
  /// The titles of the columns.
  package let titles: [String]

  /// The rows so far.
  package private(set) var rows: [[TableCell]] = []

  /// Starts an empty table.
  package init(titles: [String]) { self.titles = titles }

  /// Adds a row at the end.
  package mutating func append(_ row: [TableCell]) { rows.append(row) }

  /// The table as lines without line ends, cut to the width of the style.
  package func lines(_ style: TerminalStyle, showsHeader: Bool = true) -> [String] {
    let layout = TableLayout(titles: titles, sample: rows, width: style.columns)
    return (showsHeader ? layout.header(style) : []) + rows.map { layout.line($0, style) }
  }
}
