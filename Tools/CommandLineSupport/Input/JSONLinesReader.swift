/// A value of a JSON object, as far as a table's column can hold it.
package enum JSONLinesValue: Sendable, Equatable {
  /// `null`.
  case null
  /// `true` or `false`.
  case boolean(Bool)
  /// A number without fraction and exponent, exactly.
  case integer(Int64)
  /// Any other number; one beyond the range of doubles is an infinity.
  case real(Double)
  /// A string.
  case text(String)
  /// An array or object, as its JSON text.
  case nested(String)
}

/// One line of a JSON lines file: an object, its members in the order of the file.
package struct JSONLinesRecord: Sendable, Equatable {
  /// A name and its value.
  package struct Member: Sendable, Equatable {
    /// The name.
    package let name: String
    /// The value.
    package let value: JSONLinesValue
    /// The column of the line at which the member begins, in characters from 1.
    package let column: Int
  }

  /// The members; names differ from one another.
  package var members: [Member] = []

  /// The line, counted from 1.
  package var line = 0

  /// Starts empty.
  package init() {}
}

/// Reads a file with one JSON object a line.
///
/// Empty lines are skipped, and so is a byte order mark. Memory is one buffer and one line: a line
/// above `lineLimit` bytes is an error.
package struct JSONLinesReader {
  private let input: ByteInput
  private let lineLimit: Int
  private var line = 0
  private var bytes: [UInt8] = []

  /// The number of bytes taken from the input so far.
  package var bytesRead: Int64 { input.bytesRead }

  /// Starts at the beginning of the input.
  package init(_ input: ByteInput, lineLimit: Int = 256 << 20) {
    self.input = input
    self.lineLimit = lineLimit
  }

  /// Fills the record with the next object; returns false at the end of the input.
  package mutating func next(into record: inout JSONLinesRecord) throws(MalformedInput) -> Bool {
    if line == 0 { try ByteOrderMark.skip(input) }
    while try readLine() {
      line += 1
      if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
      record.line = line
      record.members = try JSONLineParser.members(of: bytes, line: line)
      return true
    }
    return false
  }

  private mutating func readLine() throws(MalformedInput) -> Bool {
    bytes.removeAll(keepingCapacity: true)
    do {
      while let byte = try input.next() {
        if byte == UInt8(ascii: "\n") { return true }
        guard bytes.count < lineLimit else { break }
        bytes.append(byte)
      }
    } catch {
      throw MalformedInput(line: line + 1, column: 1, reason: .unreadable(errno: error.errno))
    }
    guard bytes.count < lineLimit else {
      throw MalformedInput(line: line + 1, column: 1, reason: .recordTooLong(limit: lineLimit))
    }
    return !bytes.isEmpty
  }
}
