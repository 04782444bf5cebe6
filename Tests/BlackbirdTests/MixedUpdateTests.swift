import Blackbird
import Foundation
import Testing

/// Updates that have values beside expressions.
@Suite struct MixedUpdateTests {
  private func fill(_ db: Blackbird.Database) async throws {
    for (index, name) in ["a", "b"].enumerated() {
      try await Tag(name: name, slug: name, count: index, ratio: 1.5).write(to: db)
    }
  }

  @Test func `an update has literals and variables beside expressions`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      let ratio = 2.5
      try await Tag.update(
        in: db,
        set: [
          \.$count: \.$count + 5, \.$slug: "x", \.$isHidden: true, \.$ratio: .value(ratio),
        ],
        matching: \.$name == "b")
      let tag = try await Tag.read(from: db, multicolumnPrimaryKey: ["b"])
      #expect(tag == Tag(name: "b", slug: "x", count: 6, isHidden: true, ratio: 2.5))
      let interpolated = try await Tag.update(
        in: db, set: [\.$count: \.$count - 1, \.$slug: "\(ratio) times", \.$ratio: 0.25],
        forPrimaryKeys: ["b"])
      #expect(interpolated == 1)
      try await db.transaction { core in
        try Tag.updateIsolated(
          in: db, core: core, set: [\.$count: 7, \.$isHidden: !\.$isHidden], matching: .all)
      }
      #expect(try await Tag.count(in: db, matching: \.$count == 7) == 2)
    }
  }

  @Test func `an update has nil beside expressions`() async throws {
    try await withBlackbird { db, _ in
      try await Story(id: 1, title: "x", url: URL(filePath: "/")).write(to: db)
      try await Story.update(
        in: db, set: [\.$score: \.$score + 2, \.$url: nil, \.$title: "y"], matching: \.$id == 1)
      let story = try await Story.read(from: db, id: 1)
      #expect(story?.url == nil)
      #expect(story?.score == 2)
      #expect(story?.title == "y")
    }
  }

  @Test func `a value beside expressions is held against the column's type`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      for changes: [Tag.BlackbirdColumnKeyPath: BlackbirdColumnExpression<Tag>] in [
        [\.$ratio: \.$ratio * 2, \.$count: "many"], [\.$ratio: \.$ratio * 2, \.$count: nil],
        [\.$ratio: \.$ratio * 2, \.$count: .value("many")],
      ] {
        let thrown = await failure(of: BlackbirdModelError.self) {
          try await Tag.update(in: db, set: changes, matching: .all)
        }
        guard case .argumentInvalid(_, let description) = thrown else {
          Issue.record("\(String(describing: thrown))")
          continue
        }
        #expect(description.contains("count"))
      }
      #expect(try await Tag.count(in: db, matching: \.$ratio == 1.5) == 2)
    }
  }
}
