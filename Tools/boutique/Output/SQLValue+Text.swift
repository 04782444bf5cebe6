import BoutiqueDB
import CommandLineSupport

// How values are written. A blob is an SQL literal everywhere, x'0aff', so that it can be told from
// text by eye and pasted into SQL.

extension SQLValue {
  /// For a table; long blobs are shown by their head and size.
  var tableCell: TableCell {
    switch self {
    case .null: .null
    case .integer(let value): .number(String(value))
    case .real(let value): .number(Self.text(value))
    case .text(let value): .text(value)
    case .blob(let bytes) where bytes.count > 32:
      .text("x'\(Self.hexadecimal(bytes.prefix(16)))…' (\(bytes.count) bytes)")
    case .blob(let bytes): .text("x'\(Self.hexadecimal(bytes[...]))'")
    }
  }

  /// For JSON.
  var jsonText: String {
    switch self {
    case .null: "null"
    case .integer(let value): String(value)
    case .real(let value): JSONText.number(value)
    case .text(let value): JSONText.string(value)
    case .blob(let bytes): "\"x'\(Self.hexadecimal(bytes[...]))'\""
    }
  }

  /// For delimited values; nil is NULL.
  var fieldText: String? {
    switch self {
    case .null: nil
    case .integer(let value): String(value)
    case .real(let value): Self.text(value)
    case .text(let value): value
    case .blob(let bytes): "x'\(Self.hexadecimal(bytes[...]))'"
    }
  }

  /// A number that SQLite and people read as the same double.
  private static func text(_ value: Double) -> String {
    if value.isInfinite { return value < 0 ? "-9e999" : "9e999" }
    return value.description
  }

  private static func hexadecimal(_ bytes: ArraySlice<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
