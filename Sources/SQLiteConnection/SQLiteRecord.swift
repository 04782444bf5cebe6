/// Rows in SQLite's record format: a header of serial types, then the values.
///
/// ```
/// varint header size | varint serial type of each value | bytes of each value
/// ```
///
/// Source: SQLite, "Database File Format", section 2.1, <https://www.sqlite.org/fileformat2.html>.
/// Texts are UTF-8 whatever the database's encoding, and a real stays a real: a reader need not know
/// where the row came from.
package enum SQLiteRecord {
  /// Returns a row as a record.
  package static func encode(_ values: [SQLiteValue]) -> [UInt8] {
    var buffer = RecordBuffer()
    let range = buffer.append(values.map(RecordCell.init), limit: .max)
    return range.map { Array(buffer.bytes[$0]) } ?? []
  }

  /// Returns the values of a record, or `nil` for bytes that are none.
  package static func decode(_ record: some Collection<UInt8>) -> [SQLiteValue]? {
    let bytes = Array(record)
    var reader = Reader(bytes: bytes)
    guard let headerSize = reader.varint().flatMap(Int.init(exactly:)), headerSize <= bytes.count,
      headerSize >= reader.position
    else { return nil }
    var content = Reader(bytes: bytes)
    content.position = headerSize
    var values: [SQLiteValue] = []
    while reader.position < headerSize {
      guard let type = reader.varint(), reader.position <= headerSize,
        let value = content.value(ofType: type)
      else { return nil }
      values.append(value)
    }
    return content.position == bytes.count ? values : nil
  }

  private struct Reader {
    let bytes: [UInt8]
    var position = 0

    /// Seven bits a byte, the highest first; the ninth byte has eight ("A variable-length integer").
    mutating func varint() -> UInt64? {
      var result: UInt64 = 0
      for index in 0..<9 {
        guard position < bytes.count else { return nil }
        let byte = bytes[position]
        position += 1
        if index == 8 { return result << 8 | UInt64(byte) }
        result = result << 7 | UInt64(byte & 0x7f)
        if byte < 0x80 { return result }
      }
      return nil
    }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
      guard count <= bytes.count - position else { return nil }
      defer { position += count }
      return bytes[position..<position + count]
    }

    mutating func value(ofType type: UInt64) -> SQLiteValue? {
      switch type {
      case 0: return .null
      case 1...6:
        return take([1, 2, 3, 4, 6, 8][Int(type) - 1]).map { .integer($0.bigEndianInteger) }
      case 7:
        return take(8).map { .real(Double(bitPattern: UInt64(bitPattern: $0.bigEndianInteger))) }
      case 8: return .integer(0)
      case 9: return .integer(1)
      // Reserved for SQLite's own use; never in a file.
      case 10, 11: return nil
      default:
        guard let count = Int(exactly: (type - 12) / 2), let content = take(count) else {
          return nil
        }
        return type % 2 == 0
          ? .blob(Array(content)) : .text(String(decoding: content, as: UTF8.self))
      }
    }
  }
}

extension ArraySlice<UInt8> {
  /// The bytes as a signed number, the highest first.
  fileprivate var bigEndianInteger: Int64 {
    var result: Int64 = first.map { $0 >= 0x80 ? -1 : 0 } ?? 0
    for byte in self { result = result << 8 | Int64(byte) }
    return result
  }
}
