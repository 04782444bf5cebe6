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

  /// Inserts all rows that are left, and calls `inserted` after each.
  mutating func insertAll(
    with inserter: inout RowInserter, inserted: (_ bytesRead: Int64) throws -> Void
  ) throws

  /// Takes all rows that are left into account.
  mutating func infer(into inference: inout TypeInference) throws(MalformedInput)
}

extension RowSource {
  mutating func insertAll(
    with inserter: inout RowInserter, inserted: (_ bytesRead: Int64) throws -> Void
  ) throws {
    while let row = try next() {
      try inserter.insert(row)
      try inserted(bytesRead)
    }
  }

  mutating func infer(into inference: inout TypeInference) throws(MalformedInput) {
    while let row = try next() { inference.add(row) }
  }
}
