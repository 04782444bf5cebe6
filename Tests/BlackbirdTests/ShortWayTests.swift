import Blackbird
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

private enum Grade: Int, BlackbirdIntegerEnum { case low, high }
private enum Tint: String, BlackbirdStringEnum { case red, blue }

/// A column of every kind.
private struct EveryKind: BlackbirdModel {
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var small: Int8
  @BlackbirdColumn var unsigned: UInt64
  @BlackbirdColumn var flag: Bool
  @BlackbirdColumn var double: Double
  @BlackbirdColumn var float: Float
  @BlackbirdColumn var text: String
  @BlackbirdColumn var data: Data
  @BlackbirdColumn var date: Date
  @BlackbirdColumn var url: URL
  @BlackbirdColumn var uuid: UUID
  @BlackbirdColumn var level: Grade
  @BlackbirdColumn var color: Tint
  @BlackbirdColumn var list: [String]
  @BlackbirdColumn var perhapsNumber: Int?
  @BlackbirdColumn var perhapsText: String?
  @BlackbirdColumn var perhapsData: Data?
  @BlackbirdColumn var perhapsLevel: Grade?

  static func make(_ id: Int) -> EveryKind {
    let isEven = id % 2 == 0
    let isNil = id % 3 == 0
    return EveryKind(
      id: id, small: Int8(id % 100), unsigned: UInt64(id) << 33, flag: isEven,
      double: Double(id) / 3, float: Float(id) / 7, text: "é\u{0}\(id)",
      data: Data([0, UInt8(id % 256)]), date: Date(timeIntervalSince1970: Double(id) + 0.5),
      url: URL(filePath: "/\(id)"), uuid: UUID(), level: isEven ? .low : .high,
      color: isEven ? .red : .blue, list: (0..<id % 4).map { "\($0)" },
      perhapsNumber: isNil ? nil : id, perhapsText: isNil ? nil : "",
      perhapsData: isNil ? nil : Data(), perhapsLevel: isNil ? nil : .high)
  }
}

/// Decodes its columns by their wrappers, in another order than they are declared in, one of them twice.
private struct Backwards: BlackbirdModel {
  enum CodingKeys: String, CodingKey, CaseIterable { case id, first, second, third }
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var first: String
  @BlackbirdColumn var second: String
  @BlackbirdColumn var third: String?

  init(id: Int, first: String, second: String, third: String?) {
    self.id = id
    self.first = first
    self.second = second
    self.third = third
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let again = try decoder.container(keyedBy: CodingKeys.self)
    _third = try container.decode(BlackbirdColumn<String?>.self, forKey: .third)
    _second = try again.decode(BlackbirdColumn<String>.self, forKey: .second)
    _first = try container.decode(BlackbirdColumn<String>.self, forKey: .first)
    _second = try container.decode(BlackbirdColumn<String>.self, forKey: .second)
    _id = try container.decode(BlackbirdColumn<Int>.self, forKey: .id)
    if first == second { _first = try again.decode(BlackbirdColumn<String>.self, forKey: .second) }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    for key in CodingKeys.allCases.reversed() {
      switch key {
      case .id: try container.encode(_id, forKey: key)
      case .first: try container.encode(_first, forKey: key)
      case .second: try container.encode(_second, forKey: key)
      case .third: try container.encode(_third, forKey: key)
      }
    }
  }
}

/// Decodes and encodes its columns in an order that depends on the row.
private struct Fickle: BlackbirdModel {
  enum CodingKeys: String, CodingKey { case id, first, second }
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var first: String
  @BlackbirdColumn var second: String

  init(id: Int, first: String, second: String) {
    self.id = id
    self.first = first
    self.second = second
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    _id = try container.decode(BlackbirdColumn<Int>.self, forKey: .id)
    if _id.wrappedValue % 2 == 0 {
      _first = try container.decode(BlackbirdColumn<String>.self, forKey: .first)
      _second = try container.decode(BlackbirdColumn<String>.self, forKey: .second)
    } else {
      _second = try container.decode(BlackbirdColumn<String>.self, forKey: .second)
      _first = try container.decode(BlackbirdColumn<String>.self, forKey: .first)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    if id % 2 == 1 { try container.encode(_second, forKey: .second) }
    try container.encode(_id, forKey: .id)
    try container.encode(_first, forKey: .first)
    if id % 2 == 0 { try container.encode(_second, forKey: .second) }
  }
}

/// Decodes columns by the type of their values.
private struct ByValue: BlackbirdModel {
  enum CodingKeys: String, CodingKey { case id, name }
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var name: String

  init(id: Int, name: String) {
    self.id = id
    self.name = name
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    _id = try container.decode(BlackbirdColumn<Int>.self, forKey: .id)
    name = try container.decode(String.self, forKey: .name) + "!"
  }
}

/// The short way from rows to models and back gives what Codable gives.
@Suite struct ShortWayTests {
  /// Reads with named values, for which every row is copied and decoded by Codable.
  private func readByCodable<Model: BlackbirdModel>(
    _ type: Model.Type, from db: Blackbird.Database, id: Int
  ) async throws -> Model? {
    try await Model.read(from: db, sqlWhere: "id = :id", arguments: [":id": id]).first
  }

  @Test func `columns of every kind come back as they were written, by either way`() async throws {
    try await withBlackbird { db, _ in
      let written = (0..<24).map { EveryKind.make($0) }
      try await db.transaction { core in
        for item in written { try item.writeIsolated(to: db, core: core) }
      }
      #expect(try await EveryKind.read(from: db, orderBy: .ascending(\.$id)) == written)
      for item in written {
        #expect(try await EveryKind.read(from: db, id: item.id) == item)
        #expect(try await readByCodable(EveryKind.self, from: db, id: item.id) == item)
      }
      // In JSON as ever: a column is its value there.
      let json = try JSONEncoder().encode(written)
      #expect(try JSONDecoder().decode([EveryKind].self, from: json) == written)
    }
  }

  @Test(arguments: [
    "id = 'x'", "small = 1000", "small = 2.5", "small = 2.0", "unsigned = -1", "flag = 'yes'",
    "flag = 2", "double = 'x'", "double = 9007199254740993", "float = x'00'", "text = x'c3'",
    "text = CAST(x'c3' AS TEXT)", "data = 'x'", "date = 'now'", "date = 5", "url = ''",
    "uuid = 'x'", "level = 7", "color = 'green'", "list = '{'", "list = '[]'", "small = NULL",
    "perhapsNumber = 1.5", "perhapsText = 5", "perhapsLevel = 9", "perhapsData = NULL",
  ])
  func `a stored value that another program has put there is read or refused as by Codable`(
    assignment: String
  ) async throws {
    try await withBlackbird { db, _ in
      try await EveryKind.make(1).write(to: db)
      // Without the types that columns have, so that the value stays what it is.
      let columns = try await db.columns(of: "EveryKind").joined(separator: ", ")
      try await db.execute(
        """
        CREATE TABLE loose (\(columns)); INSERT INTO loose SELECT * FROM EveryKind;
        UPDATE loose SET \(assignment)
        """)
      func text(_ read: () async throws -> [EveryKind]) async -> String {
        do { return "\(try await read())" } catch { return "\(error)" }
      }
      let short = await text {
        try await EveryKind.read(
          from: db, sqlWhere: "0 UNION ALL SELECT \(columns) FROM loose WHERE 1 = ?", 1)
      }
      let codable = await text {
        try await EveryKind.read(
          from: db, sqlWhere: "0 UNION ALL SELECT \(columns) FROM loose WHERE 1 = :one",
          arguments: [":one": 1])
      }
      #expect(short == codable)
    }
  }

  @Test func `a model's own order of decoding and encoding makes no difference`() async throws {
    try await withBlackbird { db, _ in
      let items = [
        Backwards(id: 1, first: "a", second: "b", third: nil),
        Backwards(id: 2, first: "c", second: "c", third: "d"),
      ]
      for item in items { try await item.write(to: db) }
      #expect(try await Backwards.read(from: db, orderBy: .ascending(\.$id)) == items)
      for item in items {
        #expect(try await readByCodable(Backwards.self, from: db, id: item.id) == item)
      }
      var changed = try #require(try await Backwards.read(from: db, id: 1))
      #expect(changed.changedColumns(in: db) == [])
      changed.second = "e"
      #expect(changed.changedColumns(in: db) == ["second"])
      try await changed.write(to: db)
      #expect(try await Backwards.read(from: db, id: 1)?.second == "e")

      let fickle = (0..<4).map { Fickle(id: $0, first: "first \($0)", second: "second \($0)") }
      for item in fickle { try await item.write(to: db) }
      #expect(
        try await db.query("SELECT second FROM Fickle ORDER BY id").map {
          $0["second"]?.stringValue
        }
          == fickle.map(\.second))
      #expect(try await Fickle.read(from: db, orderBy: .ascending(\.$id)) == fickle)
      for item in fickle {
        #expect(try await readByCodable(Fickle.self, from: db, id: item.id) == item)
      }

      try await ByValue(id: 1, name: "x").write(to: db)
      #expect(try await ByValue.read(from: db, id: 1)?.name == "x!")
      #expect(try await readByCodable(ByValue.self, from: db, id: 1)?.name == "x!")
    }
  }

  @Test func `tasks that read models side by side do not get in each other's way`() async throws {
    try await withBlackbird { db, _ in
      try await db.transaction { core in
        for id in 0..<200 { try EveryKind.make(id).writeIsolated(to: db, core: core) }
      }
      try await Backwards(id: 1, first: "a", second: "b", third: nil).write(to: db)
      try await withThrowingTaskGroup { group in
        for task in 0..<16 {
          group.addTask {
            for _ in 0..<5 {
              let items = try await EveryKind.read(from: db)
              #expect(items.allSatisfy { $0.text.hasSuffix("\($0.id)") })
              #expect(try await EveryKind.read(from: db, id: task)?.id == task)
              #expect(try await Backwards.read(from: db, id: 1)?.first == "a")
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test
  func `a large transaction that is undone leaves the instances that are still there changed`()
    async throws
  {
    struct Undo: Error {}
    try await withBlackbird { db, _ in
      try await Story.resolveSchema(in: db)
      let kept = (0..<10).map { Story(id: 10_000 + $0, title: "kept", url: nil) }
      let first = Story(id: 9_999, title: "first", url: nil)
      await #expect(throws: Undo.self) {
        try await db.transaction { core in
          try first.writeIsolated(to: db, core: core)
          #expect(throws: Undo.self) {
            try core.transaction { core in
              for id in 0..<9000 {
                // Nobody has this one afterwards.
                try Story(id: id, title: "gone", url: nil).writeIsolated(to: db, core: core)
                if id % 900 == 0 { try kept[id / 900].writeIsolated(to: db, core: core) }
              }
              try kept[3].deleteIsolated(from: db, core: core)
              throw Undo()
            }
          }
          for item in kept { #expect(item.changedColumns(in: db).count == 4) }
          #expect(first.changedColumns(in: db) == [])
          try kept[1].writeIsolated(to: db, core: core)
          throw Undo()
        }
      }
      for item in kept + [first] { #expect(item.changedColumns(in: db).count == 4) }
      #expect(try await Story.count(in: db) == 0)
    }
  }

  @Test func `an instance knows each of the databases that have it`() async throws {
    try await withBlackbird { one, _ in
      try await withBlackbird { two, _ in
        try await withBlackbird { three, _ in
          let story = Story(id: 1, title: "x", url: nil)
          let all = [one, two, three]
          for (count, db) in all.enumerated() {
            #expect(
              all.map { story.changedColumns(in: $0).isEmpty } == all.indices.map { $0 < count })
            try await story.write(to: db)
          }
          #expect(all.allSatisfy { story.changedColumns(in: $0).isEmpty })
          try await story.delete(from: two)
          #expect(all.map { story.changedColumns(in: $0).isEmpty } == [true, false, true])
          // What was read has one origin for all columns, and stays saved where it comes from.
          let read = try #require(try await Story.read(from: one, id: 1))
          try await read.write(to: two)
          #expect(all.map { read.changedColumns(in: $0).isEmpty } == [true, true, false])
          try await read.write(to: three)
          #expect(all.allSatisfy { read.changedColumns(in: $0).isEmpty })
        }
      }
    }
  }
}
