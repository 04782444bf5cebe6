import BoutiqueDB
import CommandLineSupport

/// How rows are written.
enum RowFormat: String, Sendable {
  case table
  case json
  case csv
  case tsv

  /// The options that choose a format.
  static func options<Settings>(
    _ set: @escaping @Sendable (inout Settings, RowFormat) -> Void
  ) -> [CommandOption<Settings>] {
    [
      .flag("json", short: "j", help: "Write one JSON object a row and line.") {
        set(&$0, .json)
      },
      .flag("csv", help: "Write comma-separated values.") { set(&$0, .csv) },
      .flag("tsv", help: "Write tab-separated values; what is done when output is no terminal.") {
        set(&$0, .tsv)
      },
      .flag("table", help: "Write a table; what is done on a terminal.") { set(&$0, .table) },
    ]
  }

  func makeWriter(
    _ output: TextOutput, style: TerminalStyle, showsHeader: Bool
  ) -> any RowWriter {
    switch self {
    case .table: TableRowWriter(output, style: style, showsHeader: showsHeader)
    case .json: JSONRowWriter(output)
    case .csv: DelimitedRowWriter(output, format: .csv, showsHeader: showsHeader)
    case .tsv: DelimitedRowWriter(output, format: .tsv, showsHeader: showsHeader)
    }
  }
}

/// Writes the rows of one result while they are read.
protocol RowWriter {
  /// Gives the names of the columns, before any row.
  mutating func begin(columns: [String]) throws

  /// Gives the next row.
  mutating func write(_ values: [SQLValue]) throws

  /// Says that there are no more rows.
  mutating func end() throws
}
