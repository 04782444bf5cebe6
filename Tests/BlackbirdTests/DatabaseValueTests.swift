import Blackbird
import Foundation
import Testing

private typealias Value = Blackbird.Value

@Suite struct DatabaseValueTests {
  @Test func `Swift values become the value that SQLite stores`() throws {
    #expect(try Value.fromAny(nil) == .null)
    #expect(try Value.fromAny(NSNull()) == .null)
    #expect(try Value.fromAny(Value.text("x")) == .text("x"))
    #expect(try Value.fromAny("abc") == .text("abc"))
    #expect(try Value.fromAny("abc".prefix(2)) == .text("ab"))
    let integers: [Any] = [
      Int(1), Int8(1), Int16(1), Int32(1), Int64(1), UInt8(1), UInt16(1), UInt32(1), true,
    ]
    for integer in integers { #expect(try Value.fromAny(integer) == .integer(1)) }
    #expect(try Value.fromAny(false) == .integer(0))
    #expect(try Value.fromAny(UInt32.max) == .integer(4_294_967_295))
    #expect(try Value.fromAny(Float(0.25)) == .double(0.25))
    #expect(try Value.fromAny(0.1) == .double(0.1))
    let date = Date(timeIntervalSince1970: 12.5)
    #expect(try Value.fromAny(date) == .double(12.5))
    let url = try #require(URL(string: "a/b", relativeTo: URL(string: "https://example.org/x/")))
    #expect(try Value.fromAny(url) == .text("https://example.org/x/a/b"))
    #expect(try Value.fromAny(Data("x".utf8)) == .data(Data("x".utf8)))
    #expect(try Value.fromAny(Optional<Int>.none as Any) == .null)
    #expect(try Value.fromAny(Optional<Int?>.some(3) as Any) == .integer(3))
    for refused in [UInt(1), UInt64(1), Character("a"), URL.self] as [Any] {
      #expect(throws: Value.Error.self) { try Value.fromAny(refused) }
    }
  }

  @Test func `literals make values`() {
    let values: [Value] = [nil, 1, 2.5, "t", true, false]
    #expect(values == [.null, .integer(1), .double(2.5), .text("t"), .integer(1), .integer(0)])
  }

  @Test func `values are read as other types where that has a meaning`() {
    #expect(Value.text("123").intValue == 123)
    #expect(Value.text("12x").intValue == nil)
    #expect(Value.text("1.5").doubleValue == 1.5)
    #expect(Value.integer(123456).dataValue == Data("123456".utf8))
    #expect(Value.integer(123456).stringValue == "123456")
    #expect(Value.double(3.99).intValue == 3)
    #expect(Value.double(-3.99).intValue == -3)
    #expect(Value.data(Data("42".utf8)).intValue == 42)
    #expect(Value.data(Data([0xFF])).stringValue == nil)
    #expect(Value.integer(2).boolValue == true)
    #expect(Value.text("0").boolValue == false)
    #expect(Value.text("x").boolValue == false)
    #expect(Value.data(Data("x".utf8)).boolValue == nil)
    for value in [
      Value.null.intValue.map { $0 != 0 }, Value.null.boolValue,
      Value.null.stringValue.map { _ in true },
    ] { #expect(value == nil) }
  }

  @Test func `numbers that fit no integer are nil and do not end the program`() {
    for number in [Double.nan, .infinity, -.infinity, 1e300, 9.3e18] {
      #expect(Value.double(number).intValue == nil)
      #expect(Value.double(number).int64Value == nil)
    }
    #expect(Value.double(-9.223372036854775808e18).int64Value == .min)
  }

  @Test(arguments: [
    Value.null, .integer(.max), .integer(.min), .double(0.1), .double(-1e300), .double(5),
    .text(""), .text("it's 'quoted'"), .text("a\u{0}b"), .text("naïve 🙂"), .data(Data()),
    .data(Data([0, 39, 255])),
  ])
  func `a literal in SQL is the value again`(value: Blackbird.Value) async throws {
    let db = try Blackbird.Database.inMemoryDatabase()
    let rows = try await db.query("SELECT \(value.sqliteLiteral()) AS v, ? AS w", value)
    #expect(rows == [["v": value, "w": value]])
    #expect(Value.fromSQLiteLiteral(value.sqliteLiteral()) == value)
    await db.close()
  }

  @Test func `numbers that SQL has no word for get one`() async throws {
    let db = try Blackbird.Database.inMemoryDatabase()
    let rows = try await db.query(
      "SELECT \(Value.double(.infinity).sqliteLiteral()) AS a, \(Value.double(.nan).sqliteLiteral()) AS b"
    )
    #expect(rows == [["a": .double(.infinity), "b": .null]])
    #expect(Value.fromSQLiteLiteral("X'4'") == nil)
    #expect(Value.fromSQLiteLiteral("nonsense") == nil)
    await db.close()
  }
}
