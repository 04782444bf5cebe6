import CommandLineSupport
import Testing

@Suite struct JSONLinesReaderTests {
  private func read(_ text: String, piece: Int = 4096) throws -> [JSONLinesRecord] {
    try read(bytes: Array(text.utf8), piece: piece)
  }

  private func read(bytes: [UInt8], piece: Int = 4096, limit: Int = 1 << 20) throws
    -> [JSONLinesRecord]
  {
    var reader = JSONLinesReader(ByteInput(bytes, piece: piece), lineLimit: limit)
    var record = JSONLinesRecord()
    var result: [JSONLinesRecord] = []
    while try reader.next(into: &record) { result.append(record) }
    return result
  }

  private func value(_ json: String) throws -> JSONLinesValue? {
    try read(#"{"v": \#(json)}"#).first?.members.first?.value
  }

  @Test(
    arguments: [
      ("null", .null), ("true", .boolean(true)), ("false", .boolean(false)),
      ("0", .integer(0)), ("-0", .integer(0)), ("42", .integer(42)),
      ("9007199254740993", .integer(9_007_199_254_740_993)),
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ("1.0", .real(1)), ("-2.5e-3", .real(-0.0025)), ("1E2", .real(100)),
      ("9e999", .real(.infinity)),
      ("-9e999", .real(-.infinity)),
      (#""""#, .text("")), (#""a\"\\\/\b\f\n\r\t""#, .text("a\"\\/\u{8}\u{C}\n\r\t")),
      (#""\u00e9\u65E5\ud83d\udc4d""#, .text("é日👍")), (#""\u0000""#, .text("\0")),
      (#""日本👍""#, .text("日本👍")),
      ("[]", .nested("[]")), ("{}", .nested("{}")),
      (#"[1, {"a":[true,null,-1.5e3]}, "]"]"#, .nested(#"[1, {"a":[true,null,-1.5e3]}, "]"]"#)),
    ] as [(String, JSONLinesValue)])
  func `every kind of value comes out exactly`(json: String, expected: JSONLinesValue) throws {
    #expect(try value(json) == expected)
  }

  @Test func `members keep their order and lines their numbers`() throws {
    let text = "\u{FEFF}{\"b\":1,\"a\":2}\r\n\n  \n { } \n{\"c\":\"x\"}"
    for piece in [1, 4096] {
      let records = try read(text, piece: piece)
      #expect(records.map(\.line) == [1, 4, 5])
      #expect(records.map { $0.members.map(\.name) } == [["b", "a"], [], ["c"]])
      #expect(records[0].members.map(\.column) == [2, 8])
    }
  }

  @Test(arguments: [
    ("[1]", 1, "an object in braces is expected on each line"),
    ("{\"a\":1", 7, "the line ends before the closing }"),
    ("{\"a\":1,}", 8, "a name in quotes is expected"),
    ("{\"a\" 1}", 6, "a colon is expected"),
    ("{\"a\":1 \"b\":2}", 8, "a comma or } is expected"),
    ("{a:1}", 2, "a name in quotes is expected"),
    ("{\"a\":}", 6, "a value is expected"),
    ("{\"a\":tru}", 6, "a value is expected"),
    ("{\"a\":'x'}", 6, "a value is expected"),
    ("{\"a\":01}", 6, "a number does not begin with 0"),
    ("{\"a\":1.}", 8, "a digit is expected"),
    ("{\"a\":-}", 7, "a digit is expected"),
    ("{\"a\":1e+}", 9, "a digit is expected"),
    ("{\"a\":NaN}", 6, "a value is expected"),
    ("{\"a\":[1,2}", 10, "a comma or ] is expected"),
    ("{\"a\":\"x}", 6, "the string that begins here is never closed"),
    ("{\"a\":\"é\\x\"}", 8, "unknown escape in a string"),
    ("{\"a\":\"\\u12\"}", 7, "four hexadecimal digits are expected after \\u"),
    ("{\"a\":\"\\ud83d\"}", 7, "half of a surrogate pair in a string"),
    ("{\"a\":\"\\ud83d\\u0041\"}", 7, "half of a surrogate pair in a string"),
    ("{\"a\":\"\\udc4d\"}", 7, "half of a surrogate pair in a string"),
    ("{\"a\":\"x\ty\"}", 8, "a control character in a string; write it as an escape"),
    ("{\"a\":1} {\"a\":2}", 9, "text after the end of the object"),
    ("{\"a\":1,\"a\":2}", 8, "the name “a” appears twice in this object"),
    (
      "{\"a\":9223372036854775808}", 6,
      "the integer 9223372036854775808 does not fit into 64 bits; put it in quotes to keep it as text"
    ),
  ])
  func `what is malformed is reported with its place`(
    text: String, column: Int, sentence: String
  ) {
    #expect(throws: MalformedInput(line: 3, column: column, reason: .json(sentence))) {
      try read("{\"ok\":1}\n\n\(text)\n{\"never\":\"read\"}\n")
    }
  }

  @Test func `bytes that are not UTF-8 are reported`() {
    #expect(throws: MalformedInput(line: 1, column: 6, reason: .invalidUTF8)) {
      try read(bytes: Array(#"{"a":""#.utf8) + [0xFF] + Array("\"}\n".utf8))
    }
  }

  @Test func `nesting is bounded without harm to the stack`() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(try value(nested(256)) == .nested(nested(256)))
    #expect(throws: MalformedInput.self) { try value(nested(257)) }
    #expect(throws: MalformedInput.self) { try value(String(repeating: "[", count: 500_000)) }
  }

  @Test func `a line above the limit is an error`() {
    #expect(throws: MalformedInput(line: 2, column: 1, reason: .recordTooLong(limit: 20))) {
      try read(
        bytes: Array("{\"a\":1}\n{\"a\":\"\(String(repeating: "x", count: 50))\"}\n".utf8),
        limit: 20)
    }
  }
}

@Suite struct JSONTextTests {
  @Test(arguments: [
    ("", #""""#), ("a\"\\b", #""a\"\\b""#), ("\n\r\t", #""\n\r\t""#),
    ("\u{1B}\0", #""\u001b\u0000""#),
    ("日本👍", "\"日本👍\""),
  ])
  func `strings are escaped`(text: String, json: String) {
    #expect(JSONText.string(text) == json)
  }

  @Test(arguments: [0.1, -0.0, 1e300, .leastNonzeroMagnitude, .infinity, -.infinity, 3, 1e16])
  func `a double reads back the same`(number: Double) throws {
    var reader = JSONLinesReader(
      ByteInput(Array(JSONText.object([("v", JSONText.number(number))]).utf8)))
    var record = JSONLinesRecord()
    #expect(try reader.next(into: &record))
    #expect(record.members.first?.value == .real(number))
  }

  @Test func `objects and arrays are put together`() {
    #expect(
      JSONText.object([("a", "1"), ("b\n", JSONText.array(["2", "null"]))])
        == #"{"a":1,"b\n":[2,null]}"#)
  }
}
