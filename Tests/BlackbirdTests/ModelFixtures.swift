import Blackbird
import BoutiqueDB
import Foundation
import TestDatabase

/// Opens a Blackbird database in a directory of its own, runs a test, closes, and checks the file.
func withBlackbird(
  options: Blackbird.Database.Options = [],
  _ body: (Blackbird.Database, TestDirectory) async throws -> Void
) async throws {
  let directory = try TestDirectory()
  let path = directory.file("test.db")
  let db = try Blackbird.Database(path: path, options: options)
  do {
    try await body(db, directory)
  } catch {
    await db.close()
    throw error
  }
  await db.close()
  try await TestDatabaseCheck.isWhole(path: path)
}

/// Returns the error that a call throws.
func failure<E: Error>(
  of type: E.Type = E.self, _ body: () async throws -> Void
) async -> E? {
  do {
    try await body()
    return nil
  } catch {
    return error as? E
  }
}

extension Blackbird.Database {
  /// The text of the statement that made a table.
  func schema(of name: String) async throws -> String? {
    try await query("SELECT sql FROM sqlite_schema WHERE name = ?", name).first?["sql"]?.stringValue
  }

  /// The names of a table's columns.
  func columns(of table: String) async throws -> [String] {
    try await query("SELECT name FROM pragma_table_info(?)", table).compactMap {
      $0["name"]?.stringValue
    }
  }
}

struct Story: BlackbirdModel {
  static let indexes: [[BlackbirdColumnKeyPath]] = [[\.$title]]

  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String
  @BlackbirdColumn var url: URL?
  @BlackbirdColumn var score: Int = 0
  var note: String = ""
}

struct Episode: BlackbirdModel {
  static let primaryKey: [BlackbirdColumnKeyPath] = [\.$user, \.$feed, \.$number]

  @BlackbirdColumn var user: Int64
  @BlackbirdColumn var feed: Int64
  @BlackbirdColumn var number: Int64
  @BlackbirdColumn var heard: Bool = false
}

struct Tag: BlackbirdModel {
  static let primaryKey: [BlackbirdColumnKeyPath] = [\.$name]
  static let uniqueIndexes: [[BlackbirdColumnKeyPath]] = [[\.$slug]]

  @BlackbirdColumn var name: String
  @BlackbirdColumn var slug: String
  @BlackbirdColumn var count: Int
  @BlackbirdColumn var isHidden: Bool = false
  @BlackbirdColumn var ratio: Double = 0
}

enum Level: Int, BlackbirdIntegerEnum {
  case zero = 0
  case one = 1
  case two = 2
}
enum Rank: Int, BlackbirdIntegerEnum {
  case first = 1
  case second = 2
}
enum Colour: String, BlackbirdStringEnum {
  case none = ""
  case red
  case blue
}
enum Shape: String, BlackbirdStringEnum {
  case round
  case square
}

struct Place: BlackbirdStorableAsJSON {
  var latitude: Double
  var longitude: Double
  var names: [String: String]
}

struct Cents: BlackbirdColumnWrappable, BlackbirdStorableAsInteger {
  var amount: Int64
  func unifiedRepresentation() -> Int64 { amount }
  static func from(unifiedRepresentation: Int64) -> Cents { Cents(amount: unifiedRepresentation) }
  static func fromValue(_ value: Blackbird.Value) -> Cents? {
    value.int64Value.map { Cents(amount: $0) }
  }
}

struct Everything: BlackbirdModel {
  @BlackbirdColumn var id: Int64
  @BlackbirdColumn var bool: Bool
  @BlackbirdColumn var int: Int
  @BlackbirdColumn var int8: Int8
  @BlackbirdColumn var int16: Int16
  @BlackbirdColumn var int32: Int32
  @BlackbirdColumn var uint8: UInt8
  @BlackbirdColumn var uint16: UInt16
  @BlackbirdColumn var uint32: UInt32
  @BlackbirdColumn var uint: UInt
  @BlackbirdColumn var uint64: UInt64
  @BlackbirdColumn var double: Double
  @BlackbirdColumn var float: Float
  @BlackbirdColumn var string: String
  @BlackbirdColumn var data: Data
  @BlackbirdColumn var date: Date
  @BlackbirdColumn var url: URL
  @BlackbirdColumn var uuid: UUID
  @BlackbirdColumn var level: Level
  @BlackbirdColumn var rank: Rank
  @BlackbirdColumn var colour: Colour
  @BlackbirdColumn var shape: Shape
  @BlackbirdColumn var place: Place
  @BlackbirdColumn var words: [String]
  @BlackbirdColumn var cents: Cents

  @BlackbirdColumn var boolOrNil: Bool?
  @BlackbirdColumn var intOrNil: Int64?
  @BlackbirdColumn var doubleOrNil: Double?
  @BlackbirdColumn var stringOrNil: String?
  @BlackbirdColumn var dataOrNil: Data?
  @BlackbirdColumn var dateOrNil: Date?
  @BlackbirdColumn var urlOrNil: URL?
  @BlackbirdColumn var uuidOrNil: UUID?
  @BlackbirdColumn var levelOrNil: Level?
  @BlackbirdColumn var rankOrNil: Rank?
  @BlackbirdColumn var colourOrNil: Colour?
  @BlackbirdColumn var shapeOrNil: Shape?
  @BlackbirdColumn var placeOrNil: Place?
  @BlackbirdColumn var wordsOrNil: [String]?

  static func sample(_ id: Int64, url: URL) -> Everything {
    Everything(
      id: id, bool: true, int: .min, int8: .min, int16: .max, int32: .min, uint8: .max,
      uint16: .max, uint32: .max, uint: UInt(Int64.max), uint64: 7, double: .pi, float: 1.5,
      string: "naïve \u{0}\u{1F30A} 'text'", data: Data([0, 255, 1]),
      date: Date(timeIntervalSince1970: 1_700_000_000.25), url: url, uuid: UUID(), level: .two,
      rank: .second, colour: .none, shape: .square,
      place: Place(latitude: 1.25, longitude: -2, names: ["en": "Here", "de": "Hier"]),
      words: ["a", "b"], cents: Cents(amount: -5))
  }
}
