/// One record of a delimited file; the same value is filled again for each record, so that reading
/// a long file makes no garbage.
package struct DelimitedRecord: Sendable {
  fileprivate struct Field {
    var end: Int
    var line: Int
    var column: Int
    var isQuoted: Bool
  }

  private var bytes: [UInt8] = []
  private var fields: [Field] = []
  /// Whether no byte needs a look at whether it is UTF-8.
  private var isASCII = true

  /// The line on which the record begins, counted from 1.
  package private(set) var line = 0

  /// Starts empty.
  package init() {}

  /// The number of fields.
  package var count: Int { fields.count }

  /// Whether the record is an empty line.
  package var isBlank: Bool { fields.count == 1 && bytes.isEmpty && !fields[0].isQuoted }

  /// Whether the field was written in quotes.
  package func isQuoted(_ index: Int) -> Bool { fields[index].isQuoted }

  /// Where the field begins.
  package func position(_ index: Int) -> (line: Int, column: Int) {
    (fields[index].line, fields[index].column)
  }

  /// The text of a field, unquoted.
  package func text(_ index: Int) throws(MalformedInput) -> String {
    let start = index == 0 ? 0 : fields[index - 1].end
    guard let text = String(validating: bytes[start..<fields[index].end], as: UTF8.self) else {
      throw malformed(index, .invalidUTF8)
    }
    return text
  }

  /// Calls `body` with the bytes of the fields, unquoted and UTF-8; they are valid during the call.
  package func withFields<R>(_ body: (DelimitedFields) throws -> R) throws -> R {
    if !isASCII {
      for index in fields.indices { _ = try text(index) }
    }
    return try bytes.withUnsafeBytes { bytes in
      try fields.withUnsafeBufferPointer { try body(DelimitedFields(bytes: bytes, fields: $0)) }
    }
  }

  /// All fields in order.
  package func texts() throws(MalformedInput) -> [String] {
    var result: [String] = []
    result.reserveCapacity(count)
    for index in 0..<count { result.append(try text(index)) }
    return result
  }

  /// A report about a field of this record; one past the last means the last.
  package func malformed(_ index: Int, _ reason: MalformedInput.Reason) -> MalformedInput {
    let place = count > 0 ? position(min(index, count - 1)) : (line, 1)
    return MalformedInput(line: place.0, column: place.1, reason: reason)
  }

  mutating func begin(line: Int) {
    bytes.removeAll(keepingCapacity: true)
    fields.removeAll(keepingCapacity: true)
    isASCII = true
    self.line = line
  }

  var byteCount: Int { bytes.count }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    if byte >= 0x80 { isASCII = false }
    bytes.append(byte)
  }

  @inline(__always)
  mutating func append(_ run: UnsafeBufferPointer<UInt8>, isASCII: Bool) {
    if !isASCII { self.isASCII = false }
    bytes.append(contentsOf: run)
  }

  mutating func endField(line: Int, column: Int, isQuoted: Bool) {
    fields.append(Field(end: bytes.count, line: line, column: column, isQuoted: isQuoted))
  }
}

/// The bytes of a record's fields.
package struct DelimitedFields {
  fileprivate let bytes: UnsafeRawBufferPointer
  fileprivate let fields: UnsafeBufferPointer<DelimitedRecord.Field>

  /// The number of fields.
  package var count: Int { fields.count }

  /// The bytes of a field.
  package subscript(index: Int) -> UnsafeRawBufferPointer {
    let start = index == 0 ? 0 : fields[index - 1].end
    return UnsafeRawBufferPointer(rebasing: bytes[start..<fields[index].end])
  }

  /// Whether a field was written in quotes.
  package func isQuoted(_ index: Int) -> Bool { fields[index].isQuoted }
}
