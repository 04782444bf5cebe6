/// What is wrong with a text file, and where.
package struct MalformedInput: Error, Equatable, Sendable, CustomStringConvertible {
  /// A kind of fault.
  package enum Reason: Equatable, Sendable {
    /// A quoted field or the file's last record does not end.
    case unterminatedQuote
    /// Something other than the delimiter or a line end follows a closing quote.
    case textAfterQuote
    /// A quote stands inside a field that is not quoted.
    case quoteInPlainField
    /// A carriage return without line feed outside quotes.
    case loneCarriageReturn
    /// Bytes that are not UTF-8.
    case invalidUTF8
    /// A byte order mark of another encoding.
    case otherEncoding(String)
    /// A record, or a line, above the limit in bytes.
    case recordTooLong(limit: Int)
    /// The number of fields is not that of the first record.
    case fieldCount(expected: Int, found: Int)
    /// Text that is not JSON, or not the JSON that is wanted.
    case json(String)
    /// The file could not be read.
    case unreadable(errno: Int32)
    /// A rule of the caller, told in a sentence without full stop.
    case other(String)
  }

  /// The line, counted from 1.
  package let line: Int

  /// The column in characters (Unicode scalars), counted from 1.
  package let column: Int

  /// The kind of fault.
  package let reason: Reason

  /// Makes the report.
  package init(line: Int, column: Int, reason: Reason) {
    self.line = line
    self.column = column
    self.reason = reason
  }

  package var description: String { "line \(line), column \(column): \(reason)" }
}

extension MalformedInput.Reason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unterminatedQuote:
      "the quoted field that begins here is never closed"
    case .textAfterQuote:
      "text after the closing quote; a quote inside a quoted field is written twice"
    case .quoteInPlainField:
      "a quote inside a field that does not begin with one; put the whole field in quotes and "
        + "write the inner quote twice"
    case .loneCarriageReturn:
      "a carriage return without a line feed; put the field in quotes if it belongs to the text"
    case .invalidUTF8:
      "bytes that are not UTF-8; convert the file first, for example with iconv"
    case .otherEncoding(let name):
      "the file is \(name); convert it to UTF-8 first, for example with iconv"
    case .recordTooLong(let limit):
      "the record is longer than \(limit) bytes; is a closing quote missing?"
    case .fieldCount(let expected, let found):
      "\(expected) field\(expected == 1 ? "" : "s") expected, \(found) found"
    case .json(let sentence), .other(let sentence):
      sentence
    case .unreadable(let code):
      "cannot read on: \(SystemMessage.text(code))"
    }
  }
}
