import BoutiqueDB
import CommandLineSupport

/// One row to insert: values, the columns they go to, and where they stand in the file.
struct ImportRow: Sendable {
  /// The line on which the row begins.
  var line: Int

  /// The names of the columns; all rows of a delimited file share one list.
  var columns: [String]

  /// The values, in the order of the columns.
  var values: [SQLValue]

  /// Where each value begins.
  var places: [Place]

  /// A place in the file, counted from 1.
  struct Place: Sendable {
    var line: Int
    var column: Int
  }

  /// A report about one value.
  func malformed(_ index: Int, _ sentence: String) -> MalformedInput {
    MalformedInput(
      line: places[index].line, column: places[index].column, reason: .other(sentence))
  }
}

/// A file read row by row.
protocol RowSource {
  /// The columns that every row has; nil when they differ from row to row or are not known yet.
  var columns: [String]? { get set }

  /// Where the names of a header line stand; empty without one.
  var headerPlaces: [ImportRow.Place] { get }

  /// The number of bytes read so far.
  var bytesRead: Int64 { get }

  /// Returns the next row, nil at the end.
  mutating func next() throws(MalformedInput) -> ImportRow?
}
