/// Parses one JSON object, RFC 8259, strictly; knows where it is when something is wrong.
struct JSONLineParser {
  /// Deeper nesting is refused: the parser calls itself once a level.
  static let depthLimit = 256

  private let bytes: [UInt8]
  private let line: Int
  private var position = 0

  /// Returns the members of the object that the line consists of.
  static func members(
    of bytes: [UInt8], line: Int
  ) throws(MalformedInput) -> [JSONLinesRecord.Member] {
    var parser = JSONLineParser(bytes: bytes, line: line)
    return try parser.object()
  }

  private init(bytes: [UInt8], line: Int) {
    self.bytes = bytes
    self.line = line
  }

  private mutating func object() throws(MalformedInput) -> [JSONLinesRecord.Member] {
    skipSpace()
    guard peek() == UInt8(ascii: "{") else {
      throw failure("an object in braces is expected on each line")
    }
    position += 1
    var members: [JSONLinesRecord.Member] = []
    var names: Set<String> = []
    skipSpace()
    if peek() == UInt8(ascii: "}") {
      position += 1
    } else {
      repeat {
        skipSpace()
        let start = position
        let name = try string("a name in quotes")
        if !names.insert(name).inserted {
          throw failure("the name “\(name)” appears twice in this object", at: start)
        }
        try colon()
        let value = try value()
        members.append(.init(name: name, value: value, column: column(at: start)))
      } while try separator(closing: UInt8(ascii: "}"))
    }
    skipSpace()
    if position < bytes.count { throw failure("text after the end of the object") }
    return members
  }

  private mutating func value() throws(MalformedInput) -> JSONLinesValue {
    skipSpace()
    let start = position
    switch peek() {
    case UInt8(ascii: "\""):
      return .text(try string("a value"))
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      try skipValue(depth: 1)
      guard let text = String(validating: bytes[start..<position], as: UTF8.self) else {
        throw failure(.invalidUTF8, at: start)
      }
      return .nested(text)
    case UInt8(ascii: "t"):
      try word("true")
      return .boolean(true)
    case UInt8(ascii: "f"):
      try word("false")
      return .boolean(false)
    case UInt8(ascii: "n"):
      try word("null")
      return .null
    default:
      return try number()
    }
  }

  // MARK: Values whose text is kept

  private mutating func skipValue(depth: Int) throws(MalformedInput) {
    skipSpace()
    switch peek() {
    case UInt8(ascii: "{"):
      try skipContainer(closing: UInt8(ascii: "}"), depth: depth)
    case UInt8(ascii: "["):
      try skipContainer(closing: UInt8(ascii: "]"), depth: depth)
    case UInt8(ascii: "\""):
      _ = try string("a value")
    case UInt8(ascii: "t"):
      try word("true")
    case UInt8(ascii: "f"):
      try word("false")
    case UInt8(ascii: "n"):
      try word("null")
    default:
      _ = try numberText()
    }
  }

  private mutating func skipContainer(closing: UInt8, depth: Int) throws(MalformedInput) {
    guard depth <= Self.depthLimit else {
      throw failure("values are nested more than \(Self.depthLimit) deep")
    }
    position += 1
    skipSpace()
    if peek() == closing {
      position += 1
      return
    }
    repeat {
      if closing == UInt8(ascii: "}") {
        skipSpace()
        _ = try string("a name in quotes")
        try colon()
      }
      try skipValue(depth: depth + 1)
    } while try separator(closing: closing)
  }

  // MARK: Numbers

  private mutating func number() throws(MalformedInput) -> JSONLinesValue {
    let start = position
    let (text, isInteger) = try numberText()
    if isInteger {
      guard let integer = Int64(text) else {
        throw failure(
          "the integer \(text) does not fit into 64 bits; put it in quotes to keep it as text",
          at: start)
      }
      return .integer(integer)
    }
    // strtod's rule, which Double follows: beyond the range means infinity.
    return .real(Double(text) ?? .infinity)
  }

  private mutating func numberText() throws(MalformedInput) -> (text: String, isInteger: Bool) {
    let start = position
    var isInteger = true
    if peek() == UInt8(ascii: "-") { position += 1 }
    let firstDigit = peek()
    let digits = skipDigits()
    if digits == 0 {
      throw failure(start == position ? "a value is expected" : "a digit is expected")
    }
    if firstDigit == UInt8(ascii: "0"), digits > 1 {
      throw failure("a number does not begin with 0", at: start)
    }
    if peek() == UInt8(ascii: ".") {
      isInteger = false
      position += 1
      if skipDigits() == 0 { throw failure("a digit is expected") }
    }
    if peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") {
      isInteger = false
      position += 1
      if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { position += 1 }
      if skipDigits() == 0 { throw failure("a digit is expected") }
    }
    return (String(decoding: bytes[start..<position], as: UTF8.self), isInteger)
  }

  private mutating func skipDigits() -> Int {
    let start = position
    while let byte = peek(), byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    return position - start
  }

  // MARK: Strings

  private mutating func string(_ wanted: String) throws(MalformedInput) -> String {
    let start = position
    guard peek() == UInt8(ascii: "\"") else { throw failure("\(wanted) is expected") }
    position += 1
    var text: [UInt8] = []
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        guard let result = String(validating: text, as: UTF8.self) else {
          throw failure(.invalidUTF8, at: start)
        }
        return result
      case UInt8(ascii: "\\"):
        text += String(try escape()).utf8
      case 0..<0x20:
        throw failure("a control character in a string; write it as an escape")
      default:
        text.append(byte)
        position += 1
      }
    }
    throw failure("the string that begins here is never closed", at: start)
  }

  private mutating func escape() throws(MalformedInput) -> Unicode.Scalar {
    let start = position
    position += 1
    defer { position += 1 }
    switch peek() {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape(start)
    default: throw failure("unknown escape in a string", at: start)
    }
  }

  /// Reads `uXXXX`, and the second half of a pair of surrogates with it; ends on the last digit.
  private mutating func unicodeEscape(_ start: Int) throws(MalformedInput) -> Unicode.Scalar {
    let first = try hexadecimal(start)
    if let scalar = Unicode.Scalar(first) { return scalar }
    let isPair =
      first < 0xDC00 && position + 2 < bytes.count && bytes[position + 1] == UInt8(ascii: "\\")
      && bytes[position + 2] == UInt8(ascii: "u")
    if isPair {
      position += 2
      let second = try hexadecimal(start)
      if (0xDC00..<0xE000).contains(second),
        let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
      {
        return scalar
      }
    }
    throw failure("half of a surrogate pair in a string", at: start)
  }

  /// Reads the four digits after the present `u`; ends on the last of them.
  private mutating func hexadecimal(_ start: Int) throws(MalformedInput) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      position += 1
      guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue,
        byte < 0x80
      else { throw failure("four hexadecimal digits are expected after \\u", at: start) }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  // MARK: Marks and places

  private mutating func colon() throws(MalformedInput) {
    skipSpace()
    guard peek() == UInt8(ascii: ":") else { throw failure("a colon is expected") }
    position += 1
  }

  /// Takes a comma and returns true, or takes the closing mark and returns false.
  private mutating func separator(closing: UInt8) throws(MalformedInput) -> Bool {
    skipSpace()
    let byte = peek()
    guard byte == UInt8(ascii: ",") || byte == closing else {
      let mark = String(Unicode.Scalar(closing))
      throw failure(
        byte == nil ? "the line ends before the closing \(mark)" : "a comma or \(mark) is expected")
    }
    position += 1
    return byte != closing
  }

  private mutating func word(_ word: StaticString) throws(MalformedInput) {
    let start = position
    let letters = "\(word)".utf8
    guard bytes[position...].starts(with: letters) else {
      throw failure("a value is expected", at: start)
    }
    position += letters.count
  }

  private mutating func skipSpace() {
    while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A {
      position += 1
    }
  }

  private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  private func failure(_ sentence: String, at place: Int? = nil) -> MalformedInput {
    failure(.json(sentence), at: place ?? position)
  }

  private func failure(_ reason: MalformedInput.Reason, at place: Int) -> MalformedInput {
    MalformedInput(line: line, column: column(at: place), reason: reason)
  }

  /// Bytes that continue a character of UTF-8 are no column of their own.
  private func column(at place: Int) -> Int {
    1 + bytes[..<min(place, bytes.count)].reduce(0) { $1 & 0xC0 == 0x80 ? $0 : $0 + 1 }
  }
}
