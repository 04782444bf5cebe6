import BoutiqueDB
import Foundation
import Observation
import Synchronization
import TestDatabase
import Testing

/// What a live query delivers, when, and to whom.
@Suite struct LiveDeliveryTests {
  static let plan = TransactionTests.plan
  static let hourPoll = ObservationTests.hourPoll

  static func add(_ value: Int) -> @Sendable (BoutiqueConnection) throws -> Void {
    { _ = try $0.execute("INSERT INTO t (v) VALUES (?)", value) }
  }

  // MARK: One's own writes

  @MainActor @Observable final class Model {
    @ObservationIgnored @LiveQuery var rows: [Int]
    @ObservationIgnored @LiveQueryOne var count: Int?

    init(_ db: BoutiqueDB) {
      _rows = LiveQuery(db) { try $0.query("SELECT id FROM t").map { try $0.decode(0) } }
      _count = LiveQueryOne(db) { try $0.queryOne("SELECT count(*) FROM t")?.decode(0) }
    }
  }

  @MainActor @Test(arguments: [true, false])
  func `a write of the main actor is in its live queries when it returns`(inMemory: Bool)
    async throws
  {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { file, _ in
      let memory = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL(), migrations: Self.plan)
      let db = inMemory ? memory : file
      let model = Model(db)
      try await model.$rows.refresh()
      try await model.$count.refresh()
      for round in 1...300 {
        try await db.write(Self.add(round))
        #expect(model.rows.count == round)
        #expect(model.count == round)
      }
      await memory.close()
    }
  }

  actor Mirror {
    private(set) var value = -1
    private var task: Task<Void, any Error>?

    func follow(_ db: BoutiqueDB) {
      task = Task {
        for try await count in db.observe(ObservationTests.count) { value = count }
      }
    }

    func check(_ db: BoutiqueDB) async throws {
      while value < 0 { try await Task.sleep(for: .milliseconds(1)) }
      for round in 1...300 {
        try await db.write(LiveDeliveryTests.add(round))
        #expect(value == round)
      }
      task?.cancel()
    }
  }

  @Test func `a write of an actor is in what the actor observes when it returns`() async throws {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      let mirror = Mirror()
      await mirror.follow(db)
      try await mirror.check(db)
    }
  }

  /// Found by the workload `live`: the run that was under way gave a value without the write.
  @MainActor @Test func `a write that falls into a run is in the live query when it returns`()
    async throws
  {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      let gate = DispatchSemaphore(value: 0)
      let hasRead = TickCounter()
      let slow = LiveQueryOne(db) { conn -> Int? in
        let count: Int? = try conn.queryOne("SELECT count(*) FROM t")?.decode(0)
        hasRead.add()
        if count == 1 { gate.wait() }
        return count
      }
      try await slow.projectedValue.refresh()
      let runs = hasRead.value
      // Not of the main actor, so that nothing waits for the query.
      try await Task.detached { try await db.write(Self.add(1)) }.value
      while hasRead.value == runs { try await Task.sleep(for: .milliseconds(1)) }
      // Opens the gate when the second write has been told of.
      let opening = Task.detached {
        for try await count in db.observe(ObservationTests.count) where count == 2 { break }
        gate.signal()
      }
      while db.observerCount < 2 { try await Task.sleep(for: .milliseconds(1)) }
      try await db.write(Self.add(2))
      #expect(slow.wrappedValue == 2)
      try await opening.value
    }
  }

  @MainActor @Test func `a write does not wait for ever for a slow live query`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let gate = DispatchSemaphore(value: 0)
      let runs = TickCounter()
      let slow = LiveQuery(db) { conn in
        runs.add()
        if runs.value > 1 { gate.wait() }
        return try conn.query("SELECT id FROM t").map { try $0.decode(0, as: Int.self) }
      }
      try await slow.projectedValue.refresh()
      try await db.write(Self.add(1))
      #expect(slow.wrappedValue.isEmpty)
      gate.signal()
      try await slow.projectedValue.refresh(signalling: gate)
      #expect(slow.wrappedValue == [1])
    }
  }

  @MainActor @Test func `a handler may read and write the database`() async throws {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      var seen: [Int] = []
      for try await count in db.observe(ObservationTests.count) {
        seen.append(count)
        #expect(try await db.read(ObservationTests.count) == count)
        if count == 5 { break }
        try await db.write(Self.add(count))
      }
      #expect(seen == [0, 1, 2, 3, 4, 5])
    }
  }

  // MARK: Order and number

  @Test func `a slow consumer gets the newest state, never an older one, and not each`()
    async throws
  {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      var values = db.observe(ObservationTests.count).makeAsyncIterator()
      #expect(try await values.next() == 0)
      var last = 0
      for burst in 1...20 {
        for number in 0..<50 { try await db.write(Self.add(burst * 1000 + number)) }
        let value = try #require(try await values.next())
        #expect(value > last)
        last = value
      }
      #expect(last == 1000)
    }
  }

  @Test func `values under a storm only grow, and end at the truth`() async throws {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      let other = try await BoutiqueDB.open(path: db.path)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (base, writer) in [(0, db), (10_000, other)] {
          group.addTask {
            for number in 0..<1000 { try await writer.write(Self.add(base + number)) }
          }
        }
        for _ in 0..<8 {
          group.addTask {
            var last = -1
            for try await count in db.observe(ObservationTests.count) {
              #expect(count > last)
              last = count
              if count == 2000 { break }
            }
          }
        }
        try await group.waitForAll()
      }
      await other.close()
    }
  }

  @Test func `live queries and feeds beside each other all hear`() async throws {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      let last = Mutex(-1)
      let watching = Task {
        for try await count in db.observe(ObservationTests.count) { last.withLock { $0 = count } }
      }
      // Observers are told in no order; the first of them is mostly a feed.
      let feeds = (0..<5).map { _ in Task { for try await _ in db.changes() {} } }
      while db.observerCount < 6 || last.withLock({ $0 }) < 0 {
        try await Task.sleep(for: .milliseconds(1))
      }
      let clock = ContinuousClock()
      for round in 1...20 {
        try await db.write(Self.add(round))
        let bound = clock.now + .seconds(30)
        while last.withLock({ $0 }) != round, clock.now < bound {
          try await Task.sleep(for: .milliseconds(1))
        }
        try #require(last.withLock { $0 } == round)
      }
      for task in feeds + [watching] { task.cancel() }
    }
  }

  @Test func `a hundred observers each get the first and the second value`() async throws {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      let started = TickCounter()
      try await withThrowingTaskGroup(of: [Int].self) { group in
        for _ in 0..<100 {
          group.addTask {
            var seen: [Int] = []
            for try await count in db.observe(ObservationTests.count) {
              seen.append(count)
              started.add()
              if seen.count == 2 { break }
            }
            return seen
          }
        }
        while started.value < 100 { try await Task.sleep(for: .milliseconds(1)) }
        try await db.write(Self.add(1))
        for try await seen in group { #expect(seen == [0, 1]) }
      }
    }
  }

  @Test func `more live queries than readers start while writes run`() async throws {
    var configuration = Self.hourPoll
    configuration.readerCount = 1
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { for number in 0..<200 { try await db.write(Self.add(number)) } }
        for _ in 0..<11 {
          group.addTask {
            for try await count in db.observe({ conn in
              usleep(500)  // a slow query, so that commits fall into its run
              return try ObservationTests.count(conn)
            }) where count == 200 { break }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  // MARK: Ends

  @Test func `a cancelled observer gets nothing more, and alters no other`() async throws {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      for round in 0..<100 {
        let seen = Mutex<[Int]>([])
        let cancelled = TickCounter()
        let leaving = Task {
          for try await count in db.observe(ObservationTests.count) {
            #expect(cancelled.value == 0)
            seen.withLock { $0.append(count) }
          }
        }
        var staying = db.observe(ObservationTests.count).makeAsyncIterator()
        #expect(try await staying.next() == round)
        while seen.withLock(\.isEmpty) { try await Task.sleep(for: .milliseconds(1)) }
        async let write: Void = db.write(Self.add(round))
        cancelled.add()
        leaving.cancel()
        try await write
        try await leaving.value
        #expect(try await staying.next() == round + 1)
      }
      #expect(db.observerCount <= 1)
    }
  }

  @Test func `an error is delivered, and the observation recovers`() async throws {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      var values = db.observe(ObservationTests.count).makeAsyncIterator()
      #expect(try await values.next() == 0)
      for _ in 0..<3 {
        try await db.write { _ = try $0.execute("DROP TABLE t") }
        await #expect(throws: BoutiqueError.self) { try await values.next() }
        try await db.write { conn in
          try conn.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
          try conn.execute("INSERT INTO t (v) VALUES (1)")
        }
        #expect(try await values.next() == 1)
      }
    }
  }

  @MainActor @Test func `a property keeps its value through an error, and follows again`()
    async throws
  {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      let model = Model(db)
      try await db.write(Self.add(1))
      try await model.$rows.refresh()
      try await db.write { _ = try $0.execute("ALTER TABLE t RENAME TO gone") }
      #expect(model.$rows.error != nil && model.rows == [1])
      try await db.write { _ = try $0.execute("ALTER TABLE gone RENAME TO t") }
      try await db.write(Self.add(2))
      #expect(model.$rows.error == nil && model.rows == [1, 2])
    }
  }

  // MARK: Kinds of queries

  @Test(arguments: [
    "SELECT count(*) FROM t a JOIN t b ON a.id < b.id",
    "SELECT sum(v), group_concat(v) FROM (SELECT v FROM t ORDER BY id)",
    "SELECT id, sum(v) OVER (ORDER BY id ROWS 2 PRECEDING) FROM t",
    "SELECT rowid FROM words WHERE words MATCH 'w3'",
    """
    WITH RECURSIVE chain(id) AS (
      SELECT min(id) FROM t UNION ALL SELECT t.id FROM t JOIN chain ON t.id = chain.id + 1)
    SELECT count(*) FROM chain
    """,
    "SELECT id FROM t EXCEPT SELECT v FROM t",
    "SELECT t.id, random() IS NULL, date('now') IS NULL FROM t",
  ])
  func `every kind of query follows`(sql: String) async throws {
    let plan = BoutiqueMigrationPlan {
      BoutiqueMigration("v1") { conn in
        try conn.executeScript(
          """
          CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER);
          CREATE VIRTUAL TABLE words USING fts5 (word);
          """)
      }
    }
    try await withTestDatabase(configuration: Self.hourPoll, migrations: plan) { db, _ in
      var values = db.observe { try $0.query(sql).map(\.values) }.makeAsyncIterator()
      var last = try await values.next()
      for round in 1...6 {
        try await db.write { conn in
          try conn.execute("INSERT INTO t (v) VALUES (?)", round * 2)
          try conn.execute("INSERT INTO words VALUES (?)", "w\(round)")
        }
        let fresh = try await db.read { try $0.query(sql).map(\.values) }
        if fresh != last { last = try await values.next() }
        #expect(last == fresh)
      }
    }
  }
}

extension LiveValue {
  /// Refreshes while a query waits for a semaphore on each run.
  fileprivate func refresh(signalling gate: DispatchSemaphore) async throws {
    gate.signal()
    gate.signal()
    try await refresh()
  }
}
