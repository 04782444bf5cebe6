import Blackbird
import Foundation
import TestDatabase
import Testing

private struct DuplicateIndexes: BlackbirdModel {
  static let indexes: [[BlackbirdColumnKeyPath]] = [[\.$title]]
  static let uniqueIndexes: [[BlackbirdColumnKeyPath]] = [[\.$title]]
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String
}
private struct KeyIndex: BlackbirdModel {
  static let indexes: [[BlackbirdColumnKeyPath]] = [[\.$id]]
  @BlackbirdColumn var id: Int
}
private struct NoKey: BlackbirdModel {
  var id: Int { 0 }
  @BlackbirdColumn var number: Int
}
private struct NoColumns: BlackbirdModel {
  var id = 0
}
private struct NotAColumn: BlackbirdModel {
  static let primaryKey: [BlackbirdColumnKeyPath] = [\.number]
  var id: Int { 0 }
  @BlackbirdColumn var number: Int
}

private struct Renamed: BlackbirdModel {
  static let tableName = "a `strange\" table's name"
  enum CodingKeys: String, BlackbirdCodingKey {
    case id
    case title = "headline"
    case text = "d"
  }
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String
  @BlackbirdColumn var text: String?
}

private struct PlainKeys: BlackbirdModel {
  enum CodingKeys: String, CodingKey {
    case id = "number"
    case title = "headline"
  }
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String
}

private struct OwnDecoding: BlackbirdModel {
  enum CodingKeys: String, BlackbirdCodingKey {
    case id = "idText"
    case name = "nameText"
    case thumbnail = "thumbnailText"
  }
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var name: String
  @BlackbirdColumn var thumbnail: URL
  var loadedBy = "nobody"

  init(id: Int, name: String, thumbnail: URL) {
    self.id = id
    self.name = name
    self.thumbnail = thumbnail
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if decoder is BlackbirdDefaultsDecoder {
      id = 0
    } else {
      let text = try container.decode(String.self, forKey: .id)
      guard let number = Int(text) else {
        throw DecodingError.dataCorruptedError(forKey: .id, in: container, debugDescription: text)
      }
      id = number
    }
    name = try container.decode(String.self, forKey: .name)
    thumbnail = try container.decode(URL.self, forKey: .thumbnail)
    loadedBy = "init(from:)"
  }
}

private struct OwnEncoding: BlackbirdModel {
  enum CodingKeys: String, CodingKey {
    case id
    case title
    case secret
  }
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String
  @BlackbirdColumn var secret: String

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(_id, forKey: .id)
    try container.encode(title.uppercased(), forKey: .title)
  }
}

@Suite struct ModelDefinitionTests {
  private func invalid<Model: BlackbirdModel>(_ type: Model.Type) async throws -> String {
    var text = ""
    try await withBlackbird { db, _ in
      let error = await failure(of: BlackbirdTableError.self) {
        try await Model.resolveSchema(in: db)
      }
      switch error {
      case .invalidModel(_, let description)?: text = description
      case .notAColumn(_, let path)?: text = path
      default: Issue.record("\(String(describing: error))")
      }
    }
    return text
  }

  @Test func `a type that can be no model is an error that says why`() async throws {
    #expect(try await invalid(DuplicateIndexes.self).contains("twice in indexes and uniqueIndexes"))
    #expect(try await invalid(KeyIndex.self).contains("primary key"))
    #expect(try await invalid(NoKey.self).contains("neither a primaryKey nor a column named id"))
    #expect(try await invalid(NoColumns.self).contains("no property with @BlackbirdColumn"))
    #expect(try await invalid(NotAColumn.self).contains("NotAColumn"))
  }

  @Test func `identity is the id, or the values of the key`() {
    let article = Story(id: 7, title: "x", url: nil)
    #expect(article.id == 7)
    let episode = Episode(user: 1, feed: 2, number: 3)
    #expect(episode.id == [AnyHashable(Int64(1)), AnyHashable(Int64(2)), AnyHashable(Int64(3))])
    var same = episode
    same.heard = true
    #expect(same != episode)
    #expect(same.hashValue == episode.hashValue)
    #expect(Set([episode, same]).count == 2)
  }

  @Test func `an instance from defaults has zeros, empty texts and nils`() throws {
    let article = try Story.instanceFromDefaults()
    #expect(article == Story(id: 0, title: "", url: nil))
  }

  @Test func `names that need quoting, and coding keys that differ, reach the table`() async throws
  {
    try await withBlackbird { db, _ in
      let item = Renamed(id: 1, title: "One", text: nil)
      try await item.write(to: db)
      #expect(try await db.columns(of: Renamed.tableName) == ["id", "title", "text"])
      #expect(try await Renamed.read(from: db, id: 1) == item)
      let json = try JSONEncoder().encode(item)
      let object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
      #expect(Set(object.keys) == ["id", "headline", "d"])
      #expect(try JSONDecoder().decode(Renamed.self, from: json) == item)
      let without = try JSONDecoder().decode(
        Renamed.self, from: Data(#"{"id": 1, "headline": "One"}"#.utf8))
      #expect(without == item)

      let plain = PlainKeys(id: 2, title: "Two")
      try await plain.write(to: db)
      #expect(try await db.columns(of: "PlainKeys") == ["id", "title"])
      #expect(try await PlainKeys.read(from: db, matching: \.$title == "Two") == [plain])
    }
  }

  @Test func `a model's own decoding is used for rows, too`() async throws {
    try await withBlackbird { db, _ in
      let item = OwnDecoding(id: 4, name: "Four", thumbnail: URL(filePath: "/4"))
      try await item.write(to: db)
      let read = try #require(try await OwnDecoding.read(from: db, id: 4))
      #expect(read.id == 4)
      #expect(read.name == "Four")
      #expect(read.thumbnail == URL(filePath: "/4"))
      #expect(read.loadedBy == "init(from:)")
      #expect(read.changedColumns(in: db) == [])
      let json = Data(#"{"idText": "5", "nameText": "n", "thumbnailText": "file:///5"}"#.utf8)
      #expect(try JSONDecoder().decode(OwnDecoding.self, from: json).id == 5)
    }
  }

  @Test func `a model's own encoding is not what is written`() async throws {
    try await withBlackbird { db, _ in
      let item = OwnEncoding(id: 1, title: "One", secret: "s")
      #expect(item.changedColumns(in: db) == ["id", "title", "secret"])
      try await item.write(to: db)
      #expect(item.changedColumns(in: db) == [])
      #expect(try await OwnEncoding.read(from: db, id: 1) == item)
    }
  }

  @Test func `JSON keeps what is no column, and rows leave it alone`() async throws {
    try await withBlackbird { db, _ in
      let items = (1...4).map {
        Story(id: $0, title: "T\($0)", url: URL(filePath: "/\($0)"), score: 1, note: "n\($0)")
      }
      let decoded = try JSONDecoder().decode([Story].self, from: JSONEncoder().encode(items))
      #expect(decoded == items)
      #expect(decoded.map(\.note) == items.map(\.note))
      try await items[0].write(to: db)
      #expect(try await db.columns(of: "Story") == ["id", "title", "url", "score"])
      #expect(try await Story.read(from: db, id: 1)?.note == "")
    }
  }

  @Test func `every column type goes through JSON`() throws {
    var item = Everything.sample(1, url: URL(filePath: "/x"))
    item.dateOrNil = Date(timeIntervalSince1970: 5)
    item.placeOrNil = item.place
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let json = try encoder.encode(item)
    var decoded = try decoder.decode(Everything.self, from: json)
    #expect(String(decoding: json, as: UTF8.self).contains("1970-01-01T00:00:05Z"))
    decoded.date = item.date
    #expect(decoded == item)
  }

  @Test func `each column is found by its own key path in every model`() throws {
    // The look-up goes by the identity of the prototype's columns; two that shared one would mix.
    let item = Everything.sample(3, url: URL(filePath: "/x"))
    #expect("\(\Everything.$int8) \(\Everything.$int16)" == "int8 int16")
    #expect("\(\Everything.$wordsOrNil) \(\Everything.$id)" == "wordsOrNil id")
    #expect(try item.primaryKeyValues() == [.integer(3)])
  }
}
