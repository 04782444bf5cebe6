import Blackbird
import Foundation
import Testing

@Suite struct ModelUpdateTests {
  private func fill(_ db: Blackbird.Database) async throws {
    for (index, name) in ["a", "b", "c"].enumerated() {
      try await Tag(name: name, slug: name, count: index, ratio: 1.5).write(to: db)
    }
  }

  @Test func `an update sets columns of the rows that match`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      let count = try await Tag.update(
        in: db, set: [\.$count: 10, \.$isHidden: true], matching: \.$name != "b")
      #expect(count == 2)
      #expect(
        try await Tag.read(from: db, orderBy: .ascending(\.$name)).map(\.count) == [10, 1, 10])
      #expect(try await Tag.count(in: db, matching: \.$isHidden == true) == 2)
      #expect(try await Tag.update(in: db, set: [\.$count: 10], matching: .all) == 1)
      #expect(try await Tag.update(in: db, set: [\.$count: 10], matching: .all) == 0)
      try await Story(id: 1, title: "x", url: URL(filePath: "/")).write(to: db)
      try await Story.update(in: db, set: [\.$url: nil], matching: \.$id == 1)
      #expect(try await Story.read(from: db, id: 1)?.url == nil)
    }
  }

  @Test func `an update computes from the row`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      try await Tag.update(
        in: db,
        set: [
          \.$count: \.$count + 1, \.$isHidden: !\.$isHidden, \.$ratio: \.$ratio * 2,
          \.$slug: \.$slug + "!",
        ], matching: \.$count > 0)
      let tags = try await Tag.read(from: db, orderBy: .ascending(\.$name))
      #expect(tags.map(\.count) == [0, 2, 3])
      #expect(tags.map(\.isHidden) == [false, true, true])
      #expect(tags.map(\.ratio) == [1.5, 3, 3])
      #expect(tags.map(\.slug) == ["a", "b!", "c!"])
      try await Tag.update(in: db, set: [\.$count: (\.$count - 1) * 10 / 4], matching: .all)
      #expect(
        try await Tag.read(from: db, orderBy: .ascending(\.$name)).map(\.count) == [-2, 2, 5])
      try await Tag.update(
        in: db, set: [\.$count: \Tag.$count + 1, \.$slug: "z"], matching: \.$name == "c")
      let c = try await Tag.read(from: db, primaryKey: "c")
      #expect(c?.count == 6)
      #expect(c?.slug == "z")
    }
  }

  @Test func `an update by key changes only rows whose whole key matches`() async throws {
    try await withBlackbird { db, _ in
      for number: Int64 in 1..<10 {
        try await Episode(user: number, feed: number, number: number).write(to: db)
      }
      let count = try await Episode.update(
        in: db, set: [\.$number: 50],
        forMulticolumnPrimaryKeys: [[1, 1, 1], [2, 2, 2], [3, 1, 1]])
      #expect(count == 2)
      #expect(try await Episode.read(from: db, multicolumnPrimaryKey: [1, 1, 50]) != nil)
      #expect(try await Episode.read(from: db, multicolumnPrimaryKey: [2, 2, 50]) != nil)
      #expect(try await Episode.read(from: db, multicolumnPrimaryKey: [3, 3, 3]) != nil)
      try await fill(db)
      try await Tag.update(
        in: db, set: [\.$count: \.$count + 5], forPrimaryKeys: ["a", "c", "a", "q"])
      #expect(try await Tag.read(from: db, orderBy: .ascending(\.$name)).map(\.count) == [5, 1, 7])
      #expect(try await Tag.update(in: db, set: [\.$count: 1], forPrimaryKeys: []) == 0)
    }
  }

  @Test func `an update that sets nothing does nothing`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      let nothing: [Tag.BlackbirdColumnKeyPath: (any Sendable)?] = [:]
      #expect(try await Tag.update(in: db, set: nothing, matching: .all) == 0)
      #expect(try await Tag.update(in: db, set: nothing, forPrimaryKeys: ["a"]) == 0)
    }
  }

  @Test func `a value that is not of its column's type is refused`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      for changes in [
        [\.$count: "many"], [\.$name: nil], [\.$ratio: Double.nan], [\.$slug: 5],
      ] as [[Tag.BlackbirdColumnKeyPath: (any Sendable)?]] {
        let error = await failure(of: BlackbirdModelError.self) {
          try await Tag.update(in: db, set: changes, matching: .all)
        }
        #expect(error != nil, "\(changes)")
      }
      #expect(try await Tag.read(from: db, orderBy: .ascending(\.$name)).map(\.count) == [0, 1, 2])
    }
  }

  @Test func `rows are deleted by condition`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      #expect(try await Tag.delete(from: db, matching: \.$count == 1) == 1)
      #expect(try await Tag.delete(from: db, matching: \.$count == 1) == 0)
      #expect(try await Tag.delete(from: db, matching: .all) == 2)
    }
  }

  @Test func `updates and deletions have twins inside a transaction`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      try await Episode(user: 1, feed: 1, number: 1).write(to: db)
      try await db.transaction { core in
        try Tag.updateIsolated(in: db, core: core, set: [\.$count: 4], matching: \.$name == "a")
        try Tag.updateIsolated(in: db, core: core, set: [\.$count: \.$count + 1], matching: .all)
        try Tag.updateIsolated(in: db, core: core, set: [\.$ratio: 9.0], forPrimaryKeys: ["b"])
        try Tag.updateIsolated(
          in: db, core: core, set: [\.$ratio: \.$ratio + 1], forPrimaryKeys: ["b"])
        try Episode.updateIsolated(
          in: db, core: core, set: [\.$heard: true], forMulticolumnPrimaryKeys: [[1, 1, 1]])
        try Tag.deleteIsolated(from: db, core: core, matching: \.$name == "c")
      }
      let tags = try await Tag.read(from: db, orderBy: .ascending(\.$name))
      #expect(tags.map(\.count) == [5, 2])
      #expect(tags.map(\.ratio) == [1.5, 10])
      #expect(try await Episode.read(from: db).map(\.heard) == [true])
    }
  }
}
