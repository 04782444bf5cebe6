import Blackbird
import Testing

/// Sees all messages of this process: one test at a time.
@Suite(.serialized) struct DatabaseLogTests {
  private func messages(
    _ options: Blackbird.Database.Options, _ body: (Blackbird.Database) async throws -> Void
  ) async throws -> [String] {
    let seen = Blackbird.Locked<[String]>([])
    Blackbird.setLogHandler { message in seen.withLock { $0.append(message) } }
    defer { Blackbird.setLogHandler(nil) }
    let db = try Blackbird.Database.inMemoryDatabase(options: options)
    try await body(db)
    await db.close()
    return seen.value
  }

  @Test func `every statement is told, with values where asked for`() async throws {
    let plain = try await messages(.debugPrintEveryQuery) { db in
      try await db.query("SELECT ? AS logged, ?", 1, "it's")
    }
    #expect(plain.contains { $0.hasSuffix("SELECT ? AS logged, ?") })
    let shown = try await messages([.debugPrintEveryQuery, .debugPrintQueryParameterValues]) { db in
      try await db.query("SELECT ? AS logged, ?", 1, "it's")
      try await db.query("SELECT :x AS logged", arguments: [":x": 2])
    }
    #expect(shown.contains { $0.hasSuffix("SELECT 1 AS logged, 'it''s'") })
    #expect(shown.contains { $0.contains(":x = 2") })
  }

  @Test func `nothing is told unasked`() async throws {
    let seen = try await messages([]) { db in try await db.query("SELECT 1 AS silent") }
    #expect(!seen.contains { $0.contains("silent") })
  }
}

@Suite struct DatabaseSchemaTests {
  @Test func `tables, columns and indexes are told as they are`() async throws {
    let db = try Blackbird.Database.inMemoryDatabase()
    try await db.execute(
      """
      CREATE TABLE post (id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT 'none',
        n DOUBLE, UNIQUE (title));
      CREATE INDEX byN ON post (n, title);
      CREATE INDEX folded ON post (lower(title));
      CREATE TABLE pair (b TEXT NOT NULL, a TEXT NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID;
      """)
    let tables = try await db.tables()
    #expect(tables.map(\.name) == ["pair", "post"])
    #expect(tables[0].primaryKey == ["a", "b"] && tables[0].isWithoutRowID)
    let post = try #require(try await db.table("POST"))
    #expect(post.name == "post" && post.primaryKey == ["id"] && !post.isWithoutRowID)
    #expect(post.columns.map(\.name) == ["id", "title", "n"])
    #expect(post.columns.map(\.type) == ["INTEGER", "TEXT", "DOUBLE"])
    #expect(post.columns.map(\.isNotNull) == [true, true, false])
    #expect(post.columns[1].defaultValue == "'none'")
    let own = post.indexes.filter { !$0.isAutomatic }
    #expect(own.map(\.name) == ["byN", "folded"])
    #expect(own.map(\.columns) == [["n", "title"], [nil]])
    #expect(post.indexes.filter(\.isUnique).map(\.columns) == [["title"]])
    #expect(try await db.table("nosuch") == nil)
    await db.close()
  }
}

@Suite struct DatabaseUtilityTests {
  @Test(.timeLimit(.minutes(1)))
  func `a semaphore lets as many in as it has permits, in order`() async throws {
    let semaphore = Blackbird.Semaphore(value: 2)
    let inside = Blackbird.Locked((now: 0, most: 0, total: 0))
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<500 {
        group.addTask {
          await semaphore.withPermit {
            inside.withLock { state in
              state.now += 1
              state.total += 1
              state.most = max(state.most, state.now)
            }
            await Task.yield()
            inside.withLock { $0.now -= 1 }
          }
        }
      }
    }
    #expect(inside.value.total == 500)
    #expect(inside.value.most <= 2)
    await semaphore.wait()
    await semaphore.wait()
    let waiter = Task { await semaphore.wait() }
    waiter.cancel()
    semaphore.signal()
    await waiter.value
  }

  @Test func `locks keep threads apart`() async {
    let lock = Blackbird.Lock()
    let locked = Blackbird.Locked(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<1000 {
            lock.withLock { locked.value = locked.value + 1 }
          }
        }
      }
    }
    #expect(locked.value == 8000)
    #expect(
      locked.withLock {
        $0 += 1
        return $0
      } == 8001)
  }
}
