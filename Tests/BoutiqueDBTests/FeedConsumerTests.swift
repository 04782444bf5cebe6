import BoutiqueDB
import Foundation
import SQLiteConnection
import Synchronization
import TestDatabase
import Testing

/// Durable consumers of the change feed.
@Suite(.serialized) struct FeedConsumerTests {
  private typealias Feed = FeedSupport

  @Test func `a consumer goes on after what it has acknowledged`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    var db = try await BoutiqueDB.open(path: path, migrations: Feed.plan)
    // Unknown: from now on.
    try await Feed.insert(1...1, into: db)
    #expect(try await Feed.consume(db, "mirror") == [])
    try await Feed.insert(2...4, into: db)
    #expect(try await Feed.consume(db, "mirror", acknowledges: false) == ["2", "3", "4"])
    var feed = db.changes(consumer: "mirror").makeAsyncIterator()
    let second = try #require(try await feed.next())
    let third = try #require(try await feed.next())
    #expect(Feed.word(third.change) == "3" && third.rows.count == 1)
    try await third.acknowledge()
    // Neither again nor back.
    try await third.acknowledge()
    try await second.acknowledge()
    #expect(third.acknowledgementWrites == 1)
    await db.close()
    db = try await BoutiqueDB.open(path: path, migrations: Feed.plan)
    // A known one begins where it was, whatever is said.
    let now = try await db.currentToken()
    #expect(try await Feed.consume(db, "mirror", since: now) == ["4"])
    #expect(try await Feed.consume(db, "mirror") == [])
    await db.close()
  }

  @Test func `a new consumer begins where it is told`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      try await Feed.insert(1...2, into: db)
      let token = try await db.currentToken()
      try await Feed.insert(3...4, into: db)
      let all = try await Feed.consume(db, "all", since: db.oldestToken())
      #expect(all.suffix(4) == ["1", "2", "3", "4"])
      #expect(try await Feed.consume(db, "some", since: token) == ["3", "4"])
      let names = try await db.consumers().map(\.name)
      #expect(names == ["all", "some"])
    }
  }

  @Test func `it is registered before its first change`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      let waiting = Task {
        var feed = db.changes(consumer: "mirror").makeAsyncIterator()
        return Feed.word(try await feed.next()?.change)
      }
      while try await db.consumers().isEmpty { await Task.yield() }
      try await Feed.insert(1...1, into: db)
      #expect(try await waiting.value == "1")
      #expect(try await Feed.consume(db, "mirror") == ["1"])
    }
  }

  // MARK: One at a time

  @Test func `a name is used by one feed at a time`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      let other = try await BoutiqueDB.open(path: db.path, migrations: Feed.plan)
      try await Feed.insert(1...2, into: db)
      do {
        var feed = db.changes(since: try await db.oldestToken(), consumer: "mirror")
          .makeAsyncIterator()
        _ = try await feed.next()
        for user in [db, other] {
          var second = user.changes(consumer: "mirror").makeAsyncIterator()
          let error = await #expect(throws: BoutiqueError.self) { _ = try await second.next() }
          guard case .consumerInUse(let use) = error else {
            Issue.record("\(String(describing: error))")
            continue
          }
          #expect(use.name == "mirror" && use.pid == getpid())
          await #expect(throws: BoutiqueError.self) { try await user.removeConsumer("mirror") }
        }
        let active = try await other.consumers()
        #expect(active.first?.pid == getpid())
        // Another name is another consumer.
        #expect(try await Feed.consume(other, "second") == [])
        withExtendedLifetime(feed) {}
      }
      // The end of the loop gives the name free.
      let idle = try await other.consumers()
      #expect(idle.first?.pid == nil)
      #expect(try await Feed.consume(other, "mirror").suffix(2) == ["1", "2"])
      #expect(try await other.removeConsumer("mirror"))
      #expect(try await !other.removeConsumer("mirror"))
      await other.close()
    }
  }

  @Test func `without a lock file the later one has the name, and the earlier one is told`()
    async throws
  {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      try await Feed.insert(1...2, into: db)
      let start = try await db.oldestToken()
      var feed = db.changes(since: start, consumer: "mirror").makeAsyncIterator()
      let change = try #require(try await feed.next())
      try FileManager.default.removeItem(atPath: db.path + "-lock")
      let other = try await BoutiqueDB.open(path: db.path, migrations: Feed.plan)
      var second = other.changes(consumer: "mirror").makeAsyncIterator()
      let again = try #require(try await second.next())
      let error = await #expect(throws: BoutiqueError.self) { try await change.acknowledge() }
      guard case .consumerInUse = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      try await again.acknowledge()
      withExtendedLifetime((feed, second)) {}
      await other.close()
    }
  }

  // MARK: Acknowledging

  @Test func `acknowledgements that wait together share commits`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      let start = try await db.currentToken()
      try await Feed.insert(1...2000, into: db)
      var feed = db.changes(since: start, consumer: "soon").makeAsyncIterator()
      var last: DurableChange?
      for _ in 1...2000 {
        last = try await feed.next()
        last?.acknowledgeSoon()
      }
      try await last?.acknowledge()
      let soon = try #require(last)
      #expect(soon.acknowledgementWrites < 500)
      #expect(try await db.consumers().first { $0.name == "soon" }?.acknowledged == soon.token)

      var second = db.changes(since: start, consumer: "together").makeAsyncIterator()
      let together = try await withThrowingTaskGroup(of: Void.self) { group in
        var last: DurableChange?
        for _ in 1...2000 {
          let change = try #require(try await second.next())
          last = change
          group.addTask { try await change.acknowledge() }
        }
        try await group.waitForAll()
        return try #require(last)
      }
      #expect(together.acknowledgementWrites < 1000)
      #expect(try await db.consumers().first { $0.name == "together" }?.acknowledged == soon.token)
    }
  }

  @Test func `a cancelled task still acknowledges`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      let start = try await db.currentToken()
      try await Feed.insert(1...2, into: db)
      var feed = db.changes(since: start, consumer: "mirror").makeAsyncIterator()
      let change = try #require(try await feed.next())
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await change.acknowledge()
      }
      try await task.value
      #expect(try await db.consumers().first?.acknowledged == change.token)
    }
  }

  @Test func `an acknowledgement is no change for anybody`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      let other = try await BoutiqueDB.open(path: db.path, migrations: Feed.plan)
      let runs = Mutex(0)
      var values = other.observe { connection -> Int in
        runs.withLock { $0 += 1 }
        return try connection.query("SELECT * FROM t").count
      }.makeAsyncIterator()
      #expect(try await values.next() == 0)
      let start = try await db.currentToken()
      try await Feed.insert(1...50, into: db)
      while try await values.next() != 50 {}
      let runsBefore = runs.withLock { $0 }
      let waiting = Task {
        // It waits all the time: whatever wakes it would be a run.
        try await values.next()
      }
      let mine = Task { () -> [String] in
        var words: [String] = []
        for try await change in db.changes(since: start, consumer: "mirror") {
          words.append(Feed.word(change.change))
          try await change.acknowledge()
          if words.last == "60" { break }
        }
        return words
      }
      while try await db.consumers().first?.lag != 0 { await Task.yield() }
      // Every process has looked past the acknowledgements.
      try await other.wait(for: db.currentToken(), timeout: .seconds(60))
      #expect(runs.withLock { $0 } == runsBefore)
      try await Feed.insert(60...60, into: db)
      #expect(try await mine.value == (1...50).map(String.init) + ["60"])
      #expect(try await waiting.value == 51)
      // And the chain is whole: nobody takes them for a foreign commit.
      #expect(try await Feed.words(other, since: start) == (1...50).map(String.init) + ["60"])
      await other.close()
    }
  }

  @Test func `a reader that only hears of acknowledgements does not fall behind`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.cdcRetention = .init(rows: 16, age: .seconds(3600))
    try await withTestDatabase(configuration: configuration, migrations: Feed.plan) { db, _ in
      var feed = db.changes(since: try await db.currentToken()).makeAsyncIterator()
      try await Feed.insert(1...1, into: db)
      #expect(Feed.word(try await feed.next()) == "1")
      let start = try await db.currentToken()
      // Each beginning of a consumer is a commit without changes.
      for round in 0..<100 { _ = try await Feed.consume(db, "c\(round % 3)") }
      #expect(try await db.status().loggedCommits < 10)
      // A reader that was there all the time, one that stopped before, and one that stopped among them.
      let middle = try await db.currentToken()
      for round in 0..<10 { _ = try await Feed.consume(db, "c\(round % 3)") }
      try await Feed.insert(2...2, into: db)
      #expect(Feed.word(try await feed.next()) == "2")
      for token in [start, middle] {
        #expect(try await Feed.words(db, since: token) == ["2"])
      }
      // Rows are put together only where no foreign commit lies between.
      _ = try await Feed.consume(db, "c0")
      let before = try await db.currentToken()
      try Feed.foreign(db.path, "INSERT INTO t VALUES (1000, 'f')")
      _ = try await Feed.consume(db, "c1")
      #expect(try await Feed.words(db, since: before) == ["everything"])
      #expect(Feed.word(try await feed.next()) == "everything")
    }
  }

  @Test func `a consumer that catches up does not push its own changes out of the log`()
    async throws
  {
    var configuration = BoutiqueConfiguration()
    configuration.cdcRetention = .init(rows: 16, age: .seconds(3600), hardRows: 210)
    try await withTestDatabase(configuration: configuration, migrations: Feed.plan) { db, _ in
      #expect(try await Feed.consume(db, "mirror") == [])
      try await Feed.insert(1...200, into: db)
      #expect(try await Feed.consume(db, "mirror") == (1...200).map(String.init))
      #expect(try await Feed.consume(db, "mirror") == [])
    }
  }

  // MARK: Void cursors

  @Test func `a dropped log brings one everything, then the changes`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      #expect(try await Feed.consume(db, "mirror") == [])
      try await Feed.insert(1...2, into: db)
      try Feed.foreign(db.path, "DROP VIEW turso_cdc", "DROP TABLE boutiquedb_cdc")
      try await Feed.insert(3...4, into: db)
      let words = try await Feed.consume(db, "mirror")
      #expect(words.first == "everything" && words.filter { $0 == "everything" }.count == 1)
      #expect(try await Feed.consume(db, "mirror") == [])
      try await Feed.insert(5...5, into: db)
      #expect(try await Feed.consume(db, "mirror") == ["5"])
    }
  }

  @Test func `a restored backup brings one everything, and the cursor goes on with it`()
    async throws
  {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    var db = try await BoutiqueDB.open(path: path, migrations: Feed.plan)
    #expect(try await Feed.consume(db, "mirror") == [])
    try await Feed.insert(1...3, into: db)
    try await db.backup(to: directory.url("copy.db"))
    try await Feed.insert(4...6, into: db)
    #expect(try await Feed.consume(db, "mirror").count == 6)
    await db.close()
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
    try FileManager.default.moveItem(atPath: directory.file("copy.db"), toPath: path)
    db = try await BoutiqueDB.open(path: path, migrations: Feed.plan)
    try await Feed.insert(7...7, into: db)
    // The cursor is as old as the file: what it knows of comes again, and the seam is seen.
    let words = try await Feed.consume(db, "mirror")
    #expect(words.filter { $0 != "everything" } == ["1", "2", "3", "7"])
    #expect(words.filter { $0 == "everything" }.count == 1)
    #expect(try await Feed.consume(db, "mirror") == [])
    await db.close()
  }

  @Test func `a consumer that a tool removed is written again by its living feed`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      let start = try await db.currentToken()
      try await Feed.insert(1...2, into: db)
      var feed = db.changes(since: start, consumer: "mirror").makeAsyncIterator()
      try await feed.next()?.acknowledge()
      try Feed.foreign(db.path, "DELETE FROM boutiquedb_consumer")
      try await feed.next()?.acknowledge()
      #expect(try await db.consumers().map(\.name) == ["mirror"])
    }
  }

  @Test func `a database opened for reading only has no consumers of its own`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      #expect(try await Feed.consume(db, "mirror") == [])
      var configuration = BoutiqueConfiguration()
      configuration.readOnly = true
      let reader = try await BoutiqueDB.open(path: db.path, configuration: configuration)
      let error = await #expect(throws: BoutiqueError.self) {
        _ = try await Feed.consume(reader, "mirror")
      }
      guard case .readOnly = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try await reader.consumers().map(\.name) == ["mirror"])
      await reader.close()
    }
  }
}
