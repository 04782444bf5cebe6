import BoutiqueDB
import CommandLineSupport

/// The rows of a CSV or TSV file.
struct DelimitedRows: RowSource {
  private var reader: DelimitedReader
  private var record = DelimitedRecord()
  private let nullText: String

  private(set) var headerPlaces: [ImportRow.Place] = []

  var columns: [String]? {
    didSet { reader.expectedFieldCount = columns?.count }
  }

  var bytesRead: Int64 { reader.bytesRead }

  /// Reads the header line if there is one.
  ///
  /// `columns` replaces its names.
  init(
    _ input: ByteInput, format: DelimitedFormat, hasHeader: Bool, columns: [String]?,
    nullText: String
  ) throws(MalformedInput) {
    reader = DelimitedReader(input, format: format)
    self.nullText = nullText
    self.columns = columns
    reader.expectedFieldCount = columns?.count
    if hasHeader { try readHeader() }
  }

  mutating func next() throws(MalformedInput) -> ImportRow? {
    guard try reader.next(into: &record) else { return nil }
    // Without any names the first record decides how many fields there are.
    let names = columns ?? (1...record.count).map { "column\($0)" }
    if columns == nil { columns = names }
    var row = ImportRow(line: record.line, columns: names, values: [], places: [])
    row.values.reserveCapacity(record.count)
    row.places.reserveCapacity(record.count)
    for index in 0..<record.count {
      let text = try record.text(index)
      row.values.append(text == nullText && !record.isQuoted(index) ? .null : .text(text))
      row.places.append(place(index))
    }
    return row
  }

  private mutating func readHeader() throws(MalformedInput) {
    guard try reader.next(into: &record) else {
      throw MalformedInput(
        line: 1, column: 1,
        reason: .other("the file is empty; a line with column names is expected"))
    }
    headerPlaces = (0..<record.count).map { place($0) }
    if columns != nil { return }
    let names = try record.texts()
    var seen: Set<String> = []
    for (index, name) in names.enumerated() {
      if name.isEmpty {
        throw record.malformed(index, .other("a column without a name in the header line"))
      }
      // SQLite's column names do not tell upper from lower case.
      if !seen.insert(name.lowercased()).inserted {
        throw record.malformed(index, .other("the column “\(name)” appears twice"))
      }
    }
    columns = names
  }

  private func place(_ index: Int) -> ImportRow.Place {
    let (line, column) = record.position(index)
    return ImportRow.Place(line: line, column: column)
  }
}
