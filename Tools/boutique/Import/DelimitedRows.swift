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
    guard let names = try readRecord() else { return nil }
    return try row(names)
  }

  // The two below make no value of a field: a file may have a hundred million of them.

  mutating func insertAll(
    with inserter: inout RowInserter, inserted: (_ bytesRead: Int64) throws -> Void
  ) throws {
    while let names = try readRecord() {
      try record.withFields { fields in
        try inserter.insert(fields, isNull: isNull, names) { try row(names) }
      }
      try inserted(bytesRead)
    }
  }

  mutating func infer(into inference: inout TypeInference) throws(MalformedInput) {
    while let names = try readRecord() {
      do {
        try record.withFields { inference.add($0, isNull: isNull, names) }
      } catch let malformed as MalformedInput {
        throw malformed
      } catch {
        throw MalformedInput(line: record.line, column: 1, reason: .other("\(error)"))
      }
    }
  }

  /// Whether a field stands for NULL.
  private func isNull(_ fields: DelimitedFields, _ index: Int) -> Bool {
    let field = fields[index]
    return field.count == nullText.utf8.count && !fields.isQuoted(index)
      && field.elementsEqual(nullText.utf8)
  }

  /// Reads the next record and returns the names of its fields; nil at the end.
  private mutating func readRecord() throws(MalformedInput) -> [String]? {
    guard try reader.next(into: &record) else { return nil }
    if let columns { return columns }
    // Without any names the first record decides how many fields there are.
    let names = (1...record.count).map { "column\($0)" }
    columns = names
    return names
  }

  private func row(_ names: [String]) throws(MalformedInput) -> ImportRow {
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
