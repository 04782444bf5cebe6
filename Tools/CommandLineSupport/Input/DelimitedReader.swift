/// Reads comma- or tab-separated values record by record, RFC 4180.
///
/// Fields may be quoted; a quoted field may hold delimiters, line ends and, written twice, quotes.
/// Lines end with LF or CRLF; a byte order mark of UTF-8 is skipped. What the RFC leaves open or
/// forbids is reported with its place rather than guessed. Memory is one buffer and one record: a
/// record above `recordLimit` bytes, as a missing closing quote makes it, is an error too.
package struct DelimitedReader {
  private enum Mark {
    static let quote = UInt8(ascii: "\"")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
  }

  private let input: ByteInput
  private let format: DelimitedFormat
  private let recordLimit: Int
  /// The bytes that mean something in a field without quotes, and in one with them.
  private let plainStops: ByteSet
  private let quotedStops = ByteSet([Mark.quote, Mark.lineFeed])
  private var line = 1
  private var column = 1
  private var isAtStart = true

  /// The number of fields every further record must have; nil for any number.
  ///
  /// Empty lines are skipped unless one field is expected: then an empty line is an empty field.
  package var expectedFieldCount: Int?

  /// The number of bytes taken from the input so far.
  package var bytesRead: Int64 { input.bytesRead }

  /// Starts at the beginning of the input.
  package init(_ input: ByteInput, format: DelimitedFormat, recordLimit: Int = 256 << 20) {
    self.input = input
    self.format = format
    self.recordLimit = recordLimit
    plainStops = ByteSet([format.delimiter, Mark.lineFeed, Mark.carriageReturn, Mark.quote])
  }

  /// Fills the record with the next one; returns false at the end of the input.
  package mutating func next(into record: inout DelimitedRecord) throws(MalformedInput) -> Bool {
    if isAtStart { try skipByteOrderMark() }
    while true {
      guard try readRecord(into: &record) else { return false }
      guard let expected = expectedFieldCount, record.count != expected else { return true }
      if record.isBlank { continue }
      throw record.malformed(
        min(record.count, expected), .fieldCount(expected: expected, found: record.count))
    }
  }

  private mutating func readRecord(
    into record: inout DelimitedRecord
  ) throws(MalformedInput) -> Bool {
    guard try peek() != nil else { return false }
    record.begin(line: line)
    while true {
      let start = (line: line, column: column)
      let isQuoted = try peek() == Mark.quote
      let ending =
        isQuoted ? try readQuotedField(into: &record) : try readPlainField(into: &record)
      record.endField(line: start.line, column: start.column, isQuoted: isQuoted)
      if ending == .record { return true }
    }
  }

  private enum Ending {
    case field
    case record
  }

  private mutating func readPlainField(
    into record: inout DelimitedRecord
  ) throws(MalformedInput) -> Ending {
    while true {
      takeRun(until: plainStops, into: &record)
      let place = (line: line, column: column)
      guard let byte = try take() else { return .record }
      if byte == format.delimiter { return .field }
      switch byte {
      case Mark.lineFeed:
        return .record
      case Mark.carriageReturn:
        try takeLineFeed(at: place)
        return .record
      case Mark.quote where !format.allowsQuoteInPlainField:
        throw MalformedInput(line: place.line, column: place.column, reason: .quoteInPlainField)
      default:
        try append(byte, to: &record, start: place)
      }
    }
  }

  private mutating func readQuotedField(
    into record: inout DelimitedRecord
  ) throws(MalformedInput) -> Ending {
    let start = (line: line, column: column)
    _ = try take()
    while true {
      takeRun(until: quotedStops, into: &record)
      guard let byte = try take() else {
        throw MalformedInput(line: start.line, column: start.column, reason: .unterminatedQuote)
      }
      if byte != Mark.quote {
        try append(byte, to: &record, start: start)
        continue
      }
      let place = (line: line, column: column)
      guard let following = try take() else { return .record }
      if following == format.delimiter { return .field }
      switch following {
      case Mark.quote:
        try append(Mark.quote, to: &record, start: start)
      case Mark.lineFeed:
        return .record
      case Mark.carriageReturn:
        try takeLineFeed(at: place)
        return .record
      default:
        throw MalformedInput(line: place.line, column: place.column, reason: .textAfterQuote)
      }
    }
  }

  /// Takes what means nothing but itself in one piece; a record that would become too long is left to `append`.
  @inline(__always)
  private mutating func takeRun(until stops: ByteSet, into record: inout DelimitedRecord) {
    var columns = 0
    input.takeRun(until: stops) { bytes, isASCII in
      guard record.byteCount + bytes.count <= recordLimit else { return false }
      record.append(bytes, isASCII: isASCII)
      columns =
        isASCII ? bytes.count : bytes.reduce(0) { $0 + ($1 & 0xC0 != 0x80 ? 1 : 0) }
      return true
    }
    column += columns
  }

  private func append(
    _ byte: UInt8, to record: inout DelimitedRecord, start: (line: Int, column: Int)
  ) throws(MalformedInput) {
    guard record.byteCount < recordLimit else {
      throw MalformedInput(
        line: start.line, column: start.column, reason: .recordTooLong(limit: recordLimit))
    }
    record.append(byte)
  }

  private mutating func takeLineFeed(at place: (line: Int, column: Int)) throws(MalformedInput) {
    guard try peek() == Mark.lineFeed else {
      throw MalformedInput(line: place.line, column: place.column, reason: .loneCarriageReturn)
    }
    _ = try take()
  }

  /// Takes a byte and moves the position over it.
  ///
  /// Bytes that continue a character of UTF-8 are no column of their own.
  private mutating func take() throws(MalformedInput) -> UInt8? {
    do {
      guard let byte = try input.next() else { return nil }
      if byte == Mark.lineFeed {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
      return byte
    } catch {
      throw MalformedInput(line: line, column: column, reason: .unreadable(errno: error.errno))
    }
  }

  private func peek() throws(MalformedInput) -> UInt8? {
    do {
      return try input.peek()
    } catch {
      throw MalformedInput(line: line, column: column, reason: .unreadable(errno: error.errno))
    }
  }

  private mutating func skipByteOrderMark() throws(MalformedInput) {
    isAtStart = false
    try ByteOrderMark.skip(input)
  }
}
