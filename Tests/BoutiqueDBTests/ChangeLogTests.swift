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
      try await db.write { _ = try $0.execute("UPDATE boutiquedb_cdc SET time = 0") }
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

  @Test func `a token of another file continues nothing`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      try await insert(1...2, into: db)
      var feed = db.changes(since: ChangeToken(generation: "other", number: 1)).makeAsyncIterator()
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
    let token = ChangeToken(generation: "0a1b", number: 42)
    #expect(ChangeToken(token.description) == token)
    for text in ["", "x", "-1", "a-", "a--1", "a-b", "a-1-2"] { #expect(ChangeToken(text) == nil) }
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
