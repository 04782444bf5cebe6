import SQLiteConnection

/// JSON as bytes, written for each changed row of a commit: no strings are made on the way.
struct JSONBytes {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  mutating func append(_ character: Unicode.Scalar) {
    bytes.append(UInt8(truncatingIfNeeded: character.value))
  }

  mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    var rest = number.magnitude
    if number < 0 { append("-") }
    // From the last digit on.
    let start = bytes.count
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest != 0
    // In place; reversing a slice would make one.
    var (low, high) = (start, bytes.count - 1)
    while low < high {
      bytes.swapAt(low, high)
      low += 1
      high -= 1
    }
  }

  /// Appends a text as a JSON string.
  ///
  /// NUL is written as an escape: SQLite's JSON functions stop at it otherwise.
  mutating func append(string text: String) {
    append("\"")
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        append("\\")
        bytes.append(byte)
      case ..<0x20:
        for digit in "\\u00".utf8 { bytes.append(digit) }
        append(hex: byte)
      default: bytes.append(byte)
      }
    }
    append("\"")
  }

  mutating func append(_ key: RowKey) {
    switch key {
    case .whole: append(literal: "null")
    case .rowID(let id): append(id)
    case .columns(let values):
      append("[")
      for (index, value) in values.enumerated() {
        if index > 0 { append(",") }
        append(value)
      }
      append("]")
    }
  }

  private mutating func append(_ value: SQLiteValue) {
    switch value {
    case .null: append(literal: "null")
    case .integer(let number): append(number)
    // Infinities have no JSON form; as texts they still tell the row apart for a reader.
    case .real(let number):
      if number.isFinite { append(literal: "\(number)") } else { append(string: "\(number)") }
    case .text(let text): append(string: text)
    case .blob(let blob):
      append(literal: "{\"x\":\"")
      for byte in blob { append(hex: byte) }
      append(literal: "\"}")
    }
  }

  private mutating func append(literal text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func append(hex byte: UInt8) {
    for digit in [byte >> 4, byte & 15] {
      bytes.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
    }
  }
}
