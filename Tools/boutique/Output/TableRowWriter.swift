import BoutiqueDB
import CommandLineSupport

/// Writes rows as a table.
///
/// The first rows are kept until the widths are known; what follows is
/// written at once, so that results of any length take constant memory.
struct TableRowWriter: RowWriter {
  private static let sampleSize = 500

  private let output: TextOutput
  private let style: TerminalStyle
  private let showsHeader: Bool
  private var columns: [String] = []
  private var sample: [[TableCell]] = []
  private var layout: TableLayout?

  init(_ output: TextOutput, style: TerminalStyle, showsHeader: Bool) {
    self.output = output
    self.style = style
    self.showsHeader = showsHeader
  }

  mutating func begin(columns: [String]) { self.columns = columns }

  mutating func write(_ values: [SQLValue]) throws {
    let cells = values.map(\.tableCell)
    if let layout {
      try output.write(layout.line(cells, style) + "\n")
    } else {
      sample.append(cells)
      if sample.count == Self.sampleSize { try writeSample() }
    }
  }

  mutating func end() throws {
    // A statement without result columns has no table.
    if layout == nil, !columns.isEmpty { try writeSample() }
  }

  private mutating func writeSample() throws {
    let layout = TableLayout(titles: columns, sample: sample, width: style.columns)
    self.layout = layout
    let lines = (showsHeader ? layout.header(style) : []) + sample.map { layout.line($0, style) }
    for line in lines { try output.write(line + "\n") }
    sample = []
  }
}
