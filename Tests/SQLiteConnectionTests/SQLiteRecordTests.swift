import SQLiteConnection
import Testing

/// SQLite's record format against its description, and against itself.
@Suite struct SQLiteRecordTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    var values: [SQLiteValue]
    var bytes: [UInt8]
    var testDescription: String { "\(values)" }
  }

  // Written by hand from the table of serial types.
  static let vectors: [Vector] = [
    Vector(values: [], bytes: [1]),
    Vector(values: [.null], bytes: [2, 0]),
    Vector(values: [.integer(0), .integer(1), .integer(2)], bytes: [4, 8, 9, 1, 2]),
    Vector(values: [.integer(-1)], bytes: [2, 1, 0xff]),
    Vector(values: [.integer(127), .integer(128)], bytes: [3, 1, 2, 0x7f, 0, 0x80]),
    Vector(values: [.integer(-128), .integer(-129)], bytes: [3, 1, 2, 0x80, 0xff, 0x7f]),
    Vector(values: [.integer(32768)], bytes: [2, 3, 0, 0x80, 0]),
    Vector(values: [.integer(8_388_608)], bytes: [2, 4, 0, 0x80, 0, 0]),
    Vector(values: [.integer(2_147_483_648)], bytes: [2, 5, 0, 0, 0x80, 0, 0, 0]),
    Vector(
      values: [.integer(140_737_488_355_328)], bytes: [2, 6, 0, 0, 0x80, 0, 0, 0, 0, 0]),
    Vector(values: [.integer(.min)], bytes: [2, 6, 0x80, 0, 0, 0, 0, 0, 0, 0]),
    Vector(values: [.real(1)], bytes: [2, 7, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0]),
    Vector(values: [.real(-0.0)], bytes: [2, 7, 0x80, 0, 0, 0, 0, 0, 0, 0]),
    Vector(values: [.text(""), .blob([])], bytes: [3, 13, 12]),
    Vector(values: [.text("a\0b"), .blob([0, 255])], bytes: [3, 19, 16, 97, 0, 98, 0, 255]),
    // 57 bytes of text are the first whose type needs two bytes: 13 + 2 · 58 = 129.
    Vector(
      values: [.text(String(repeating: "x", count: 58))],
      bytes: [3, 0x81, 0x01] + [UInt8](repeating: 120, count: 58)),
  ]

  @Test(arguments: vectors) func `a row has the bytes that the format says`(vector: Vector) {
    #expect(SQLiteRecord.encode(vector.values) == vector.bytes)
    #expect(SQLiteRecord.decode(vector.bytes) == vector.values)
  }

  @Test func `NaN is NULL, as where SQLite stores it`() {
    #expect(SQLiteRecord.decode(SQLiteRecord.encode([.real(.nan)])) == [.null])
  }

  @Test func `the header counts its own size across the first boundary`() {
    for count in 124...130 {
      let values = [SQLiteValue](repeating: .integer(1), count: count)
      let record = SQLiteRecord.encode(values)
      #expect(record.count == (count + 1 < 128 ? count + 1 : count + 2))
      #expect(SQLiteRecord.decode(record) == values)
    }
  }

  @Test func `rows of any values come back`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let values = (0..<Int.random(in: 0...12, using: &random)).map { _ -> SQLiteValue in
        switch Int.random(in: 0...5, using: &random) {
        case 0: return .null
        case 1: return .integer(Int64.random(in: .min ... .max) >> Int64.random(in: 0...63))
        case 2: return .real(Double(bitPattern: .random(in: 0...0x7fe0_0000_0000_0000)))
        case 3: return .text(String(repeating: "é\0", count: .random(in: 0...200)))
        default: return .blob((0..<Int.random(in: 0...300)).map { _ in .random(in: 0...255) })
        }
      }
      #expect(SQLiteRecord.decode(SQLiteRecord.encode(values)) == values)
    }
  }

  @Test func `ten million bytes come back`() {
    let values: [SQLiteValue] = [.blob([UInt8](repeating: 7, count: 10_000_000)), .integer(5)]
    #expect(SQLiteRecord.decode(SQLiteRecord.encode(values)) == values)
  }

  @Test func `bytes that are no record give nothing and never trap`() {
    let record = SQLiteRecord.encode([.integer(300), .text("text"), .real(2.5), .null])
    for count in 0..<record.count { #expect(SQLiteRecord.decode(record[..<count]) == nil) }
    #expect(SQLiteRecord.decode(record + [0]) == nil)
    for bytes: [UInt8] in [
      [0], [2, 10], [2, 11], [3, 0x81], [200, 200], [UInt8](repeating: 255, count: 9),
      [10] + [UInt8](repeating: 255, count: 9), [UInt8](repeating: 255, count: 20),
    ] {
      #expect(SQLiteRecord.decode(bytes) == nil)
    }
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
        UInt8.random(in: 0...255)
      }
      if let values = SQLiteRecord.decode(bytes) { #expect(values.count < bytes.count) }
    }
  }
}
