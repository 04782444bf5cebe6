/// One line that a child wrote to its standard output.
package struct OutputLine: Sendable, Hashable {
  /// The line without its newline.
  package let text: String
  /// The line as JSON, when it is an object.
  package let message: JSONValue?

  package init(_ text: String) {
    self.text = text
    message = text.hasPrefix("{") ? JSONValue(line: text) : nil
  }
}

/// Cuts a stream of bytes into lines.
struct LineSplitter {
  private var rest: [UInt8] = []

  /// Returns the lines that these bytes complete.
  mutating func add(_ bytes: some Sequence<UInt8>) -> [OutputLine] {
    var lines: [OutputLine] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        lines.append(OutputLine(String(decoding: rest, as: UTF8.self)))
        rest.removeAll(keepingCapacity: true)
      } else {
        rest.append(byte)
      }
    }
    return lines
  }

  /// Returns the last line when the stream ended without a newline.
  mutating func end() -> OutputLine? {
    defer { rest = [] }
    return rest.isEmpty ? nil : OutputLine(String(decoding: rest, as: UTF8.self))
  }
}
