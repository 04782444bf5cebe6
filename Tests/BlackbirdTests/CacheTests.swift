import Blackbird
import BoutiqueDB
import Dispatch
import Foundation
import Synchronization
import TestDatabase
import Testing

struct CachedPost: BlackbirdModel {
  static var cacheLimit: Int { 100 }

  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String
  @BlackbirdColumn var score: Int
}

private struct CachedVote: BlackbirdModel {
  static var cacheLimit: Int { 100 }
  static var primaryKey: [BlackbirdColumnKeyPath] { [\.$post, \.$user] }

  @BlackbirdColumn var post: Int
  @BlackbirdColumn var user: String
  @BlackbirdColumn var count: Int
}

@Suite(.timeLimit(.minutes(1))) struct CacheTests {
  private func metrics(_ db: Blackbird.Database) -> Blackbird.CachePerformanceMetrics {
    db.cachePerformanceMetricsByTableName()["CachedPost"] ?? .init()
  }

  private func put(_ db: Blackbird.Database, _ ids: Int...) async throws {
    for id in ids { try await CachedPost(id: id, title: "t\(id)", score: 0).write(to: db) }
  }

  @Test func `what was written is found by its key without a read`() async throws {
    try await withDatabase(schema: "") { db, _ in
      try await put(db, 1)
      let first = try await CachedPost.read(from: db, id: 1)
      let second = try await CachedPost.read(from: db, id: 1)
      #expect(first?.title == "t1")
      #expect(first == second)
      #expect(metrics(db).hits == 2)
      #expect(metrics(db).misses == 0)
    }
  }

  @Test func `a change by raw SQL makes the next read a miss with the new value`() async throws {
    try await withDatabase(schema: "") { db, _ in
      try await put(db, 1, 2)
      _ = try await CachedPost.read(from: db, id: 1)
      _ = try await CachedPost.read(from: db, id: 2)
      db.resetCachePerformanceMetrics(tableName: "CachedPost")
      try await db.query("UPDATE CachedPost SET title = 'new' WHERE id = 1")
      let one = try await CachedPost.read(from: db, id: 1)
      let two = try await CachedPost.read(from: db, id: 2)
      #expect(one?.title == "new")
      #expect(two?.title == "t2")
      #expect(metrics(db).misses == 1)
      #expect(metrics(db).hits == 1)
      #expect(metrics(db).rowInvalidations == 1)
    }
  }

  @Test func `a change by the shell makes the next read a miss with the new value`() async throws {
    try await withDatabase(schema: "") { db, path in
      try await put(db, 1)
      for round in 1...20 {
        _ = try await CachedPost.read(from: db, id: 1)
        try shell(path, "UPDATE CachedPost SET score = \(round) WHERE id = 1")
        let post = try await CachedPost.read(from: db, id: 1)
        #expect(post?.score == round)
        let again = try await CachedPost.read(from: db, id: 1)
        #expect(again?.score == round)
      }
      #expect(metrics(db).hits >= 20)
    }
  }

  @Test func `a row that is not there is remembered as that, until it comes`() async throws {
    try await withDatabase(schema: "") { db, _ in
      for _ in 0..<3 {
        let none = try await CachedPost.read(from: db, id: 1)
        #expect(none == nil)
      }
      #expect(metrics(db).hits == 2)
      try await db.query("INSERT INTO CachedPost VALUES (1, 'x', 0)")
      let one = try await CachedPost.read(from: db, id: 1)
      #expect(one?.title == "x")
      try await db.query("DELETE FROM CachedPost")
      let none = try await CachedPost.read(from: db, id: 1)
      #expect(none == nil)
    }
  }

  @Test func `results are remembered until the table changes`() async throws {
    try await withDatabase(schema: "") { db, _ in
      try await put(db, 1, 2, 3)
      db.resetCachePerformanceMetrics(tableName: "CachedPost")
      for _ in 0..<3 {
        let posts = try await CachedPost.read(
          from: db, matching: \.$id > 1, orderBy: .descending(\.$id))
        #expect(posts.map(\.id) == [3, 2])
        let count = try await CachedPost.count(in: db, matching: \.$id > 1)
        #expect(count == 2)
        let rows = try await CachedPost.query(in: db, columns: [\.$title], matching: \.$id == 2)
        #expect(rows.map { $0[\.$title] } == ["t2"])
      }
      #expect(metrics(db).hits == 6)
      #expect(metrics(db).misses == 3)
      try await db.query("DELETE FROM CachedPost WHERE id = 3")
      let posts = try await CachedPost.read(
        from: db, matching: \.$id > 1, orderBy: .descending(\.$id))
      #expect(posts.map(\.id) == [2])
      #expect(metrics(db).queryInvalidations == 3)
    }
  }

  @Test func `what depends on more than the table's rows is not remembered`() async throws {
    try await withDatabase { db, _ in
      try await put(db, 1, 2)
      db.resetCachePerformanceMetrics(tableName: "CachedPost")
      let other = BlackbirdModelColumnExpression<CachedPost>.literal("id IN (SELECT id FROM Post)")
      let before = try await CachedPost.read(from: db, matching: \.$id > 0 && other)
      #expect(before.isEmpty)
      try await db.query("INSERT INTO Post VALUES (2, 'a', NULL)")
      let after = try await CachedPost.read(from: db, matching: \.$id > 0 && other)
      #expect(after.map(\.id) == [2])
      _ = try await CachedPost.read(from: db, orderBy: .random)
      _ = try await CachedPost.read(from: db, sqlWhere: "id = 1")
      #expect(metrics(db).hits == 0)
      #expect(metrics(db).misses == 0)
    }
  }

  @Test func `nothing of a transaction is remembered before its commit, nor after a rollback`()
    async throws
  {
    try await withDatabase(schema: "") { db, _ in
      try await put(db, 1)
      struct Undone: Error {}
      await #expect(throws: Undone.self) {
        try await db.transaction { core in
          var post = try #require(try CachedPost.readIsolated(from: db, core: core, id: 1))
          post.title = "inside"
          try post.writeIsolated(to: db, core: core)
          let inside = try CachedPost.readIsolated(from: db, core: core, id: 1)
          #expect(inside?.title == "inside")
          throw Undone()
        }
      }
      let post = try await CachedPost.read(from: db, id: 1)
      #expect(post?.title == "t1")
      try await db.transaction { core in
        var post = try #require(try CachedPost.readIsolated(from: db, core: core, id: 1))
        post.title = "kept"
        try post.writeIsolated(to: db, core: core)
      }
      let kept = try await CachedPost.read(from: db, id: 1)
      #expect(kept?.title == "kept")
      try await CachedPost.modify(in: db, primaryKey: 1) { $0.score += 1 }
      let modified = try await CachedPost.read(from: db, id: 1)
      #expect(modified?.score == 1)
    }
  }

  @Test func `a row that a trigger changes is remembered as it is stored`() async throws {
    try await withDatabase(schema: "") { db, _ in
      _ = try await CachedPost.count(in: db)
      try await db.execute(
        """
        CREATE TRIGGER t AFTER INSERT ON CachedPost BEGIN
          UPDATE CachedPost SET score = 7 WHERE id = new.id; END
        """)
      try await put(db, 1)
      let post = try await CachedPost.read(from: db, id: 1)
      #expect(post?.score == 7)
    }
  }

  @Test func `a key of several columns has its place too`() async throws {
    try await withDatabase(schema: "") { db, _ in
      try await CachedVote(post: 1, user: "x", count: 1).write(to: db)
      try await CachedVote(post: 1, user: "y", count: 1).write(to: db)
      for user in ["x", "y", "x", "y"] {
        _ = try await CachedVote.read(from: db, multicolumnPrimaryKey: [1, user])
      }
      #expect(db.cachePerformanceMetricsByTableName()["CachedVote"]?.hits == 4)
      try await db.query("UPDATE CachedVote SET count = 2 WHERE user = 'x'")
      let x = try await CachedVote.read(from: db, multicolumnPrimaryKey: [1, "x"])
      let y = try await CachedVote.read(from: db, multicolumnPrimaryKey: [1, "y"])
      #expect(x?.count == 2)
      #expect(y?.count == 1)
      #expect(db.cachePerformanceMetricsByTableName()["CachedVote"]?.hits == 5)
    }
  }

  @Test func `a table that is altered is forgotten`() async throws {
    try await withDatabase(schema: "") { db, path in
      try await put(db, 1)
      _ = try await CachedPost.read(from: db, id: 1)
      try shell(
        path, "ALTER TABLE CachedPost ADD COLUMN more TEXT; UPDATE CachedPost SET score = 3")
      let post = try await CachedPost.read(from: db, id: 1)
      #expect(post?.score == 3)
    }
  }

  @Test func `the limit is kept, and what was used last stays`() async throws {
    try await withDatabase(schema: "") { db, _ in
      for id in 1...100 { try await put(db, id) }
      for id in 1...100 { _ = try await CachedPost.read(from: db, id: id) }
      for id in 101...150 {
        _ = try await CachedPost.read(from: db, id: id)
        _ = try await CachedPost.read(from: db, id: 1)
      }
      #expect(metrics(db).evictions > 0)
      db.resetCachePerformanceMetrics(tableName: "CachedPost")
      _ = try await CachedPost.read(from: db, id: 1)
      _ = try await CachedPost.read(from: db, id: 150)
      #expect(metrics(db).hits == 2)
      _ = try await CachedPost.read(from: db, id: 2)
      #expect(metrics(db).misses == 1)
      db.flushCache()
      _ = try await CachedPost.read(from: db, id: 1)
      #expect(metrics(db).misses == 2)
    }
  }

  @Test func `a model without a limit has no cache`() async throws {
    try await withDatabase(schema: "") { db, _ in
      try await Post(id: 1, title: "a", url: nil).write(to: db)
      _ = try await Post.read(from: db, id: 1)
      _ = try await Post.read(from: db, id: 1)
      #expect(db.cachePerformanceMetricsByTableName().isEmpty)
    }
  }

  @Test func `in memory it is the same`() async throws {
    let db = try Blackbird.Database.inMemoryDatabase()
    try await put(db, 1)
    _ = try await CachedPost.read(from: db, id: 1)
    try await db.query("UPDATE CachedPost SET title = 'new'")
    let post = try await CachedPost.read(from: db, id: 1)
    #expect(post?.title == "new")
    _ = try await CachedPost.read(from: db, id: 1)
    #expect(metrics(db).hits == 2)
    await db.close()
  }

  @Test func `a closed database answers nothing from memory`() async throws {
    try await withDatabase(schema: "") { db, _ in
      try await put(db, 1)
      _ = try await CachedPost.read(from: db, id: 1)
      await db.close()
      await #expect(throws: Blackbird.Database.Error.self) {
        try await CachedPost.read(from: db, id: 1)
      }
    }
  }

  @Test func `of several writes in one commit the last one is remembered, or none`() async throws {
    // Long enough that slow closures still share a commit.
    var configuration = BoutiqueConfiguration()
    configuration.leaseQuantum = .seconds(30)
    try await withDatabase(schema: "", configuration: configuration) { db, _ in
      try await put(db, 1)
      var changes = db.changePublisher(for: "CachedPost").makeAsyncIterator()
      for round in 1...5 {
        // Whoever comes while this runs shares the commit that follows.
        let isRunning = Received<Void>()
        let mayEnd = DispatchSemaphore(value: 0)
        let first = Task {
          try await db.transaction { core in
            isRunning.add(())
            mayEnd.wait()
          }
        }
        await isRunning.wait(for: 1)
        let engine = try #require(db.openEngine)
        // One that is remembered, and behind it one that is not.
        let remembered = Task {
          try await CachedPost.modify(in: db, primaryKey: 1) { $0.score = round * 2 }
        }
        try await eventually("it waits") { engine.waitingWriteCount == 1 }
        let last = Task { try await db.query("UPDATE CachedPost SET score = ?", round * 2 + 1) }
        try await eventually("both wait") { engine.waitingWriteCount == 2 }
        mayEnd.signal()
        try await first.value
        _ = try await (remembered.value, last.value)
        let commit = try #require(try await changes.next(isolation: nil))
        #expect(commit.primaryKeys == [[1]])
        let score = try await CachedPost.read(from: db, id: 1)?.score
        #expect(score == round * 2 + 1)
      }
      // They did share commits.
      try await db.query("INSERT INTO CachedPost VALUES (2, 'end', 0)")
      let end = try #require(try await changes.next(isolation: nil))
      #expect(end.primaryKeys == [[2]])
    }
  }

  @Test func `writers and readers of one process never see the past`() async throws {
    try await withDatabase(schema: "") { db, _ in
      try await put(db, 1)
      let acknowledged = Counter()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<4 {
          group.addTask {
            for round in 0..<100 {
              let score: Int
              if (writer + round) % 2 == 0 {
                score = try await CachedPost.modify(in: db, primaryKey: 1) { $0.score += 1 }.score
              } else {
                score =
                  try await db.query(
                    "UPDATE CachedPost SET score = score + 1 RETURNING score")[0]["score"]?
                  .intValue ?? 0
              }
              acknowledged.raise(to: score)
            }
          }
        }
        for _ in 0..<4 {
          group.addTask {
            var last = 0
            while last < 400 {
              let bound = acknowledged.count
              let score = try await CachedPost.read(from: db, id: 1)?.score ?? -1
              if score < bound || score < last {
                Issue.record("read \(score), after \(bound) was acknowledged and \(last) read")
                return
              }
              last = score
              let posts = try await CachedPost.read(from: db, matching: \.$id == 1)
              guard let found = posts.first?.score, found >= last else {
                Issue.record("a result is older than \(last)")
                return
              }
              last = found
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(metrics(db).hits > 0)
    }
  }
}
