import Blackbird
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

@Suite struct ModelColumnTypeTests {
  let url = URL(filePath: "/some/where/over%20there")

  @Test func `every column type comes back as it was written, nil and not nil`() async throws {
    try await withBlackbird { db, _ in
      var full = Everything.sample(.max, url: url)
      full.boolOrNil = false
      full.intOrNil = .min
      full.doubleOrNil = -.greatestFiniteMagnitude
      full.stringOrNil = ""
      full.dataOrNil = Data()
      full.dateOrNil = Date(timeIntervalSince1970: -1.5)
      full.urlOrNil = url
      full.uuidOrNil = UUID()
      full.levelOrNil = .zero
      full.rankOrNil = .first
      full.colourOrNil = Colour.none
      full.shapeOrNil = .round
      full.placeOrNil = Place(latitude: 0, longitude: 0, names: [:])
      full.wordsOrNil = []
      let empty = Everything.sample(.min, url: url)
      try await full.write(to: db)
      try await empty.write(to: db)
      #expect(try await Everything.read(from: db, id: Int64.max) == full)
      #expect(try await Everything.read(from: db, id: Int64.min) == empty)
      let all = try await Everything.read(from: db, orderBy: .ascending(\.$id))
      #expect(all == [empty, full])
    }
  }

  @Test func `columns have the SQL types of upstream and are not NULL unless optional`()
    async throws
  {
    try await withBlackbird { db, _ in
      try await Everything.resolveSchema(in: db)
      let rows = try await db.query(
        "SELECT name, type, \"notnull\" FROM pragma_table_info('Everything')")
      let found = Dictionary(
        uniqueKeysWithValues: rows.map {
          (
            $0["name"]?.stringValue ?? "",
            "\($0["type"]?.stringValue ?? "") \($0["notnull"]?.intValue ?? -1)"
          )
        })
      for name in ["id", "bool", "int", "int8", "uint64", "level", "rank", "cents"] {
        #expect(found[name] == "INTEGER 1", "\(name)")
      }
      for name in ["double", "float", "date"] { #expect(found[name] == "DOUBLE 1", "\(name)") }
      for name in ["string", "url", "uuid", "colour", "shape", "place", "words"] {
        #expect(found[name] == "TEXT 1", "\(name)")
      }
      #expect(found["data"] == "BLOB 1")
      #expect(found["rankOrNil"] == "INTEGER 0")
      #expect(found["placeOrNil"] == "TEXT 0")
      #expect(found["dataOrNil"] == "BLOB 0")
    }
  }

  @Test func `values are stored as others expect them`() async throws {
    try await withBlackbird { db, _ in
      let item = Everything.sample(1, url: url)
      try await item.write(to: db)
      let row = try #require(try await db.query("SELECT * FROM Everything").first)
      #expect(row["bool"] == .integer(1))
      #expect(row["date"] == .double(1_700_000_000.25))
      #expect(row["url"] == .text(url.absoluteString))
      #expect(row["uuid"] == .text(item.uuid.uuidString.lowercased()))
      #expect(row["colour"] == .text(""))
      #expect(row["level"] == .integer(2))
      #expect(row["words"] == .text("[\"a\",\"b\"]"))
      #expect(
        row["place"]
          == .text(#"{"latitude":1.25,"longitude":-2,"names":{"de":"Hier","en":"Here"}}"#))
      #expect(row["cents"] == .integer(-5))
      #expect(row["placeOrNil"] == .null)
    }
  }

  @Test func `a date keeps its seconds since 1970 to the last bit`() async throws {
    try await withBlackbird { db, _ in
      var item = Everything.sample(1, url: url)
      let now = Date()
      item.date = now
      try await item.write(to: db)
      let read = try await Everything.read(from: db, id: 1)
      #expect(read?.date.timeIntervalSince1970 == now.timeIntervalSince1970)
    }
  }

  @Test(arguments: [
    ("level = 9", "level", "Level", "integer 9"), ("rank = 0", "rank", "Rank", "integer 0"),
    ("colour = 'green'", "colour", "Colour", "text 'green'"),
    ("url = ''", "url", "URL", "text ''"), ("uuid = 'x'", "uuid", "UUID", "text 'x'"),
    ("int8 = 128", "int8", "Int8", "integer 128"), ("uint8 = -1", "uint8", "UInt8", "integer -1"),
    ("uint64 = -1", "uint64", "UInt64", "integer -1"),
    ("int = 1.5", "int", "Int", "real 1.5"), ("int = 'many'", "int", "Int", "text 'many'"),
    ("double = 'much'", "double", "Double", "text 'much'"),
    ("string = x'00'", "string", "String", "blob"), ("place = '{'", "place", "Place", "text '{'"),
  ])
  func `a stored value that does not fit is an error with its column`(
    sql: String, column: String, expected: String, found: String
  ) async throws {
    try await withBlackbird { db, _ in
      try await Everything.sample(1, url: url).write(to: db)
      try await db.query("UPDATE Everything SET \(sql)")
      let error = await failure(of: BlackbirdModelError.self) {
        _ = try await Everything.read(from: db, id: 1)
      }
      guard case .storedValueInvalid(let value)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(value.table == "Everything")
      #expect(value.column == column)
      #expect(value.expected == expected)
      #expect(value.found.hasPrefix(found), "\(value.found)")
      // The others are still readable.
      let ids = try await Everything.query(in: db, columns: [\.$id])
      #expect(ids.map { $0[\.$id] } == [1])
    }
  }

  @Test func `a value that SQLite cannot hold is refused and nothing is written`() async throws {
    try await withBlackbird { db, _ in
      var item = Everything.sample(1, url: url)
      item.double = .nan
      let nan = await failure(of: BlackbirdModelError.self) { try await item.write(to: db) }
      guard case .valueNotStorable(let value)? = nan else {
        Issue.record("\(String(describing: nan))")
        return
      }
      #expect(value.column == "double")
      item.double = 1
      item.uint64 = .max
      let large = await failure(of: BlackbirdModelError.self) { try await item.write(to: db) }
      guard case .valueNotStorable(let value)? = large else {
        Issue.record("\(String(describing: large))")
        return
      }
      #expect(value.column == "uint64")
      let count = try await Everything.count(in: db)
      #expect(count == 0)
    }
  }

  @Test func `enums and values of one's own are arguments of SQL`() async throws {
    try await withBlackbird { db, _ in
      try await Everything.sample(1, url: url).write(to: db)
      let two = try await Everything.read(from: db, sqlWhere: "level = ?", Level.two)
      let one = try await Everything.read(from: db, sqlWhere: "level = ?", Level.one)
      let square = try await Everything.read(from: db, sqlWhere: "shape = ?", Shape.square)
      let cents = try await Everything.read(from: db, sqlWhere: "cents = ?", Cents(amount: -5))
      let counts: [Int] = [two.count, one.count, square.count, cents.count]
      #expect(counts == [1, 0, 1, 1])
      let level = try await Everything.count(in: db, matching: \.$level == .two)
      let words = try await Everything.count(in: db, matching: \.$words == ["a", "b"])
      #expect(level == 1 && words == 1)
    }
  }
}
