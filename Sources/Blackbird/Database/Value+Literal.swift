import Foundation

extension Blackbird.Value {
  /// Returns the value as SQL text.
  ///
  /// Values belong into arguments; this is for showing, and for places that take no parameters. Infinity is
  /// a number too large for SQLite, and what is not a number is NULL, as SQLite itself stores it.
  public func sqliteLiteral() -> String {
    switch self {
    case .null: return "NULL"
    case .integer(let value): return String(value)
    case .double(let value):
      if value.isNaN { return "NULL" }
      if value.isInfinite { return value < 0 ? "-9e999" : "9e999" }
      return String(value)
    case .text(let text):
      // A literal of text ends at a NUL.
      guard !text.utf8.contains(0) else { return "CAST(\(Self.hex(text.utf8)) AS TEXT)" }
      return "'" + text.doubling("'") + "'"
    case .data(let data): return Self.hex(data)
    }
  }

  /// Returns the value that ``sqliteLiteral()`` has written, or nil for another text.
  public static func fromSQLiteLiteral(_ literal: String) -> Blackbird.Value? {
    // By bytes, as SQLite reads it: a quote and a combining mark are one character for Swift.
    let text = literal.utf8
    if text.elementsEqual("NULL".utf8) { return .null }
    if text.count >= 2, text.first == quote, text.last == quote {
      let inner = text.dropFirst().dropLast()
      let value = Blackbird.Value.text(String(Substring(inner)).undoubling("'"))
      // A quote alone ends the text before its end.
      guard value.sqliteLiteral().utf8.elementsEqual(text) else { return nil }
      return value
    }
    if text.starts(with: "CAST(".utf8), text.count >= 14,
      text.suffix(9).elementsEqual(" AS TEXT)".utf8)
    {
      return bytes(ofHex: text.dropFirst(5).dropLast(9))
        .flatMap { String(validating: $0, as: UTF8.self) }.map { .text($0) }
    }
    if let data = bytes(ofHex: text[...]) { return .data(data) }
    if let value = Int64(literal) { return .integer(value) }
    return Double(literal).map { .double($0) }
  }

  private static let quote = UInt8(ascii: "'")

  private static func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return "X'" + String(decoding: text, as: UTF8.self) + "'"
  }

  private static func bytes(ofHex literal: Substring.UTF8View) -> Data? {
    guard literal.starts(with: "X'".utf8), literal.last == quote, literal.count >= 3 else {
      return nil
    }
    let digits = literal.dropFirst(2).dropLast().map {
      $0 < 0x80 ? Character(Unicode.Scalar($0)).hexDigitValue : nil
    }
    guard digits.count.isMultiple(of: 2) else { return nil }
    var data = Data(capacity: digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      data.append(UInt8(high << 4 | low))
    }
    return data
  }
}
