import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// A repeatable source of random values.
///
/// Its seed is printed with a failure and can be given by
/// `BOUTIQUE_SEED`.
struct SeededGenerator: RandomNumberGenerator {
  let seed: UInt64
  private var state: UInt64

  init(seed: UInt64? = nil) {
    let given = ProcessInfo.processInfo.environment["BOUTIQUE_SEED"].flatMap(UInt64.init)
    self.seed = seed ?? given ?? UInt64.random(in: .min ... .max)
    state = self.seed
  }

  // SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}

enum Level: Int, QueryBindable, CaseIterable {
  case low = -1
  case high = 7
}

struct Shape: Codable, Hashable, Sendable {
  var name: String
  var sides: [Int]
}

@BoutiqueTable(strict: true)
struct Everything: Equatable {
  let id: Int
  var bool: Bool
  var int8: Int8
  var int16: Int16
  var int32: Int32
  var int64: Int64
  var uint8: UInt8
  var uint16: UInt16
  var uint32: UInt32
  var uint: UInt
  var uint64: UInt64
  var double: Double
  var float: Float
  var text: String
  var data: Data
  var bytes: [UInt8]
  var uuid: UUID
  var date: Date
  var url: URL
  var decimal: Decimal
  var kind: Kind
  var level: Level
  @Column(as: Shape.JSONRepresentation.self) var shape: Shape
  @Column(as: UUID.BytesRepresentation.self) var uuidBytes: UUID
  @Column(as: UUID.UppercasedRepresentation.self) var uuidUpper: UUID
  @Column(as: Date.UnixTimeRepresentation.self) var unix: Date
  @Column(as: Date.UnixMillisecondsRepresentation.self) var unixMilliseconds: Date
  @Column(as: Date.JulianDayRepresentation.self) var julian: Date
  @Column(as: Date.ISO8601Representation.self) var iso: Date
  var maybeText: String?
  var maybeInt: Int?
  var maybeDouble: Double?
  var maybeDate: Date?
  @Column(as: Date.ISO8601Representation.self) var maybeISO: Date?
  @Column(as: [Int].JSONRepresentation.self) var maybeList: [Int]?
}

@Suite struct ValueTests {
  static func random(_ id: Int, _ random: inout SeededGenerator) -> Everything {
    func date(_ grid: Double) -> Date {
      // 1900 to 2200, on a grid that the representation keeps.
      let seconds = Double.random(in: -2_208_988_800..<7_258_118_400, using: &random)
      return Date(timeIntervalSince1970: (seconds * grid).rounded() / grid)
    }
    func text() -> String {
      let characters: [Character] = [
        "a", "Z", "'", "\"", "\0", "é", "e\u{301}", "👩‍👩‍👧", "漢", "\n", "%", "_", "\\", ";", "?",
        "\u{feff}",
      ]
      return String(
        (0..<Int.random(in: 0...20, using: &random)).map { _ in
          characters.randomElement(using: &random) ?? "a"
        })
    }
    func bytes() -> [UInt8] {
      (0..<Int.random(in: 0...20, using: &random)).map { _ in
        UInt8.random(in: .min ... .max, using: &random)
      }
    }
    func uuid() -> UUID {
      var bytes = UUID().uuid
      withUnsafeMutableBytes(of: &bytes) { buffer in
        for index in buffer.indices {
          buffer[index] = UInt8.random(in: .min ... .max, using: &random)
        }
      }
      return UUID(uuid: bytes)
    }
    func double() -> Double {
      let special: [Double] = [
        0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, -.leastNormalMagnitude / 2,
        .greatestFiniteMagnitude, .pi,
      ]
      if Bool.random(using: &random) { return special.randomElement(using: &random) ?? 0 }
      let value = Double(bitPattern: UInt64.random(in: .min ... .max, using: &random))
      return value.isNaN ? 1 : value
    }
    let isNil = Bool.random(using: &random)
    let julian = date(1000)
    return Everything(
      id: id, bool: .random(using: &random), int8: .random(in: .min ... .max, using: &random),
      int16: .random(in: .min ... .max, using: &random),
      int32: .random(in: .min ... .max, using: &random),
      int64: [.min, .max, .random(in: .min ... .max, using: &random)].randomElement(using: &random)
        ?? 0,
      uint8: .random(in: .min ... .max, using: &random),
      uint16: .random(in: .min ... .max, using: &random),
      uint32: .random(in: .min ... .max, using: &random),
      uint: .random(in: 0...UInt(Int.max), using: &random),
      uint64: .random(in: 0...UInt64(Int64.max), using: &random), double: double(),
      float: Float(double()), text: text(), data: Data(bytes()), bytes: bytes(), uuid: uuid(),
      date: date(1_048_576), url: URL(filePath: "/tmp/ä b/\(id)"),
      decimal: Decimal(string: "\(Int64.random(in: .min ... .max, using: &random)).000000001") ?? 0,
      kind: Kind.allCases.randomElement(using: &random) ?? .paper,
      level: Level.allCases.randomElement(using: &random) ?? .low,
      shape: Shape(name: text(), sides: [id, -1]), uuidBytes: uuid(), uuidUpper: uuid(),
      unix: date(1), unixMilliseconds: date(1), julian: julian, iso: date(1),
      maybeText: isNil ? nil : text(), maybeInt: isNil ? nil : Int(id),
      maybeDouble: isNil ? nil : double(), maybeDate: isNil ? nil : date(1_048_576),
      maybeISO: isNil ? nil : date(1), maybeList: isNil ? nil : [id])
  }

  @Test func `every type comes back as it went in`() async throws {
    var generator = SeededGenerator()
    let seed = generator.seed
    let rows = (1...300).map { Self.random($0, &generator) }
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
    let read = try await db.write { conn in
      try Everything.createTable().execute(conn)
      try Everything.insert { rows }.execute(conn)
      return try Everything.order { $0.id }.fetchAll(conn)
    }
    #expect(read.count == rows.count)
    for (row, read) in zip(rows, read) {
      #expect(abs(row.julian.timeIntervalSince(read.julian)) < 0.0001, "seed \(seed)")
      var row = row
      row.julian = read.julian
      #expect(row == read, "seed \(seed)")
      // Of -0.0 the number comes back and not the sign: a REAL column keeps whole numbers as integers.
      #expect(row.text.utf8.elementsEqual(read.text.utf8), "seed \(seed)")
    }
    // Values find their rows again by the column's own representation.
    let found = try await db.read { conn in
      try rows.map { row in
        try Everything.where {
          $0.uuidBytes == row.uuidBytes
          $0.uuidUpper == row.uuidUpper
          $0.iso == row.iso
          $0.unix == row.unix
          $0.unixMilliseconds == row.unixMilliseconds
          $0.date == row.date
          $0.double == row.double
          $0.text == row.text
          $0.shape == row.shape
          $0.maybeISO == row.maybeISO
        }.select { $0.id }.fetchAll(conn)
      }
    }
    #expect(found == rows.map { [$0.id] }, "seed \(seed)")
    await db.close()
  }

  @Test func `long texts and blobs`() async throws {
    let text = String(repeating: "äöü\0", count: 1_700_000)
    let data = Data(repeating: 7, count: 10 << 20)
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
    try await db.write { conn in
      try conn.execute("CREATE TABLE t (a, b)")
      try conn.execute(#sql("INSERT INTO t VALUES (\(text), \(data))"))
      let row = try #sql("SELECT a, b FROM t", as: RowTuple<String, Data>.self).fetchOne(conn)
      #expect(row?.0 == text)
      #expect(row?.1 == data)
      #expect(
        try conn.query("SELECT octet_length(a) FROM t")[0][0] == .integer(Int64(text.utf8.count)))
    }
    await db.close()
  }

  @Test func `what SQLite cannot hold exactly is refused`() async throws {
    let refused: [SQLFragment] = [
      "SELECT \(UInt64.max)", "SELECT \(UInt(Int.max) + 1)", "SELECT \(Double.nan)",
      "SELECT \(Float.nan)", "SELECT \(Decimal.nan)",
      "SELECT \(bind: Date(timeIntervalSince1970: 1e300), as: Date.UnixTimeRepresentation.self)",
      "SELECT \(bind: Date.distantFuture.addingTimeInterval(1e12), as: Date.ISO8601Representation.self)",
    ]
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
    try await db.write { conn in
      for sql in refused {
        #expect(throws: BindingFailure.self, "\(sql)") { try sql.bindings }
        #expect(throws: BoutiqueError.self, "\(sql)") { try conn.query(sql) }
      }
      // NULL has a place in an optional.
      let row = try conn.query(#sql("SELECT \(Double.nan as Double?), \(Float.nan as Float?)"))[0]
      #expect(row.values == [.null, .null])
    }
    await db.close()
  }

  @Test func `a wrong value names table, column, expected and found`() async throws {
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
    try await db.write { conn in
      try Library.make(on: conn)
      let wrong: [(String, String, String)] = [
        ("price = 'dear'", "price", "text 'dear'"),
        ("isAvailable = 2", "isAvailable", "integer 2"),
        ("kind = 'vinyl'", "kind", "text 'vinyl'"),
        ("rating = x'00'", "rating", "blob of 1 bytes"),
        ("publishedAt = 'now'", "publishedAt", "text 'now'"),
        ("labels = '[1'", "labels", "text '[1'"),
      ]
      for (assignment, column, found) in wrong {
        try conn.execute("UPDATE book SET \(assignment) WHERE id = 1")
        #expect {
          try Book.all.fetchAll(conn)
        } throws: { error in
          guard case BoutiqueError.decodingFailed(let failure) = error else { return false }
          return failure.table == "book" && failure.column == column
            && failure.found.contains(found)
        }
        try Book.delete(Library.farm).execute(conn)
        try Book.insert { Library.farm }.execute(conn)
      }
      // A column read as another type, and one too many.
      #expect(throws: BoutiqueError.self) {
        try #sql("SELECT NULL", as: Int.self).fetchAll(conn)
      }
      #expect(throws: BoutiqueError.self) {
        try #sql("SELECT 1", as: RowTuple<Int, Int>.self).fetchAll(conn)
      }
    }
    await db.close()
  }

  @Test func `UUIDs are lower-case text and are read in any case`() async throws {
    let id = UUID()
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
    try await db.write { conn in
      #expect(try conn.query(#sql("SELECT \(id)"))[0][0] == .text(id.uuidString.lowercased()))
      let upper = try #sql("SELECT \(id.uuidString)", as: UUID.self).fetchOne(conn)
      #expect(upper == id)
    }
    await db.close()
  }

  @Test func `ISO 8601 text agrees with SQLite's own functions`() async throws {
    var generator = SeededGenerator()
    let seed = generator.seed
    let seconds = (0..<500).map { _ in
      Int64.random(in: -62_167_219_200..<253_402_300_800, using: &generator)
    }
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
    try await db.read { conn in
      for second in seconds + [-62_167_219_200, 253_402_300_799, 0, 951_782_400, -2_203_891_200] {
        let date = Date(timeIntervalSince1970: Double(second))
        let text = try #sql("SELECT datetime(\(second), 'unixepoch')", as: String.self).fetchOne(
          conn)
        let bound = try SQLFragment(date, as: Date.ISO8601Representation.self).bindings[0]
        #expect(bound == .text((text ?? "").replacing(" ", with: "T") + ".000000Z"), "seed \(seed)")
        let read = try #sql(
          "SELECT datetime(\(second), 'unixepoch')", as: Date.ISO8601Representation.self
        ).fetchOne(conn)
        #expect(read == date, "seed \(seed)")
      }
    }
    await db.close()
  }

  @Test func `texts that are no dates are refused`() throws {
    for text in [
      "", "2026", "2026-13-01", "2026-02-29", "2026-02-30T00:00:00", "2026-01-01T24:00",
      "2026-01-01T00:60", "2026-01-01 00:00:00.", "2026-01-01T00:00:00+01:00", "now", "2026-1-1",
    ] {
      #expect(throws: DecodingFailure.self, "\(text)") {
        try Date.ISO8601Representation.decode(.text(text))
      }
    }
    #expect(
      try Date.ISO8601Representation.decode(.text("2026-11-30 08:15"))
        == Date(timeIntervalSince1970: 1_796_026_500))
  }
}
