import BoutiqueDB
import Foundation
import SQLiteConnection
import Synchronization
import TestDatabase
import Testing

@Suite struct ConcurrencyTests {
  static let plan = TransactionTests.plan

  @Test func `waiting writes and reads leave the cooperative pool free`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let holder = try Connection(path: db.path)
      try holder.execute("BEGIN IMMEDIATE")
      let writes = (1...64).map { id in
        Task { try await db.write { _ = try $0.execute("INSERT INTO t (id) VALUES (?)", id) } }
      }
      // Were a thread of the pool blocked for each waiting write, these could not even start.
      let others = (0..<64).map { _ in Task { try await db.count(of: "SELECT * FROM t") } }
      for other in others { #expect(try await other.value == 0) }
      try holder.execute("COMMIT")
      holder.close()
      for write in writes { try await write.value }
      #expect(try await db.count(of: "SELECT * FROM t") == 64)
    }
  }

  @Test func `a read sees one state while others commit`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let isReading = DispatchSemaphore(value: 0)
      let goOn = DispatchSemaphore(value: 0)
      async let counts = db.read { conn in
        let before = try ObservationTests.count(conn)
        isReading.signal()
        goOn.wait()
        return [before, try ObservationTests.count(conn)]
      }
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          isReading.wait()
          continuation.resume()
        }
      }
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      goOn.signal()
      #expect(try await counts == [0, 0])
      #expect(try await db.count(of: "SELECT * FROM t") == 1)
    }
  }

  @Test func `a long read can be cancelled`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let flag = Flag()
      let reading = Task {
        try await db.read { conn in
          flag.set()
          return try conn.query(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")
        }
      }
      await flag.wait()
      reading.cancel()
      await #expect(throws: CancellationError.self) { try await reading.value }
      // The connection serves on.
      let count = try await db.count(of: "SELECT * FROM t")
      #expect(count == 0)
    }
  }

  @Test func `a write cancelled while it runs leaves nothing, one that waits never starts`()
    async throws
  {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let flag = Flag()
      let running = Task {
        try await db.write { conn in
          _ = try conn.execute("INSERT INTO t VALUES (1, 'a')")
          flag.set()
          _ = try conn.query(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")
        }
      }
      await flag.wait()
      let ran = Flag()
      let waiting = Task {
        try await db.write { _ in ran.set() }
      }
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
      running.cancel()
      await #expect(throws: CancellationError.self) { try await running.value }
      #expect(!ran.isSet)
      #expect(try await db.count(of: "SELECT * FROM t") == 0)
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
    }
  }

  @Test func `a read that waits for a reader is cancelled at once`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.readerCount = 1
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let flag = Flag()
      let goOn = DispatchSemaphore(value: 0)
      let long = Task {
        try await db.read { _ in
          flag.set()
          goOn.wait()
        }
      }
      await flag.wait()
      let waiting = Task { try await db.count(of: "SELECT * FROM t") }
      waiting.cancel()
      await #expect(throws: CancellationError.self) { _ = try await waiting.value }
      goOn.signal()
      try await long.value
    }
  }

  @Test func `a feed that is cancelled while it reads loses nothing`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.readerCount = 1
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let token = try await db.currentToken()
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      let reader = FeedBox(db.changes(since: token))
      #expect(try await reader.next()?.rows.map(\.key) == [[1]])
      let flag = Flag()
      let goOn = DispatchSemaphore(value: 0)
      let long = Task {
        try await db.read { _ in
          flag.set()
          goOn.wait()
        }
      }
      await flag.wait()
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (2, 'b')") }
      let next = Task { try await reader.next() }
      for _ in 0..<100 { await Task.yield() }
      next.cancel()
      let cancelled = try await next.value
      #expect(cancelled == nil)
      goOn.signal()
      try await long.value
      #expect(try await reader.next()?.rows.map(\.key) == [[2]])
    }
  }

  @Test func `a write behind a long one of its own process times out`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.writeLockTimeout = .milliseconds(200)
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let flag = Flag()
      let goOn = DispatchSemaphore(value: 0)
      let long = Task {
        try await db.write { _ in
          flag.set()
          goOn.wait()
        }
      }
      await flag.wait()
      await #expect {
        try await db.write { _ in }
      } throws: {
        guard case BoutiqueError.lockTimeout(let timeout) = $0 else { return false }
        return timeout.holder?.pid == getpid() && timeout.waited >= .milliseconds(200)
      }
      goOn.signal()
      try await long.value
    }
  }

  @Test func `cancelling at random moments is all or nothing`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      var committed = Set<Int>()
      for id in 1...300 {
        let write = Task {
          try await db.write { conn in
            _ = try conn.execute("INSERT INTO t VALUES (?, ?)", id, "x\(id)")
            _ = try conn.execute("UPDATE t SET v = v || '!' WHERE id = ?", id)
          }
        }
        for _ in 0..<(id % 7) { await Task.yield() }
        write.cancel()
        switch await write.result {
        case .success: committed.insert(id)
        case .failure(let error): #expect(error is CancellationError, "\(error)")
        }
      }
      let rows = try await db.read { try $0.query("SELECT id, v FROM t") }
      #expect(Set(try rows.map { try $0.decode("id", as: Int.self) }) == committed)
      #expect(rows.allSatisfy { $0["v"]?.description.hasSuffix("!'") == true })
    }
  }

  @Test func `a hundred observers of one table all follow`() async throws {
    var configuration = ObservationTests.hourPoll
    configuration.readerCount = 1
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let observers = (0..<100).map { _ in
        Task {
          for try await count in db.observe(ObservationTests.count) where count == 50 {
            return true
          }
          return false
        }
      }
      for id in 1...50 {
        try await db.write { _ = try $0.execute("INSERT INTO t (id) VALUES (?)", id) }
      }
      for observer in observers { #expect(try await observer.value) }
    }
  }

  @Test func `an observer is not told of tables that it does not read`() async throws {
    try await withTestDatabase(
      configuration: ObservationTests.hourPoll, migrations: Self.plan
    ) { db, _ in
      try await db.write { _ = try $0.execute("CREATE TABLE other (id INTEGER PRIMARY KEY)") }
      let runs = Counter()
      var values = db.observe { conn in
        runs.add()
        return try ObservationTests.count(conn)
      }.makeAsyncIterator()
      #expect(try await values.next() == 0)
      let before = runs.value
      for id in 1...20 {
        try await db.write { _ = try $0.execute("INSERT INTO other VALUES (?)", id) }
      }
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      #expect(try await values.next() == 1)
      #expect(runs.value == before + 1)
    }
  }

  @Test func `a database in use from inside its own values does not lock up`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      var seen = 0
      for try await count in db.observe(ObservationTests.count) {
        seen = count
        if count == 5 { break }
        try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (?)", "v\(count)") }
        _ = try await db.count(of: "SELECT * FROM t")
      }
      #expect(seen == 5)
    }
  }
}

/// Hands one iterator from task to task, one after another.
private actor FeedBox {
  private var iterator: ChangeFeed.Iterator
  init(_ feed: ChangeFeed) { iterator = feed.makeAsyncIterator() }

  func next() async throws -> BoutiqueChange? {
    var copy = iterator
    defer { iterator = copy }
    return try await copy.next(isolation: self)
  }
}

/// Something that happens once and can be waited for.
private final class Flag: Sendable {
  private struct State {
    var isSet = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())

  var isSet: Bool { state.withLock(\.isSet) }

  func set() {
    let waiting = state.withLock { state in
      state.isSet = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isSet = state.withLock { state in
        if !state.isSet { state.waiting.append(continuation) }
        return state.isSet
      }
      if isSet { continuation.resume() }
    }
  }
}

private final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .relaxed) }
  func add() { count.add(1, ordering: .relaxed) }
}
