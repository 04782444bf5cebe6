import Blackbird
import Foundation
import TestDatabase
import Testing

@Suite struct ModelWriteTests {
  @Test func `a fresh instance has changed, a written one not, a set column alone`() async throws {
    try await withBlackbird { db, directory in
      let other = try Blackbird.Database(path: directory.file("other.db"))
      let article = Story(id: 1, title: "One", url: nil)
      #expect(article.changedColumns(in: db) == ["id", "title", "url", "score"])
      #expect(article.$title.hasChanged(in: db))
      try await article.write(to: db)
      #expect(article.changedColumns(in: db) == [])
      #expect(article.changedColumns(in: other) == ["id", "title", "url", "score"])
      var copy = article
      copy.title = "Two"
      #expect(copy.changedColumns(in: db) == ["title"])
      #expect(article.changedColumns(in: db) == [], "a copy's change is the copy's own")
      try await copy.write(to: db)
      #expect(copy.changedColumns(in: db) == [])

      var read = try #require(try await Story.read(from: db, id: 1))
      #expect(read.changedColumns(in: db) == [])
      #expect(read.changedColumns(in: other).count == 4)
      try await read.write(to: other)
      #expect(read.changedColumns(in: other) == [])
      #expect(read.changedColumns(in: db) == [])
      read.score = 4
      #expect(read.changedColumns(in: db) == ["score"])
      #expect(read.changedColumns(in: other) == ["score"])
      try await read.write(to: other)
      #expect(read.changedColumns(in: other) == [])
      #expect(read.changedColumns(in: db) == ["score"])
      #expect(try await Story.read(from: other, id: 1)?.score == 4)
      await other.close()
    }
  }

  @Test func `a copy written elsewhere does not make the original count as written there`()
    async throws
  {
    try await withBlackbird { db, directory in
      let other = try Blackbird.Database(path: directory.file("other.db"))
      try await Story(id: 1, title: "One", url: nil).write(to: db)
      let original = try #require(try await Story.read(from: db, id: 1))
      var copy = original
      copy.title = "Other"
      try await copy.write(to: other)
      try await original.write(to: other)
      #expect(try await Story.read(from: other, id: 1)?.title == "One")
      await other.close()
    }
  }

  @Test func `only changed columns are written, so two writers keep each other's`() async throws {
    try await withBlackbird { db, _ in
      try await Story(id: 1, title: "One", url: nil, score: 1).write(to: db)
      var a = try #require(try await Story.read(from: db, id: 1))
      var b = try #require(try await Story.read(from: db, id: 1))
      a.title = "A"
      b.score = 2
      try await a.write(to: db)
      try await b.write(to: db)
      let now = try #require(try await Story.read(from: db, id: 1))
      #expect(now.title == "A")
      #expect(now.score == 2)
    }
  }

  @Test func `an unchanged instance writes nothing`() async throws {
    try await withBlackbird { db, _ in
      let article = Story(id: 1, title: "One", url: nil)
      try await article.write(to: db)
      try await db.query("UPDATE Story SET title = 'by hand'")
      try await article.write(to: db)
      #expect(try await Story.read(from: db, id: 1)?.title == "by hand")
    }
  }

  @Test func `a value that is set to what it was is written`() async throws {
    try await withBlackbird { db, _ in
      try await Story(id: 1, title: "One", url: nil).write(to: db)
      var article = try #require(try await Story.read(from: db, id: 1))
      try await db.query("UPDATE Story SET title = 'by hand'")
      article.title = "One"
      try await article.write(to: db)
      #expect(try await Story.read(from: db, id: 1)?.title == "One")
    }
  }

  @Test func `a fresh instance overwrites the row with its key, whatever the key is`() async throws
  {
    try await withBlackbird { db, _ in
      try await Story(id: 1, title: "One", url: URL(filePath: "/")).write(to: db)
      try await Story(id: 1, title: "Uno", url: nil).write(to: db)
      #expect(try await Story.read(from: db) == [Story(id: 1, title: "Uno", url: nil)])
      try await Episode(user: 1, feed: 1, number: 1, heard: false).write(to: db)
      try await Episode(user: 1, feed: 1, number: 1, heard: true).write(to: db)
      try await Episode(user: 1, feed: 1, number: 2, heard: false).write(to: db)
      #expect(try await Episode.count(in: db) == 2)
      #expect(try await Episode.read(from: db, multicolumnPrimaryKey: [1, 1, 1])?.heard == true)
    }
  }

  @Test func `an instance with another key is another row, written whole`() async throws {
    try await withBlackbird { db, _ in
      try await Story(id: 1, title: "One", url: nil).write(to: db)
      try await Story(id: 2, title: "Two", url: nil).write(to: db)
      var article = try #require(try await Story.read(from: db, id: 1))
      article.id = 2
      try await article.write(to: db)
      #expect(try await Story.read(from: db, id: 2)?.title == "One")
      #expect(try await Story.read(from: db, id: 1)?.title == "One")
      #expect(article.changedColumns(in: db) == [])
    }
  }

  @Test func `a changed instance whose row is gone is inserted whole`() async throws {
    try await withBlackbird { db, _ in
      try await Story(id: 1, title: "One", url: nil, score: 3).write(to: db)
      var article = try #require(try await Story.read(from: db, id: 1))
      try await Story.delete(from: db, matching: .all)
      article.title = "Uno"
      try await article.write(to: db)
      #expect(try await Story.read(from: db, id: 1) == article)
    }
  }

  @Test func `another unique index fails, names its columns, and leaves both rows`() async throws {
    try await withBlackbird { db, _ in
      try await Tag(name: "a", slug: "s", count: 1).write(to: db)
      let clash = Tag(name: "b", slug: "s", count: 2)
      let error = await failure(of: Blackbird.Database.Error.self) { try await clash.write(to: db) }
      guard case .uniqueConstraintFailed(let details)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(details.uniqueColumns == ["slug"])
      #expect(clash.changedColumns(in: db).count == 5)
      #expect(try await Tag.count(in: db) == 1)
      // A stale value of a unique column that was not set is not written, and so does not fail.
      var first = try #require(try await Tag.read(from: db, primaryKey: "a"))
      try await db.query("UPDATE Tag SET slug = 't'")
      try await clash.write(to: db)
      first.count = 9
      try await first.write(to: db)
      #expect(try await Tag.read(from: db, primaryKey: "a")?.slug == "t")
    }
  }

  @Test func `what a rolled-back transaction wrote counts as changed again`() async throws {
    try await withBlackbird { db, _ in
      let fresh = Story(id: 1, title: "One", url: nil)
      try await Story(id: 2, title: "Two", url: nil).write(to: db)
      let two = try #require(try await Story.read(from: db, id: 2))
      let result = try await db.cancellableTransaction { core in
        try fresh.writeIsolated(to: db, core: core)
        #expect(fresh.changedColumns(in: db) == [])
        try two.deleteIsolated(from: db, core: core)
        #expect(two.changedColumns(in: db).count == 4)
        throw Blackbird.Error.cancelTransaction
      }
      guard case .rolledBack = result else {
        Issue.record("\(result)")
        return
      }
      #expect(fresh.changedColumns(in: db).count == 4)
      #expect(two.changedColumns(in: db) == [])
      try await fresh.write(to: db)
      #expect(try await Story.read(from: db, id: 1)?.title == "One")
      #expect(try await Story.read(from: db, id: 2)?.title == "Two")
    }
  }

  @Test func `what an undone part of a transaction wrote counts as changed again`() async throws {
    try await withBlackbird { db, _ in
      let kept = Story(id: 1, title: "One", url: nil)
      let undone = Story(id: 2, title: "Two", url: nil)
      try await db.transaction { core in
        try kept.writeIsolated(to: db, core: core)
        let part = try core.cancellableTransaction { core in
          try undone.writeIsolated(to: db, core: core)
          throw Blackbird.Error.cancelTransaction
        }
        guard case .rolledBack = part else {
          Issue.record("committed")
          return
        }
      }
      #expect(kept.changedColumns(in: db) == [])
      #expect(undone.changedColumns(in: db).count == 4)
      #expect(try await Story.count(in: db) == 1)
    }
  }

  @Test func `a deleted instance can be written again`() async throws {
    try await withBlackbird { db, _ in
      let article = Story(id: 1, title: "One", url: nil)
      try await article.write(to: db)
      try await article.delete(from: db)
      #expect(try await Story.count(in: db) == 0)
      try await article.delete(from: db)
      try await article.write(to: db)
      #expect(try await Story.count(in: db) == 1)
    }
  }

  @Test func `modify changes the row as it is now, and says when there is none`() async throws {
    try await withBlackbird { db, _ in
      try await Tag(name: "a", slug: "s", count: 0).write(to: db)
      try await withThrowingTaskGroup { group in
        for _ in 0..<100 {
          group.addTask { try await Tag.modify(in: db, primaryKey: "a") { $0.count += 1 } }
        }
        for try await _ in group {}
      }
      #expect(try await Tag.read(from: db, primaryKey: "a")?.count == 100)
      let missing = await failure(of: BlackbirdModelError.self) {
        try await Tag.modify(in: db, primaryKey: "b") { $0.count = 1 }
      }
      #expect(missing == .primaryKeyNotFound(value: [.text("b")]))
      try await Episode(user: 1, feed: 1, number: 1).write(to: db)
      let moved = try await Episode.modify(in: db, multicolumnPrimaryKey: [1, 1, 1]) {
        $0.number = 5
      }
      #expect(moved.number == 5)
      #expect(try await Episode.read(from: db).map(\.number) == [5])
      struct Stop: Error {}
      await #expect(throws: Stop.self) {
        try await Tag.modify(in: db, primaryKey: "a") {
          $0.count = -1
          throw Stop()
        }
      }
      #expect(try await Tag.read(from: db, primaryKey: "a")?.count == 100)
      try await db.transaction { core in
        try Tag.modifyIsolated(in: db, core: core, primaryKey: "a") { $0.count = 7 }
        #expect(try Tag.readIsolated(from: db, core: core, primaryKey: "a")?.count == 7)
      }
    }
  }

  @Test func `a database that is open for reading only refuses to write`() async throws {
    try await withBlackbird { db, directory in
      try await Story(id: 1, title: "One", url: nil).write(to: db)
      await db.close()
      let reader = try Blackbird.Database(path: directory.file("test.db"), options: [.readOnly])
      #expect(try await Story.read(from: reader, id: 1)?.title == "One")
      let missing = await failure(of: BlackbirdTableError.self) {
        _ = try await Tag.read(from: reader, primaryKey: "x")
      }
      guard case .readOnlyDatabase? = missing else {
        Issue.record("\(String(describing: missing))")
        return
      }
      let write = await failure(of: Blackbird.Database.Error.self) {
        try await Story(id: 2, title: "Two", url: nil).write(to: reader)
      }
      #expect(write != nil)
      await reader.close()
    }
  }

  @Test func `twenty thousand models are written, read, and updated by key`() async throws {
    try await withBlackbird { db, _ in
      let articles = (0..<20_000).map {
        Story(id: $0, title: "Title \($0)", url: nil, score: $0 % 7)
      }
      try await db.transaction { core in
        for article in articles { try article.writeIsolated(to: db, core: core) }
      }
      #expect(articles.allSatisfy { $0.changedColumns(in: db).isEmpty })
      let read = try await Story.read(from: db, orderBy: .ascending(\.$id))
      #expect(read == articles)
      try await db.transaction { core in
        for var article in read {
          article.title += "!"
          try article.writeIsolated(to: db, core: core)
        }
      }
      let keys = Array(stride(from: 0, to: 20_000, by: 2))
      #expect(
        try await Story.update(in: db, set: [\.$score: 100], forPrimaryKeys: keys) == 10_000)
      #expect(try await Story.count(in: db, matching: \.$score == 100) == 10_000)
      #expect(try await Story.count(in: db, matching: .like(\.$title, "%!")) == 20_000)
      let some = try await Story.read(from: db, primaryKeys: keys)
      #expect(some.count == 10_000)
    }
  }
}
