import BoutiqueDB
import CommandLineSupport

/// Writes rows as comma- or tab-separated values that `boutique import` reads back the same.
struct DelimitedRowWriter: RowWriter {
  private let output: TextOutput
  private let format: DelimitedFormat
  private let showsHeader: Bool

  init(_ output: TextOutput, format: DelimitedFormat, showsHeader: Bool) {
    self.output = output
    self.format = format
    self.showsHeader = showsHeader
  }

  func begin(columns: [String]) throws {
    if showsHeader, !columns.isEmpty { try output.write(format.line(columns)) }
  }

  func write(_ values: [SQLValue]) throws {
    try output.write(format.line(values.map(\.fieldText)))
  }

  func end() {}
}
