import BoutiqueDB
import Foundation
import SQLiteConnection
import TestDatabase
import Testing

@Suite struct ChangeLogTests {
  static let plan = TransactionTests.plan

  private func insert(_ ids: ClosedRange<Int>, into db: BoutiqueDB) async throws {
    for id in ids { try await db.write { _ = try $0.execute("INSERT INTO t (id) VALUES (?)", id) } }
  }

  @Test func `the log is pruned to its retention and its newest record stays`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.cdcRetention = .init(rows: 20, age: .seconds(3600))
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      try await insert(1...200, into: db)
      let status = try await db.status()
      #expect((20..<40).contains(status.loggedCommits))
      let token = try await db.currentToken()
      #expect(status.newestToken == token)
      try await insert(201...201, into: db)
      #expect(try await db.currentToken().number == token.number + 2)
    }
  }

  @Test func `by age all but the newest may go`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.cdcRetention = .init(rows: 100_000, age: .zero)
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      try await insert(1...1, into: db)
      let foreign = try Connection(path: db.path)
      try foreign.execute("UPDATE boutiquedb_cdc SET time = 0")
      foreign.close()
      // Pruning comes once in so many commits.
      try await insert(2...6300, into: db)
      let status = try await db.status()
      #expect(status.loggedCommits < 6300)
      #expect((status.oldestToken ?? 0) > 1)
    }
  }

  @Test func `a reader behind the pruned part is told everything, then goes on`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.cdcRetention = .init(rows: 16, age: .seconds(3600))
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try await insert(1...100, into: db)
      var feed = db.changes(since: start).makeAsyncIterator()
      #expect(try await feed.next()?.isEverything == true)
      var last: BoutiqueChange?
      repeat {
        last = try await feed.next()
        #expect(last?.isEverything == false)
      } while last?.rows.first?.key != [100]
      #expect(last?.token == (try await db.currentToken()))
    }
  }

  @Test func `tokens go on after a restart and a feed can be resumed`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    var db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
    try await insert(1...3, into: db)
    let token = try await db.currentToken()
    await db.close()
    db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
    #expect(try await db.currentToken() == token)
    try await insert(4...4, into: db)
    var feed = db.changes(since: token).makeAsyncIterator()
    var keys: [[SQLValue]] = []
    while keys.last != [4] {
      // With every process gone nobody can vouch that no foreign program wrote: "everything" may come.
      keys += try await feed.next()?.rows.map(\.key) ?? []
    }
    #expect(keys == [[4]])
    await db.close()
  }

  @Test func `a foreign commit while nobody of ours was there is not taken for ours`() async throws
  {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    // The change counter starts anew when everybody has left. For each length of our session the foreign
    // program makes as many commits as it takes to reach the value that our last row ended with.
    try await BoutiqueDB.open(path: path, migrations: Self.plan).close()
    for commits in 1...3 {
      for foreignCommits in 1...4 {
        var db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
        for _ in 0..<commits {
          try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (NULL)") }
        }
        let token = try await db.currentToken()
        await db.close()
        let foreign = try Connection(path: path)
        for _ in 0..<foreignCommits { try foreign.execute("INSERT INTO t (v) VALUES (NULL)") }
        db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
        foreign.close()
        try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (NULL)") }
        var feed = db.changes(since: token).makeAsyncIterator()
        #expect(try await feed.next()?.isEverything == true, "\(commits), \(foreignCommits)")
        await db.close()
      }
    }
  }

  @Test func `a reader without a slot believes no number that nobody vouches for`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    try await BoutiqueDB.open(path: path, migrations: Self.plan).close()
    let saved = directory.file("lock")
    for commits in 1...3 {
      for foreignCommits in 1...5 {
        var db = try await BoutiqueDB.open(path: path)
        for _ in 0..<commits {
          try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (NULL)") }
        }
        let token = try await db.currentToken()
        // As a process leaves it that is killed: the number is not renewed.
        try FileManager.default.copyItem(atPath: path + "-lock", toPath: saved)
        await db.close()
        try FileManager.default.removeItem(atPath: path + "-lock")
        try FileManager.default.moveItem(atPath: saved, toPath: path + "-lock")
        let foreign = try Connection(path: path)
        for _ in 0..<foreignCommits { try foreign.execute("INSERT INTO t (v) VALUES (NULL)") }
        var configuration = BoutiqueConfiguration()
        configuration.readOnly = true
        db = try await BoutiqueDB.open(path: path, configuration: configuration)
        var feed = db.changes(since: token).makeAsyncIterator()
        #expect(try await feed.next()?.isEverything == true, "\(commits), \(foreignCommits)")
        await db.close()
        foreign.close()
      }
    }
  }

  @Test func `of processes that open at once after a death, one breaks the chain`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    try await BoutiqueDB.open(path: path, migrations: Self.plan).close()
    let saved = directory.file("lock")
    for round in 0..<10 {
      let first = try await BoutiqueDB.open(path: path)
      try await first.write { _ = try $0.execute("INSERT INTO t (v) VALUES (NULL)") }
      let token = try await first.currentToken()
      try FileManager.default.copyItem(atPath: path + "-lock", toPath: saved)
      await first.close()
      try FileManager.default.removeItem(atPath: path + "-lock")
      try FileManager.default.moveItem(atPath: saved, toPath: path + "-lock")
      let foreign = try Connection(path: path)
      try foreign.execute("INSERT INTO t (v) VALUES (NULL)")
      async let one = BoutiqueDB.open(path: path)
      async let two = BoutiqueDB.open(path: path)
      let both = try await [one, two]
      var feed = both[0].changes(since: token).makeAsyncIterator()
      #expect(try await feed.next()?.isEverything == true, "\(round)")
      for db in both { await db.close() }
      foreign.close()
    }
  }

  @Test func `a lock file made anew costs one refresh, not one for each commit`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      try FileManager.default.removeItem(atPath: db.path + "-lock")
      try await insert(1...1, into: db)
      let token = try await db.currentToken()
      try await insert(2...4, into: db)
      var feed = db.changes(since: token).makeAsyncIterator()
      for id in 2...4 {
        #expect(try await feed.next()?.rows.map(\.key) == [[.integer(Int64(id))]])
      }
    }
  }

  @Test func `while one of ours stays, a feed resumes without a refresh`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let token = try await db.currentToken()
      for id in 1...3 {
        let other = try await BoutiqueDB.open(path: db.path)
        try await insert(id...id, into: other)
        await other.close()
      }
      let reader = try await BoutiqueDB.open(path: db.path)
      var feed = reader.changes(since: token).makeAsyncIterator()
      for id in 1...3 {
        let change = try await feed.next()
        #expect(change?.rows.map(\.key) == [[.integer(Int64(id))]])
        #expect(change?.isEverything == false)
      }
      await reader.close()
    }
  }

  @Test func `a token of a history that a restored backup does not have is not taken for its own`()
    async throws
  {
    let directory = try TestDirectory()
    let path = directory.file("t.db")
    var db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
    try await insert(1...3, into: db)
    try await db.backup(to: directory.url("copy.db"))
    try await insert(11...13, into: db)
    let lost = try await db.currentToken()
    await db.close()
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
    try FileManager.default.moveItem(atPath: directory.file("copy.db"), toPath: path)
    db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
    try await insert(21...26, into: db)
    #expect(try await db.currentToken().number > lost.number)
    var feed = db.changes(since: lost).makeAsyncIterator()
    #expect(try await feed.next()?.isEverything == true)
    await db.close()
  }

  @Test func `a feed without a token begins with what comes, not with a refresh`() async throws {
    let directory = try TestDirectory()
    for round in 0..<3 {
      let db = try await BoutiqueDB.open(path: directory.file("t.db"), migrations: Self.plan)
      let feed = db.changes()
      let first = Task {
        var iterator = feed.makeAsyncIterator()
        return try await iterator.next()
      }
      while try await db.status().observers == 0 { await Task.yield() }
      // The reader may not have found its place yet, so it is written until it says something.
      var id = round * 1000
      while try await db.status().observers > 0 {
        id += 1
        try await insert(id...id, into: db)
      }
      let change = try #require(try await first.value)
      #expect(!change.isEverything)
      await db.close()
    }
  }

  @Test func `a token of another file continues nothing`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      try await insert(1...2, into: db)
      var feed = db.changes(since: ChangeToken(generation: "other", number: 1, stamp: 0))
        .makeAsyncIterator()
      #expect(try await feed.next()?.isEverything == true)
      try await insert(3...3, into: db)
      #expect(try await feed.next()?.rows.map(\.key) == [[3]])
    }
  }

  @Test func `a feed reads far more than one batch`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      try await insert(1...700, into: db)
      var feed = db.changes(since: start).makeAsyncIterator()
      for id in 1...700 {
        #expect(try await feed.next()?.rows.first?.key == [.integer(Int64(id))])
      }
    }
  }

  @Test func `a change token survives its text form`() {
    let token = ChangeToken(generation: "0a1b", number: 42, stamp: 7)
    #expect(ChangeToken(token.description) == token)
    let short = ChangeToken(generation: "0a1b", number: 42)
    #expect(ChangeToken(short.description) == short)
    for text in ["", "x", "-1-1", "a-", "a-1-", "a-b-1", "a-1-b", "a-1-2-3", "a--1-2"] {
      #expect(ChangeToken(text) == nil)
    }
  }

  @Test func `keys of any kind survive the log`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let keys: [SQLValue] = [
        .text("quote \" back \\ tab \t nul \0 line \n é 🎈"), .text(""), .integer(.min),
        .integer(.max), .real(0.1), .real(1e300), .blob([]), .blob([0, 1, 255]),
      ]
      try await db.write {
        _ = try $0.execute("CREATE TABLE k (key PRIMARY KEY) WITHOUT ROWID")
      }
      let start = try await db.currentToken()
      for key in keys { try await db.write { _ = try $0.execute("INSERT INTO k VALUES (?)", key) } }
      var feed = db.changes(since: start).makeAsyncIterator()
      for key in keys { #expect(try await feed.next()?.rows.map(\.key) == [[key]]) }
      // SQLite itself can read what was written.
      let valid = try await db.read { conn in
        try conn.query("SELECT min(json_valid(tables) AND json_valid(changes)) FROM boutiquedb_cdc")
      }
      #expect(valid[0][0] == 1)
    }
  }
}
