import Blackbird
import Foundation
import Testing

/// What is seen when values are printed.
@Suite struct DescriptionTests {
  @Test func `a printed model shows its values`() async throws {
    try await withBlackbird { db, _ in
      try await Story(id: 2, title: "Hi", url: nil, score: 3).write(to: db)
      let story = try #require(try await Story.read(from: db, id: 2))
      #expect("\(story)" == #"Story(_id: 2, _title: "Hi", _url: nil, _score: 3, note: "")"#)
      #expect("\(story.$title)" == "Hi")
      var dumped = ""
      dump(story, to: &dumped)
      #expect(dumped.contains("_id: 2\n"))
      #expect(dumped.contains("_title: \"Hi\"\n"))
      #expect(!dumped.contains("origin"))
      // The library reflects models itself, and still finds their columns.
      #expect(try await db.columns(of: "Story") == ["id", "title", "url", "score"])
    }
  }

  @Test func `printed values and rows are literals`() {
    let row: Blackbird.Row = ["title": "it's"]
    #expect("\(row)" == #"["title": 'it''s']"#)
    #expect("\(Blackbird.Value.null) \(Blackbird.Value.integer(2))" == "NULL 2")
    #expect("\(Blackbird.Value.double(1.5))" == "1.5")
    #expect("\(Blackbird.Value.data(Data([1, 2])))" == "blob of 2 bytes")
  }

  @Test func `a printed schema resolution names what was done`() {
    let both: BlackbirdModelSchemaResolution = [.createdTable, .migratedFullTextIndex]
    #expect("\(both)" == "[createdTable, migratedFullTextIndex]")
    #expect("\(BlackbirdModelSchemaResolution())" == "[]")
  }
}
