import BoutiqueDB
import CommandLineSupport

/// The rows of a JSON lines file: each object names its own columns.
struct JSONRows: RowSource {
  private var reader: JSONLinesReader
  private var record = JSONLinesRecord()
  private let chosen: Set<String>?

  /// Objects differ, so there is no common list.
  var columns: [String]? {
    get { nil }
    set {}
  }

  var headerPlaces: [ImportRow.Place] { [] }

  var bytesRead: Int64 { reader.bytesRead }

  /// Takes only the chosen members of each object, or all.
  init(_ input: ByteInput, chosen: [String]?) {
    reader = JSONLinesReader(input)
    self.chosen = chosen.map { Set($0) }
  }

  mutating func next() throws(MalformedInput) -> ImportRow? {
    guard try reader.next(into: &record) else { return nil }
    var row = ImportRow(line: record.line, columns: [], values: [], places: [])
    for member in record.members where chosen?.contains(member.name) ?? true {
      row.columns.append(member.name)
      row.values.append(Self.value(member.value))
      row.places.append(ImportRow.Place(line: record.line, column: member.column))
    }
    return row
  }

  private static func value(_ value: JSONLinesValue) -> SQLValue {
    switch value {
    case .null: .null
    case .boolean(let value): .integer(value ? 1 : 0)
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .text(let text), .nested(let text): .text(text)
    }
  }
}
