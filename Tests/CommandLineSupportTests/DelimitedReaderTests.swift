import CommandLineSupport
import Testing

@Suite struct DelimitedReaderTests {
  private func read(
    _ text: String, _ format: DelimitedFormat = .csv, expecting count: Int? = nil, piece: Int = 4096
  ) throws -> [[String]] {
    try read(bytes: Array(text.utf8), format, expecting: count, piece: piece)
  }

  private func read(
    bytes: [UInt8], _ format: DelimitedFormat = .csv, expecting count: Int? = nil,
    piece: Int = 4096, limit: Int = 1 << 20
  ) throws -> [[String]] {
    var reader = DelimitedReader(
      ByteInput(bytes, piece: piece), format: format, recordLimit: limit)
    reader.expectedFieldCount = count
    var record = DelimitedRecord()
    var result: [[String]] = []
    while try reader.next(into: &record) { result.append(try record.texts()) }
    #expect(reader.bytesRead == bytes.count)
    return result
  }

  @Test(
    arguments: [
      ("", []),
      ("a,b,c", [["a", "b", "c"]]),
      ("a,b\n", [["a", "b"]]),
      ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]),
      ("a,b\nc,d", [["a", "b"], ["c", "d"]]),
      ("\u{FEFF}a,b\n", [["a", "b"]]),
      ("\u{FEFF}", []),
      (",,\n", [["", "", ""]]),
      ("\n", [[""]]),
      ("a,\n", [["a", ""]]),
      ("a,", [["a", ""]]),
      (#""a","b""#, [["a", "b"]]),
      (#""a""b","""""#, [[#"a"b"#, #"""#]]),
      ("\"a,b\nc\r\nd\",e\n", [["a,b\nc\r\nd", "e"]]),
      ("\"\"\n", [[""]]),
      (" a , b \n", [[" a ", " b "]]),
      ("é,日本,👍\n", [["é", "日本", "👍"]]),
      ("a\0b,c\n", [["a\0b", "c"]]),
    ] as [(String, [[String]])])
  func `records come out as written`(text: String, records: [[String]]) throws {
    for piece in [1, 2, 3, 4096] {
      #expect(try read(text, piece: piece) == records)
    }
  }

  @Test func `tabs part the fields of TSV and quotes within are text`() throws {
    #expect(
      try read("a\t5\" disk\tc,d\n\"x\ty\"\tz\t\n", .tsv) == [
        ["a", "5\" disk", "c,d"], ["x\ty", "z", ""],
      ])
  }

  @Test func `another delimiter can be chosen`() throws {
    var format = DelimitedFormat.csv
    format.delimiter = try DelimitedFormat.delimiter(";")
    #expect(try read("a;b,c\n", format) == [["a", "b,c"]])
  }

  @Test(arguments: ["", "ab", "\"", "\n", "é", "\0"])
  func `not everything can be a delimiter`(text: String) {
    #expect(throws: InvalidValue.self) { try DelimitedFormat.delimiter(text) }
  }

  @Test(
    arguments: [
      ("a,\"b\nc,d\n", 1, 3, .unterminatedQuote),
      ("x,y\n\"", 2, 1, .unterminatedQuote),
      ("\"a\"b,c\n", 1, 4, .textAfterQuote),
      ("a,\"b\" ,c\n", 1, 6, .textAfterQuote),
      ("one,two\nx,a\"b\n", 2, 4, .quoteInPlainField),
      ("日本,é\"x\n", 1, 5, .quoteInPlainField),
      ("a\rb\n", 1, 2, .loneCarriageReturn),
      ("\"a\"\rb\n", 1, 4, .loneCarriageReturn),
      ("\"l1\nl2\nl3\",x\ny,\"q\"z\n", 4, 6, .textAfterQuote),
    ] as [(String, Int, Int, MalformedInput.Reason)])
  func `what is malformed is reported with its place`(
    text: String, line: Int, column: Int, reason: MalformedInput.Reason
  ) {
    for piece in [1, 4096] {
      #expect(throws: MalformedInput(line: line, column: column, reason: reason)) {
        try read(text, piece: piece)
      }
    }
  }

  @Test func `bytes that are not UTF-8 are reported at their field`() {
    #expect(throws: MalformedInput(line: 2, column: 3, reason: .invalidUTF8)) {
      try read(bytes: Array("a,b\nc,".utf8) + [0xC3, 0x28, 0x0A])
    }
  }

  @Test(arguments: [[0xFF, 0xFE, 0x61, 0x00], [0xFE, 0xFF, 0x00, 0x61]] as [[UInt8]])
  func `UTF-16 is named`(bytes: [UInt8]) {
    #expect(throws: MalformedInput(line: 1, column: 1, reason: .otherEncoding("UTF-16"))) {
      try read(bytes: bytes)
    }
  }

  @Test func `the number of fields is held to`() throws {
    #expect(
      throws: MalformedInput(
        line: 2, column: 5, reason: .fieldCount(expected: 2, found: 3))
    ) { try read("a,b\nc,d,e\n", expecting: 2) }
    #expect(
      throws: MalformedInput(
        line: 3, column: 1, reason: .fieldCount(expected: 2, found: 1))
    ) { try read("a,b\n\nc\n", expecting: 2) }
  }

  @Test func `empty lines are skipped among records of several fields only`() throws {
    #expect(try read("a,b\n\r\n\nc,d\n\n", expecting: 2) == [["a", "b"], ["c", "d"]])
    #expect(try read("a\n\nb\n", expecting: 1) == [["a"], [""], ["b"]])
  }

  @Test func `a missing quote does not swallow the rest of a big file`() {
    let text = "a,b\n\"open,x\n" + String(repeating: "1,2\n", count: 1000)
    #expect(
      throws: MalformedInput(line: 2, column: 1, reason: .recordTooLong(limit: 100))
    ) { try read(bytes: Array(text.utf8), limit: 100) }
  }

  @Test func `quoted and empty fields are told apart and know their place`() throws {
    var reader = DelimitedReader(ByteInput(Array("\"\",,\"x\ny\",z\n".utf8)), format: .csv)
    var record = DelimitedRecord()
    #expect(try reader.next(into: &record))
    #expect((0..<4).map { record.isQuoted($0) } == [true, false, true, false])
    #expect(record.position(3) == (2, 4))
    #expect(record.line == 1)
    #expect(try reader.next(into: &record) == false)
    #expect(try reader.next(into: &record) == false)
  }

  @Test(arguments: [DelimitedFormat.csv, .tsv])
  func `what is written reads back the same, NULL and empty text too`(
    format: DelimitedFormat
  ) throws {
    let rows: [[String?]] = [
      ["a", nil, ""], ["x,y", "p\tq", "say \"hi\""], ["l1\nl2", "c\r\nd", " padded "],
      ["日本", "👍", nil], [nil, nil, nil],
    ]
    let text = rows.map { format.line($0) }.joined()
    var reader = DelimitedReader(ByteInput(Array(text.utf8)), format: format)
    var record = DelimitedRecord()
    var result: [[String?]] = []
    while try reader.next(into: &record) {
      result.append(
        try (0..<record.count).map { index in
          let text = try record.text(index)
          return text.isEmpty && !record.isQuoted(index) ? nil : text
        })
    }
    #expect(result == rows)
  }

  @Test func `a file that cannot be opened or read says why`() throws {
    #expect(throws: MalformedInput(line: 1, column: 1, reason: .unreadable(errno: 2))) {
      try ByteInput.open(path: "/nonexistent/file.csv")
    }
    let directory = try ByteInput.open(path: "/tmp")
    #expect(directory.fileSize == nil)
    var reader = DelimitedReader(directory, format: .csv)
    var record = DelimitedRecord()
    #expect(throws: MalformedInput(line: 1, column: 1, reason: .unreadable(errno: 21))) {
      try reader.next(into: &record)
    }
  }
}
