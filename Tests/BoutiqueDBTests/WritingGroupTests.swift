import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// Waiting writes that share a commit: what one does wrong is its own affair.
@Suite struct WritingGroupTests {
  static let plan = BoutiqueMigrationPlan {
    BoutiqueMigration("v1") { conn in
      try conn.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE)")
      try conn.execute(
        """
        CREATE TABLE child (
          id INTEGER PRIMARY KEY, parent INTEGER REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED)
        """)
      try conn.execute(
        "CREATE TABLE strictly (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES t (id))")
    }
  }

  struct Stop: Error {}

  typealias Body = @Sendable (BoutiqueConnection) throws -> Void

  /// Runs closures that wait at the same time, and returns how each ended: with its commit's token.
  private func together(
    _ db: BoutiqueDB, _ bodies: Body...
  ) async throws -> [Result<ChangeToken, any Error>] {
    try await together(db, bodies)
  }

  private func together(
    _ db: BoutiqueDB, _ bodies: [Body]
  ) async throws -> [Result<ChangeToken, any Error>] {
    let busy = await BusyWriter(db)
    var tasks: [Task<ChangeToken, any Error>] = []
    for body in bodies {
      tasks.append(try await busy.queue { try await $0.writeWithToken(body).token })
    }
    await busy.release()
    var results: [Result<ChangeToken, any Error>] = []
    for task in tasks { results.append(await task.result) }
    return results
  }

  private func insert(_ id: Int, _ value: String? = nil) -> Body {
    { conn in try conn.execute("INSERT INTO t VALUES (?, ?)", id, value ?? "v\(id)") }
  }

  private func ids(_ db: BoutiqueDB) async throws -> [Int] {
    try await db.read { conn in
      try conn.query("SELECT id FROM t ORDER BY id").map { try $0.decode(0, as: Int.self) }
    }
  }

  /// The keys of the changed rows of each commit after a token.
  private func commits(_ db: BoutiqueDB, after token: ChangeToken, _ count: Int) async throws
    -> [[SQLValue]]
  {
    var feed = db.changes(since: token).makeAsyncIterator()
    var commits: [[SQLValue]] = []
    for _ in 0..<count {
      let change = try #require(try await feed.next())
      #expect(!change.isEverything)
      commits.append(change.rows.flatMap(\.key))
    }
    return commits
  }

  @Test func `writes that wait together share a commit, up to the limit`() async throws {
    try await withTestDatabase(configuration: .groups(of: 3), migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      let tokens = try await together(db, (1...8).map { insert($0) }).map { try $0.get() }
      #expect(tokens[0] == tokens[1] && tokens[1] == tokens[2])
      #expect(tokens[3] == tokens[4] && tokens[4] == tokens[5])
      #expect(tokens[6] == tokens[7])
      #expect(Set(tokens.map(\.number)).count == 3)
      #expect(try await ids(db) == Array(1...8))
      #expect(try await commits(db, after: start, 3) == [[1, 2, 3], [4, 5, 6], [7, 8]])
      #expect(try await db.currentToken() == tokens[7])
    }
  }

  @Test func `a pragma that only tells a number keeps no write from sharing`() async throws {
    try await withTestDatabase(configuration: .groups(of: 3), migrations: Self.plan) { db, _ in
      let looking: @Sendable (Int) -> Body = { id in
        { conn in
          _ = try conn.query("PRAGMA schema_version")
          try conn.execute("INSERT INTO t VALUES (?, ?)", id, "v\(id)")
        }
      }
      let tokens = try await together(db, (1...3).map(looking)).map { try $0.get() }
      #expect(Set(tokens.map(\.number)).count == 1)
      let setting: Body = { conn in
        try conn.execute("PRAGMA user_version = 7")
        try conn.execute("INSERT INTO t VALUES (4, 'v4')")
      }
      let apart = try await together(db, setting, looking(5)).map { try $0.get() }
      #expect(Set(apart.map(\.number)).count == 2)
    }
  }

  @Test func `with a limit of one each write has its own commit`() async throws {
    try await withTestDatabase(configuration: .groups(of: 1), migrations: Self.plan) { db, _ in
      let tokens = try await together(db, (1...5).map { insert($0) }).map { try $0.get().number }
      #expect(tokens == tokens.sorted() && Set(tokens).count == 5)
    }
  }

  @Test(arguments: 0...3)
  func `one that throws leaves no trace, and the others commit`(place: Int) async throws {
    try await withTestDatabase(configuration: .groups(of: 16), migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      var bodies = (1...4).map { insert($0) }
      bodies[place] = { conn in
        try conn.execute("INSERT INTO t VALUES (?, 'x')", place + 1)
        try conn.execute("UPDATE t SET v = v || '!'")
        try conn.execute("CREATE TABLE made (id)")
        try conn.execute("PRAGMA user_version = 7")
        throw Stop()
      }
      // What it made of the schema ends the group after it.
      let results = try await together(db, bodies)
      for (index, result) in results.enumerated() {
        if index == place {
          #expect(throws: Stop.self) { try result.get() }
        } else {
          #expect(throws: Never.self) { try result.get() }
        }
      }
      let rest = (1...4).filter { $0 != place + 1 }
      #expect(try await ids(db) == rest)
      let values = try await db.read { try $0.query("SELECT v FROM t ORDER BY id").map { $0[0] } }
      #expect(values == rest.map { SQLValue.text("v\($0)") })
      let version = try await db.read { try $0.query("PRAGMA user_version")[0][0] }
      #expect(version == .integer(0))
      let last = try await db.writeWithToken(insert(9))
      var feed = db.changes(since: start).makeAsyncIterator()
      var seen: [SQLValue] = []
      while let change = try await feed.next() {
        #expect(change.tables == ["t"] && change.wholeTables.isEmpty && !change.isEverything)
        seen += change.rows.flatMap(\.key)
        if change.token == last.token { break }
      }
      #expect(seen == (rest + [9]).map { SQLValue.integer(Int64($0)) })
    }
  }

  @Test func `a group in which only failures wrote is no commit`() async throws {
    try await withTestDatabase(configuration: .groups(of: 16), migrations: Self.plan) { db, _ in
      try await db.write(insert(1))
      let before = try await db.currentToken()
      let results = try await together(
        db, { _ = try $0.query("SELECT * FROM t") },
        { conn in
          try conn.execute("INSERT INTO t VALUES (2, 'x')")
          throw Stop()
        })
      #expect(try results[0].get() == before)
      #expect(throws: Stop.self) { try results[1].get() }
      #expect(try await db.currentToken() == before)
      let after = try await db.writeWithToken(insert(3)).token
      #expect(try await commits(db, after: before, 1) == [[3]])
      #expect(try await db.currentToken() == after)
    }
  }

  @Test func `a write that changes nothing has the token of what it saw`() async throws {
    try await withTestDatabase(configuration: .groups(of: 1), migrations: Self.plan) { db, _ in
      let written = try await db.writeWithToken(insert(1)).token
      let seen = try await db.writeWithToken { try $0.query("SELECT * FROM t").count }
      #expect(seen.value == 1)
      #expect(seen.token == written)
      #expect(try await db.currentToken() == written)
    }
  }

  @Test func `each sees what those before it wrote, and runs once`() async throws {
    try await withTestDatabase(configuration: .groups(of: 16), migrations: Self.plan) { db, _ in
      let runs = Notes<Int>()
      let results = try await together(
        db,
        (1...6).map { number in
          { conn in
            runs.add(number)
            let count = try conn.query("SELECT count(*) FROM t")[0].decode(0, as: Int.self)
            try conn.execute("INSERT INTO t VALUES (?, ?)", number, "\(count)")
            #expect(conn.lastInsertedRowID == Int64(number))
            if number == 3 { throw Stop() }
          }
        })
      #expect(results.count { (try? $0.get()) != nil } == 5)
      #expect(runs.all == Array(1...6))
      let values = try await db.read { try $0.query("SELECT v FROM t ORDER BY id").map { $0[0] } }
      #expect(values == ["0", "1", "2", "3", "4"])
    }
  }

  @Test func `a failed statement that is caught is the write's own affair`() async throws {
    try await withTestDatabase(configuration: .groups(of: 16), migrations: Self.plan) { db, _ in
      let results = try await together(
        db, insert(1, "same"),
        { conn in
          #expect(throws: BoutiqueError.self) {
            try conn.execute("INSERT INTO t VALUES (2, 'same')")
          }
          try conn.savepoint { _ = try conn.execute("INSERT INTO t VALUES (3, 'kept')") }
          try? conn.savepoint {
            try conn.execute("INSERT INTO t VALUES (4, 'undone')")
            throw Stop()
          }
        }, insert(5, "same"))
      #expect(throws: Never.self) { try results[0].get() }
      #expect(throws: Never.self) { try results[1].get() }
      #expect(throws: BoutiqueError.self) { try results[2].get() }
      #expect(try await ids(db) == [1, 3])
    }
  }

  // MARK: What SQLite checks or undoes for the whole transaction

  private func message(_ result: Result<ChangeToken, any Error>) -> String {
    if case .failure(let error) = result { "\(error)" } else { "" }
  }

  @Test(arguments: 0...2)
  func `foreign keys that are checked at the end fail only the write that violates them`(
    place: Int
  ) async throws {
    try await withTestDatabase(configuration: .groups(of: 16), migrations: Self.plan) { db, _ in
      let violating: Body = { _ = try $0.execute("INSERT INTO child VALUES (1, 77)") }
      let alone: Result<ChangeToken, any Error>
      do {
        alone = .success(try await db.writeWithToken(violating).token)
      } catch {
        alone = .failure(error)
      }
      #expect(message(alone).contains("FOREIGN KEY"))
      var bodies = (1...3).map { insert($0) }
      bodies[place] = violating
      let results = try await together(db, bodies)
      #expect(message(results[place]) == message(alone))
      #expect(try await ids(db) == (1...3).filter { $0 != place + 1 })
      let children = try await db.count(of: "SELECT * FROM child")
      #expect(children == 0)
    }
  }

  @Test func `a violation that the same write mends is none`() async throws {
    try await withTestDatabase(configuration: .groups(of: 16), migrations: Self.plan) { db, _ in
      let results = try await together(
        db, insert(1),
        { conn in
          try conn.execute("INSERT INTO child VALUES (1, 77)")
          try conn.execute("INSERT INTO t VALUES (77, 'late')")
        }, insert(3))
      for result in results { #expect(throws: Never.self) { try result.get() } }
      #expect(try await ids(db) == [1, 3, 77])
    }
  }

  @Test(arguments: [false, true])
  func `deferring foreign keys is for the one write that asks for it`(fails: Bool) async throws {
    try await withTestDatabase(configuration: .groups(of: 16), migrations: Self.plan) { db, _ in
      let wasRefused = Notes<Bool>()
      let results = try await together(
        db, insert(1),
        { conn in
          try conn.execute("PRAGMA defer_foreign_keys = ON")
          try conn.execute("INSERT INTO strictly VALUES (1, 5)")
          try conn.execute("INSERT INTO t VALUES (5, 'five')")
          if fails { throw Stop() }
        },
        { conn in
          do {
            try conn.execute("INSERT INTO strictly VALUES (2, 99)")
          } catch {
            wasRefused.add(true)
          }
        })
      #expect((try? results[1].get()) == nil ? fails : !fails)
      // Not at the end, but at the statement.
      #expect(wasRefused.all == [true])
      #expect(try await ids(db) == (fails ? [1] : [1, 5]))
    }
  }

  @Test(arguments: 0...2, [false, true])
  func `a conflict that rolls back takes only its own write along`(
    place: Int, isScript: Bool
  ) async throws {
    try await withTestDatabase(configuration: .groups(of: 16), migrations: Self.plan) { db, _ in
      try await db.write(insert(50, "taken"))
      let sql = "insert /* or */ Or RollBack INTO t VALUES (51, 'taken')"
      let conflicting: Body = { conn in
        try conn.execute("INSERT INTO t VALUES (60, 'before')")
        let error = #expect(throws: BoutiqueError.self) {
          if isScript {
            try conn.executeScript("INSERT INTO t VALUES (61, 'in'); \(sql); SELECT 1")
          } else {
            _ = try conn.execute(sql)
          }
        }
        #expect("\(String(describing: error))".contains("RollBack"))
        // The transaction counts as ended.
        #expect(throws: BoutiqueError.self) {
          try conn.execute("INSERT INTO t VALUES (62, 'after')")
        }
      }
      var bodies = (1...3).map { insert($0) }
      bodies[place] = conflicting
      let results = try await together(db, bodies)
      #expect(message(results[place]).contains("UNIQUE"))
      #expect(try await ids(db) == (1...3).filter { $0 != place + 1 } + [50])
    }
  }

  @Test(arguments: [
    "CREATE TABLE r (id INTEGER PRIMARY KEY ON CONFLICT ROLLBACK)",
    """
    CREATE TABLE r (id INTEGER PRIMARY KEY);
    CREATE TRIGGER no BEFORE INSERT ON r WHEN EXISTS (SELECT 1 FROM r WHERE id = new.id)
      BEGIN SELECT RAISE(ROLLBACK, 'taken'); END
    """,
    """
    CREATE TABLE r (id INTEGER PRIMARY KEY);
    CREATE TEMP TRIGGER no BEFORE INSERT ON r WHEN EXISTS (SELECT 1 FROM r WHERE id = new.id)
      BEGIN SELECT RAISE(ROLLBACK, 'taken'); END
    """,
  ])
  func `where the schema may end transactions nobody shares one`(schema: String) async throws {
    try await withTestDatabase(configuration: .groups(of: 16), migrations: Self.plan) { db, _ in
      try await db.write { try $0.executeScript(schema) }
      try await db.write { _ = try $0.execute("INSERT INTO r VALUES (1)") }
      let results = try await together(
        db, insert(1), insert(2), { _ = try $0.execute("INSERT INTO r VALUES (1)") }, insert(3))
      #expect(throws: BoutiqueError.self) { try results[2].get() }
      #expect(try await ids(db) == [1, 2, 3])
      #expect(try results[0].get() != results[1].get())
    }
  }

  @Test func `a change of the schema ends the group, and the next one knows it`() async throws {
    try await withTestDatabase(configuration: .groups(of: 16), migrations: Self.plan) { db, _ in
      let results = try await together(
        db, insert(1), { try $0.executeScript("CREATE TABLE made (id INTEGER PRIMARY KEY)") },
        { _ = try $0.execute("INSERT INTO made VALUES (5)") }, insert(2)
      ).map { try $0.get() }
      #expect(results[0] == results[1] && results[2] == results[3] && results[1] != results[2])
      // Named row by row: the shape of the new table is known.
      #expect(try await commits(db, after: results[1], 1) == [[5, 2]])
    }
  }

  // MARK: Capture

  @Test func `each write of a group may name as many rows as one alone`() async throws {
    var configuration = BoutiqueConfiguration.groups(of: 16)
    configuration.captureRowLimit = 10
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      func many(_ range: ClosedRange<Int>) -> Body {
        { conn in
          for id in range { try conn.execute("INSERT INTO t VALUES (?, ?)", id, "\(id)") }
        }
      }
      let tokens = try await together(db, many(1...8), many(11...18), many(21...28)).map {
        try $0.get()
      }
      // The second passes the limit for the group, which ends there.
      #expect(tokens[0] == tokens[1] && tokens[1] != tokens[2])
      let keys = try await commits(db, after: start, 2)
      #expect(keys[0] == (Array(1...8) + Array(11...18)).map { SQLValue.integer(Int64($0)) })
      #expect(keys[1] == (21...28).map { SQLValue.integer(Int64($0)) })
    }
  }

  @Test func `a live query of this process has the write's result when the write returns`()
    async throws
  {
    try await withTestDatabase(
      configuration: .groups(of: 16), migrations: Self.plan
    ) { db, _ in
      var values = db.observe { try $0.query("SELECT count(*) FROM t")[0].decode(0, as: Int.self) }
        .makeAsyncIterator()
      #expect(try await values.next() == 0)
      _ = try await together(db, (1...5).map { insert($0) })
      // One commit is one change: there is no value between.
      #expect(try await values.next() == 5)
    }
  }

  // MARK: Cancellation

  @Test func `one that is cancelled while it runs is undone alone, its statement is not cut short`()
    async throws
  {
    try await withTestDatabase(configuration: .groups(of: 16), migrations: Self.plan) { db, _ in
      let busy = await BusyWriter(db)
      let first = insert(1)
      let last = insert(3)
      let before = try await busy.queue { try await $0.writeWithToken(first).token }
      let isRunning = Signal()
      let cancelled = try await busy.queue { db in
        try await db.write { conn in
          isRunning.set()
          // Long enough that the cancellation comes in the middle of it.
          try conn.execute(
            """
            INSERT INTO t WITH RECURSIVE n (i) AS
              (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT i, 'r' || i FROM n
            """)
          _ = try conn.query(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")
        }
      }
      let after = try await busy.queue { try await $0.writeWithToken(last).token }
      async let done: Void = busy.release()
      await isRunning.wait()
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      await done
      #expect(try await before.value == after.value)
      #expect(try await ids(db) == [1, 3])
    }
  }

  @Test func `cancelling many at random moments is all or nothing for each`() async throws {
    try await withTestDatabase(configuration: .groups(of: 16), migrations: Self.plan) { db, _ in
      let tasks = (1...400).map { id in
        Task {
          try await db.write { conn in
            _ = try conn.execute("INSERT INTO t VALUES (?, ?)", id, "x\(id)")
            _ = try conn.execute("UPDATE t SET v = v || '!' WHERE id = ?", id)
          }
        }
      }
      for (index, task) in tasks.enumerated() where index % 3 == 0 {
        for _ in 0..<(index % 5) { await Task.yield() }
        task.cancel()
      }
      var committed: [Int] = []
      for (index, task) in tasks.enumerated() {
        switch await task.result {
        case .success: committed.append(index + 1)
        case .failure(let error): #expect(error is CancellationError, "\(error)")
        }
      }
      #expect(try await ids(db) == committed)
      let whole = try await db.count(of: "SELECT * FROM t WHERE v LIKE '%!'")
      #expect(whole == committed.count)
    }
  }
}
