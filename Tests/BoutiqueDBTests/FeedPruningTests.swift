import BoutiqueDB
import Foundation
import SQLiteConnection
import TestDatabase
import Testing

/// What the change log keeps, for whom, and what it says when it no longer does.
@Suite(.serialized) struct FeedPruningTests {
  private typealias Feed = FeedSupport

  private func configuration(
    rows: Int, hardRows: Int, expiry: Duration = .seconds(3600), events: ToldEvents? = nil
  ) -> BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    configuration.cdcRetention = .init(rows: rows, age: .seconds(3600), hardRows: hardRows)
    configuration.consumerExpiry = expiry
    configuration.eventHandler = events?.handler
    return configuration
  }

  @Test func `what a consumer has not acknowledged is kept for it`() async throws {
    let events = ToldEvents()
    try await withTestDatabase(
      configuration: configuration(rows: 16, hardRows: 10_000, events: events),
      migrations: Feed.plan
    ) { db, _ in
      #expect(try await Feed.consume(db, "mirror") == [])
      try await Feed.insert(1...200, into: db)
      let status = try await db.status()
      #expect(status.loggedCommits >= 200)
      #expect(!status.isHardBoundReached)
      #expect(status.consumers.first?.lag == 200)
      #expect(status.consumers.first?.isCutOff == false)
      let unread = try await Feed.consume(db, "mirror")
      #expect(unread == (1...200).map(String.init))
      #expect(try await db.status().consumers.first?.lag == 0)
      // Nobody waits any more.
      try await Feed.insert(201...240, into: db)
      #expect(try await Feed.consume(db, "mirror").count == 40)
      try await Feed.insert(241...280, into: db)
      #expect(try await db.status().loggedCommits < 120)
      #expect(events.all.isEmpty)
    }
  }

  @Test
  func `past the hard bound records go, which is told once, and the consumer gets one everything`()
    async throws
  {
    let events = ToldEvents()
    try await withTestDatabase(
      configuration: configuration(rows: 16, hardRows: 64, events: events), migrations: Feed.plan
    ) { db, _ in
      #expect(try await Feed.consume(db, "mirror") == [])
      try await Feed.insert(1...300, into: db)
      let status = try await db.status()
      #expect(status.loggedCommits < 100)
      #expect(status.isHardBoundReached && status.hardBound == 64)
      #expect(status.consumers.first?.isCutOff == true)
      #expect((status.prunedThrough ?? 0) > 0)
      #expect(events.all.count == 1)
      guard case .logBoundReached(let bound)? = events.all.first else {
        Issue.record("\(events.all)")
        return
      }
      #expect(bound.consumer == "mirror" && bound.hardRows == 64 && bound.path == db.path)
      let words = try await Feed.consume(db, "mirror")
      #expect(words.first == "everything" && words.last == "300")
      #expect(words.filter { $0 == "everything" }.count == 1)
      #expect(try await Feed.consume(db, "mirror") == [])
      #expect(try await db.status().consumers.first?.isCutOff == false)
      // It may come to that again, and is told again.
      try await Feed.insert(301...320, into: db)
      #expect(try await Feed.consume(db, "mirror").count == 20)
      try await Feed.insert(321...620, into: db)
      #expect(events.all.count == 2)
    }
  }

  @Test func `a consumer that stays away too long is forgotten, and comes back to one everything`()
    async throws
  {
    let events = ToldEvents()
    try await withTestDatabase(
      configuration: configuration(rows: 16, hardRows: 10_000, expiry: .zero, events: events),
      migrations: Feed.plan
    ) { db, _ in
      #expect(try await Feed.consume(db, "mirror") == [])
      // The clock that it is judged by has gone on.
      try await Task.sleep(for: .milliseconds(5))
      try await Feed.insert(1...200, into: db)
      #expect(try await db.status().loggedCommits < 60)
      let gone = try #require(try await db.consumers().first)
      #expect(gone.isExpired && gone.isCutOff)
      #expect(try await db.status().isHardBoundReached == false)
      guard case .consumerExpired(let expired)? = events.all.first, events.all.count == 1 else {
        Issue.record("\(events.all)")
        return
      }
      #expect(expired.consumer == "mirror")
      let words = try await Feed.consume(db, "mirror")
      #expect(words.first == "everything" && words.last == "200")
      #expect(words.filter { $0 == "everything" }.count == 1)
    }
  }

  @Test func `one that is there does not expire, however long it says nothing`() async throws {
    try await withTestDatabase(
      configuration: configuration(rows: 16, hardRows: 10_000, expiry: .zero),
      migrations: Feed.plan
    ) { db, _ in
      let start = try await db.currentToken()
      try await Feed.insert(1...1, into: db)
      // The one that prunes sees that the other is there.
      let other = try await BoutiqueDB.open(
        path: db.path, configuration: configuration(rows: 16, hardRows: 10_000, expiry: .zero),
        migrations: Feed.plan)
      var feed = other.changes(since: start, consumer: "mirror").makeAsyncIterator()
      _ = try await feed.next()
      try await Task.sleep(for: .milliseconds(5))
      try await Feed.insert(2...200, into: db)
      for id in 2...200 { #expect(Feed.word(try await feed.next()?.change) == "\(id)") }
      await other.close()
    }
  }

  @Test func `images and sessions go with their commits, the newest stays`() async throws {
    try await withTestDatabase(
      configuration: configuration(rows: 16, hardRows: 64), migrations: Feed.plan
    ) { db, _ in
      let foreign = try Connection(path: db.path)
      for id in 1...200 {
        try await Feed.insert(id...id, into: db)
        try foreign.execute(
          "INSERT OR IGNORE INTO boutiquedb_image SELECT max(first), x'00', x'00', NULL FROM boutiquedb_cdc"
        )
      }
      foreign.close()
      let left = try await db.read { connection in
        try connection.query(
          """
          SELECT (SELECT count(*) FROM boutiquedb_image),
            (SELECT count(*) FROM boutiquedb_image
              WHERE change_id < (SELECT min(first) FROM boutiquedb_cdc)),
            (SELECT count(*) FROM boutiquedb_cdc)
          """)[0].values
      }
      #expect(left[1] == 0)
      guard case .integer(let images) = left[0], case .integer(let commits) = left[2] else {
        return
      }
      #expect((1...commits).contains(images) && commits < 60)
    }
  }

  @Test func `a night of old records goes in steps`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    // Kept by a process that keeps much, pruned by one that keeps little.
    var db = try await BoutiqueDB.open(path: path, migrations: Feed.plan)
    try await Feed.insert(1...5000, into: db)
    await db.close()
    db = try await BoutiqueDB.open(
      path: path, configuration: configuration(rows: 16, hardRows: 16), migrations: Feed.plan)
    var counts: [Int64] = [try await db.status().loggedCommits]
    for id in 5001...5400 {
      try await Feed.insert(id...id, into: db)
      counts.append(try await db.status().loggedCommits)
    }
    let steps = zip(counts, counts.dropFirst()).map { $0 - $1 }
    #expect(steps.max() ?? 0 <= 1024)
    #expect(steps.filter { $0 > 0 }.count >= 5)
    #expect((counts.last ?? 0) < 60)
    await db.close()
  }

  @Test func `who made a record is known as long as the record is there`() async throws {
    try await withTestDatabase(
      configuration: configuration(rows: 200, hardRows: 200), migrations: Feed.plan
    ) { db, _ in
      // More origins than the table keeps for no reason.
      for id in 1...100 {
        var other = BoutiqueConfiguration()
        other.label = "writer \(id)"
        other.cdcRetention = .init(rows: 200, age: .seconds(3600))
        let writer = try await BoutiqueDB.open(path: db.path, configuration: other)
        try await Feed.insert(id...id, into: writer)
        await writer.close()
      }
      try await Feed.insert(101...200, into: db)
      for try await change in db.changes(since: try await db.oldestToken(), following: false) {
        guard case .integer(let id)? = change.rows.first?.key.first else { continue }
        let expected: ChangeOrigin =
          id > 100 ? .thisProcess : .process(pid: getpid(), label: "writer \(id)")
        #expect(change.origin == expected)
      }
      try await Feed.insert(201...500, into: db)
      let origins = try await db.count(of: "SELECT * FROM boutiquedb_origin")
      #expect(origins < 100)
    }
  }

  @Test func `the status does not count its own read`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      for _ in 0..<20 {
        let status = try await db.status()
        #expect(status.runningReads == 0)
        #expect(status.oldestRead == nil)
      }
    }
  }

  @Test func `a consumer that sleeps through 100,000 commits holds one batch`() async throws {
    try await withTestDatabase(migrations: Feed.plan) { db, _ in
      let start = try await db.currentToken()
      try await Feed.insert(1...1, into: db)
      var feed = db.changes(since: start).makeAsyncIterator()
      var durable = db.changes(since: start, consumer: "mirror").makeAsyncIterator()
      #expect(Feed.word(try await feed.next()) == "1")
      #expect(Feed.word(try await durable.next()?.change) == "1")
      try await withThrowingTaskGroup { group in
        for writer in 0..<8 {
          group.addTask {
            for id in 0..<12_500 {
              let key = 2 + writer * 12_500 + id
              try await db.write { _ = try $0.execute("INSERT INTO t (id) VALUES (?)", key) }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(feed.bufferedCount <= 256 && durable.bufferedCount <= 256)
      var seen = 1
      var most = 0
      while seen < 100_001, let change = try await durable.next() {
        if change.isEverything { break }
        seen += change.rows.count
        most = max(most, durable.bufferedCount)
      }
      #expect(seen == 100_001)
      #expect((1...256).contains(most))
    }
  }
}
