import Blackbird
import Foundation
import Testing

@Suite struct ModelReadTests {
  private func fill(_ db: Blackbird.Database) async throws {
    try await db.transaction { core in
      for id in 0..<100 {
        let url = id % 4 == 0 ? nil : URL(filePath: "/\(id)")
        let title = id % 3 == 0 ? "The \(id)" : "A \(id)"
        try Story(id: id, title: title, url: url, score: id % 10).writeIsolated(
          to: db, core: core)
      }
    }
  }

  @Test func `instances are read by id, primary key and keys of several columns`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      #expect(try await Story.read(from: db, id: 7)?.title == "A 7")
      #expect(try await Story.read(from: db, id: 100) == nil)
      #expect(try await Story.read(from: db, primaryKey: 9)?.title == "The 9")
      try await Episode(user: 1, feed: 2, number: 3, heard: true).write(to: db)
      #expect(try await Episode.read(from: db, multicolumnPrimaryKey: [1, 2, 3])?.heard == true)
      #expect(try await Episode.read(from: db, multicolumnPrimaryKey: [1, 3, 3]) == nil)
      let byName = try await Episode.read(
        from: db, multicolumnPrimaryKey: ["number": 3, "user": 1, "feed": 2])
      #expect(byName?.heard == true)
      try await Tag(name: "x", slug: "y", count: 1).write(to: db)
      #expect(try await Tag.read(from: db, primaryKey: "x")?.slug == "y")
    }
  }

  @Test func `a key of the wrong shape is an error`() async throws {
    try await withBlackbird { db, _ in
      for body in [
        { _ = try await Episode.read(from: db, multicolumnPrimaryKey: [1, 2]) },
        { _ = try await Episode.read(from: db, primaryKey: 1) },
        { _ = try await Episode.read(from: db, id: 1) },
        { _ = try await Tag.read(from: db, id: "x") },
        {
          _ = try await Episode.read(
            from: db, multicolumnPrimaryKey: ["user": 1, "feed": 1, "x": 1])
        },
      ] as [@Sendable () async throws -> Void] {
        let error = await failure(of: BlackbirdModelError.self, body)
        guard case .argumentInvalid? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
      }
    }
  }

  @Test func `a list of keys gives the rows that are there, in the keys' order if asked`()
    async throws
  {
    try await withBlackbird { db, _ in
      try await fill(db)
      let keys = [99, 1, 78, 100_000, 63]
      let some = try await Story.read(from: db, primaryKeys: keys)
      #expect(Set(some.map(\.id)) == [99, 1, 78, 63])
      let ordered = try await Story.read(from: db, primaryKeys: keys + [1], preserveOrder: true)
      #expect(ordered.map(\.id) == [99, 1, 78, 63, 1])
      // More than one statement takes.
      let many = try await Story.read(
        from: db, primaryKeys: Array(0...(db.maxQueryVariableCount * 2)).shuffled())
      #expect(many.count == 100)
      #expect(try await Story.read(from: db, primaryKeys: []).isEmpty)
    }
  }

  @Test func `the four ways to give arguments read the same rows`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      let literal = try await Story.read(from: db, sqlWhere: "title LIKE 'the%' ORDER BY id")
      #expect(literal.count == 34)
      let one = try await Story.read(from: db, sqlWhere: "title LIKE ? ORDER BY id", "the%")
      let list = try await Story.read(
        from: db, sqlWhere: "title LIKE ? ORDER BY id", arguments: ["the%"])
      let named = try await Story.read(
        from: db, sqlWhere: "title LIKE :title ORDER BY id", arguments: [":title": "the%"])
      let byPath = try await Story.read(
        from: db, sqlWhere: "\(\Story.$title) LIKE :title ORDER BY id",
        arguments: [\.$title: "the%"])
      let table = try await Story.read(
        from: db, sqlWhere: "id IN (SELECT id FROM $T WHERE title LIKE ?) ORDER BY id", "the%")
      for result in [one, list, named, byPath, table] { #expect(result == literal) }
      #expect("\(\Story.$title)" == "title")
    }
  }

  @Test func `conditions find what they say`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      func count(_ condition: BlackbirdModelColumnExpression<Story>) async throws -> Int {
        let count = try await Story.count(in: db, matching: condition)
        let read = try await Story.read(from: db, matching: condition)
        #expect(read.count == count)
        return count
      }
      #expect(try await Story.count(in: db) == 100)
      #expect(try await count(.all) == 100)
      #expect(try await count(!.all) == 0)
      #expect(try await count(\.$id == 50) == 1)
      #expect(try await count(\.$id != 50) == 99)
      #expect(try await count(\.$id >= 50) == 50)
      #expect(try await count(\.$id > 50) == 49)
      #expect(try await count(\.$id <= 50) == 51)
      #expect(try await count(\.$id < 50) == 50)
      #expect(try await count(\.$id == 1 && \.$title == "Hi" || \.$id > 2) == 97)
      #expect(try await count(\.$url == nil) == 25)
      #expect(try await count(\.$url != nil) == 75)
      let url: URL? = URL(filePath: "/1")
      #expect(try await count(\.$url == url) == 1)
      // As in Swift: nil is different from every value.
      #expect(try await count(\.$url != url) == 99)
      #expect(try await count(!(\.$url == url)) == 99)
      #expect(try await count(.valueIn(\.$id, [1, 2, 3, 1000])) == 3)
      #expect(try await count(!.valueIn(\.$id, [1, 2, 3])) == 97)
      #expect(try await count(.in(\.$title, ["A 1", "The 3"])) == 2)
      #expect(try await count(.valueIn(\.$url, [nil, url])) == 26)
      #expect(try await count(.valueIn(\.$id, [])) == 0)
      #expect(try await count(.valueIn(\.$id, Array(50..<40_000))) == 50)
      #expect(try await count(.like(\.$title, "the%")) == 34)
      #expect(try await count(.literal("id % ? = ?", 5, 1)) == 20)
      #expect(try await count(.literal("id < 1 OR id > 98") && \.$id > 50) == 1)
      #expect(try await count(\.$id == nil) == 0)
    }
  }

  @Test func `order, limit and offset are kept`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      let page = try await Story.read(
        from: db, orderBy: .descending(\.$score), .ascending(\.$id), limit: 3, offset: 1)
      #expect(page.map(\.id) == [19, 29, 39])
      let rest = try await Story.read(from: db, orderBy: .ascending(\.$id), offset: 98)
      #expect(rest.map(\.id) == [98, 99])
      let shuffled = try await Story.read(from: db, orderBy: .random)
      #expect(Set(shuffled.map(\.id)).count == 100)
    }
  }

  @Test func `some columns come as rows typed by key path`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      let rows = try await Story.query(
        in: db, columns: [\.$id, \.$url], matching: \.$id <= 1, orderBy: .ascending(\.$id))
      #expect(rows.count == 2)
      let first = try #require(rows.first)
      let last = try #require(rows.last)
      let id: Int = last[\.$id]
      let url: URL? = last[\.$url]
      #expect(id == 1)
      #expect(url == URL(filePath: "/1"))
      #expect(first[\.$url] == nil)
      #expect(first.count == 2)
      #expect(last["id"] == .integer(1))
      #expect(last.row == ["id": .integer(1), "url": .text(URL(filePath: "/1").absoluteString)])
      #expect(last.map(\.key) == ["id", "url"])
      #expect(first.value(keyPath: \.$title) == nil)
      #expect(throws: BlackbirdModelError.self) { try first.value(of: \.$title) }
      let one = try await Story.query(in: db, columns: [\.$title], primaryKey: 3)
      #expect(one?[\.$title] == "The 3")
      #expect(try await Story.query(in: db, columns: [\.$title], primaryKey: 300) == nil)
      try await Episode(user: 1, feed: 2, number: 3, heard: true).write(to: db)
      let several = try await Episode.query(
        in: db, columns: [\.$heard], multicolumnPrimaryKey: [1, 2, 3])
      #expect(several?[\.$heard] == true)
    }
  }

  @Test func `any statement runs with the table's name and arguments of every kind`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      try await Story.query(in: db, "UPDATE $T SET title = ? WHERE id = ?", "New", 1)
      try await Story.query(
        in: db, "UPDATE $T SET \(\Story.$title) = :title WHERE \(\Story.$id) = :id",
        arguments: [\.$title: "Newer", \.$id: 2])
      let rows = try await Story.query(
        in: db, "SELECT id, title, 5 AS five FROM $T WHERE id IN (:a, $b) ORDER BY id",
        arguments: [":a": 1, "$b": 2])
      #expect(rows.map { $0[\.$title] } == ["New", "Newer"])
      #expect(rows.first?["five"] == .integer(5))
      let most = try await Story.query(in: db, "SELECT max(id) AS most FROM $T", arguments: [])
      #expect(most.first?["most"]?.intValue == 99)
      // What is named as a column is held against the column's type, so that reading it cannot trap.
      let error = await failure(of: BlackbirdModelError.self) {
        try await Story.query(in: db, "SELECT 'many' AS score FROM $T LIMIT 1")
      }
      guard case .storedValueInvalid? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }

  @Test func `every read has a twin inside a transaction`() async throws {
    try await withBlackbird { db, _ in
      try await fill(db)
      try await db.transaction { core in
        try Episode(user: 1, feed: 2, number: 3).writeIsolated(to: db, core: core)
        #expect(try Story.readIsolated(from: db, core: core, id: 7)?.id == 7)
        #expect(try Story.readIsolated(from: db, core: core, primaryKey: 7)?.id == 7)
        #expect(
          try Story.readIsolated(from: db, core: core, primaryKeys: [3, 1], preserveOrder: true)
            .map(\.id) == [3, 1])
        #expect(
          try Episode.readIsolated(from: db, core: core, multicolumnPrimaryKey: [1, 2, 3]) != nil)
        #expect(
          try Episode.readIsolated(
            from: db, core: core, multicolumnPrimaryKey: ["user": 1, "feed": 2, "number": 3]) != nil
        )
        let two = try Story.readIsolated(
          from: db, core: core, matching: \.$id < 5, orderBy: .descending(\.$id), limit: 2)
        #expect(two.map(\.id) == [4, 3])
        #expect(try Story.countIsolated(in: db, core: core, matching: \.$id < 5) == 5)
        #expect(try Story.readIsolated(from: db, core: core, sqlWhere: "id = ?", 5).count == 1)
        #expect(
          try Story.readIsolated(from: db, core: core, sqlWhere: "id = ?", arguments: [5]).count
            == 1)
        #expect(
          try Story.readIsolated(
            from: db, core: core, sqlWhere: "id = :i", arguments: [":i": 5]
          ).count == 1)
        #expect(
          try Story.readIsolated(
            from: db, core: core, sqlWhere: "id = :id", arguments: [\.$id: 5]
          ).count == 1)
        let rows = try Story.queryIsolated(
          in: db, core: core, columns: [\.$id], matching: \.$id == 5)
        #expect(rows.map { $0[\.$id] } == [5])
        #expect(
          try Story.queryIsolated(in: db, core: core, columns: [\.$id], primaryKey: 5)?[\.$id]
            == 5)
        try Story.queryIsolated(
          in: db, core: core, "UPDATE $T SET title = ? WHERE id = 5", "five")
        let five = try Story.queryIsolated(
          in: db, core: core, "SELECT title FROM $T WHERE id = :id", arguments: [":id": 5])
        #expect(five.first?[\.$title] == "five")
      }
    }
  }
}
