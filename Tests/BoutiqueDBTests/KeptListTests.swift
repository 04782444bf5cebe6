import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// Lists that are brought up to date by their changed rows.
@Suite struct KeptListTests {
  @BoutiqueTable("note")
  struct Note: Equatable {
    let id: Int
    var title: String
    var rank: Int
    var body: String?
  }

  private func withNotes(
    _ count: Int = 500, isolation: isolated (any Actor)? = #isolation,
    _ body: (BoutiqueDB) async throws -> Void
  ) async throws {
    let plan = BoutiqueMigrationPlan {
      BoutiqueMigration("v1") { conn in
        try Note.createTable().execute(conn)
        try Note.insert {
          (1...count).map { Note(id: $0, title: "n\($0)", rank: $0 % 7, body: nil) }
        }.execute(conn)
      }
    }
    var configuration = BoutiqueConfiguration()
    configuration.cdcPollInterval = .seconds(3600)
    try await withTestDatabase(configuration: configuration, migrations: plan) { db, _ in
      try await body(db)
    }
  }

  @Test func `a change of one row reads one row, and says what it did`() async throws {
    try await withNotes { db in
      var changes = db.observe { Note.where { $0.rank < 6 }.order { ($0.rank, $0.title) } }
        .differences.makeAsyncIterator()
      let first = try #require(try await changes.next())
      #expect(first.inserted == Array(0..<first.elements.count))
      let before = db.liveQueryWork

      try await db.write { conn in
        try Note.find(14).update { $0.title = "m" }.execute(conn)
      }
      var change = try #require(try await changes.next())
      let place = try #require(first.elements.firstIndex { $0.id == 14 })
      #expect(change.moved == [ListMove(from: place, to: 0)])
      #expect(change.updated == [0] && change.inserted.isEmpty && change.removed.isEmpty)

      try await db.write { conn in
        try Note.find(14).update { $0.body = "text" }.execute(conn)
      }
      change = try #require(try await changes.next())
      #expect(change.updated == [0] && change.moved.isEmpty)

      try await db.write { conn in
        try Note.find(14).update { $0.rank = 6 }.execute(conn)
        try Note.insert { Note(id: 900, title: "a", rank: 0, body: nil) }.execute(conn)
      }
      change = try #require(try await changes.next())
      #expect(change.removed == [0] && change.inserted == [0] && change.updated.isEmpty)
      #expect(db.liveQueryWork.steps == before.steps + 3 && db.liveQueryWork.runs == before.runs)
    }
  }

  /// A program's own collation may have the name of one of SQLite's, whose order would be the wrong one.
  @Test(arguments: [true, false])
  func `a program's own NOCASE is not taken for SQLite's`(isOwn: Bool) async throws {
    var configuration = BoutiqueConfiguration()
    // The shorter first: until a title gets longer it is the same order.
    let byLength = BoutiqueCollation("nocase") {
      let (a, b) = (($0.utf8.count, $0), ($1.utf8.count, $1))
      return a < b ? -1 : a == b ? 0 : 1
    }
    configuration.collations = isOwn ? [byLength] : []
    try await withTestDatabase(configuration: configuration) { db, _ in
      try await db.write { conn in
        try Note.createTable().execute(conn)
        try Note.insert {
          (1...100).map { Note(id: $0, title: "n\(1000 + $0)", rank: 1, body: nil) }
        }.execute(conn)
      }
      db.keepResults(from: 1)
      let before = db.liveQueryWork
      let query: @Sendable () -> some Statement<Note> = {
        Note.order { $0.title.collate(.nocase) }
      }
      var lists = db.observe { query() }.makeAsyncIterator()
      _ = try await lists.next()
      for number in [50, 20, 70] {
        try await db.write { conn in
          try Note.find(number).update { $0.title = "n0000\(number)" }.execute(conn)
        }
        let list = try #require(try await lists.next())
        #expect(try await list == db.read { try query().fetchAll($0) })
        #expect((list.last?.title.hasPrefix("n0000") == true) == isOwn)
      }
      #expect((db.liveQueryWork.steps == before.steps) == isOwn)
    }
  }

  /// Each takes what is kept out of the same box while the other may be at it.
  @Test func `two that ask the same race for one kept list and both are right`() async throws {
    try await withNotes { db in
      db.keepResults(from: 1)
      let query: @Sendable () -> some Statement<Note> = {
        Note.where { $0.rank < 6 }.order { ($0.rank, $0.title) }
      }
      let commits = 150
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            for try await list in db.observe({ query() }) {
              // The last commit makes this row the first of all.
              let keys = list.map { ($0.rank, $0.title, $0.id) }
              #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 <= $1 })
              if list.first?.title == "" {
                #expect(try await list == db.read { try query().fetchAll($0) })
                return
              }
            }
          }
        }
        group.addTask {
          for number in 0..<commits {
            try await db.write { conn in
              let id = number * 37 % 500 + 1
              try Note.find(id).update {
                $0.rank = number % 8
                $0.title = "t\(number)"
              }.execute(conn)
              if number % 5 == 0 { try Note.find(id % 500 + 1).delete().execute(conn) }
            }
          }
          try await db.write { conn in
            try Note.insert { Note(id: 9000, title: "", rank: -1, body: nil) }.execute(conn)
          }
        }
        try await group.waitForAll()
      }
      #expect(db.liveQueryWork.steps > 0)
    }
  }

  @Test func `what changes nothing that is shown is not delivered`() async throws {
    try await withNotes { db in
      var titles = db.observe { Note.where { $0.rank < 3 }.order { $0.title }.select { $0.title } }
        .makeAsyncIterator()
      _ = try await titles.next()
      // Out of the filter before and after; another rank within it; there and back.
      try await db.write { _ = try $0.execute("UPDATE note SET title = 'z' WHERE id = 6") }
      try await db.write { _ = try $0.execute("UPDATE note SET rank = 2 WHERE id = 7") }
      try await db.write { conn in
        try conn.execute("UPDATE note SET title = 'y' WHERE id = 8")
        try conn.execute("UPDATE note SET title = 'n8' WHERE id = 8")
      }
      try await db.write { _ = try $0.execute("UPDATE note SET title = 'a' WHERE id = 9") }
      let value = try #require(try await titles.next())
      #expect(value.first == "a" && !value.contains("z"))
    }
  }

  @Test func `a window is filled up when rows leave it`() async throws {
    try await withNotes { db in
      var values = db.observe { Note.order { $0.id }.limit(10, offset: 5).select { $0.id } }
        .makeAsyncIterator()
      #expect(try await values.next() == Array(6...15))
      for id in 6...60 {
        // One goes, and one comes so far behind that it says nothing of those in between.
        try await db.write { conn in
          try Note.find(id).delete().execute(conn)
          try Note.insert { Note(id: 1000 + id, title: "far", rank: 0, body: nil) }.execute(conn)
        }
        #expect(try await values.next() == Array(id + 1...id + 10))
      }
    }
  }

  @Test func `values that somebody holds on to stay as they are`() async throws {
    try await withNotes { db in
      var values = db.observe { Note.order { $0.id } }.makeAsyncIterator()
      var held: [[Note]] = []
      var expected: [[Note]] = []
      held.append(try #require(try await values.next()))
      for id in 1...20 {
        try await db.write { try Note.find(id).update { $0.title = "x\(id)" }.execute($0) }
        held.append(try #require(try await values.next()))
        expected.append(try await db.read { try Note.order { $0.id }.fetchAll($0) })
      }
      #expect(Array(held.dropFirst()) == expected)
      #expect(db.liveQueryWork.steps >= 19)
    }
  }

  @Test func `what cannot be kept runs again`() async throws {
    try await withNotes { db in
      db.keepResults(from: 0)
      func check<S: Statement>(_ query: @escaping @Sendable () -> S) async throws {
        var values = db.observe(query).makeAsyncIterator()
        _ = try await values.next()
        let steps = db.liveQueryWork.steps
        try await db.write { _ = try $0.execute("UPDATE note SET rank = rank + 1 WHERE id = 50") }
        _ = try await values.next()
        #expect(db.liveQueryWork.steps == steps, "\(query().query.sql)")
      }
      try await check { Note.order { $0.title.length() } }
      try await check { Note.distinct() }
      try await check { Note.where { #sql("\($0.rank) > random() - 1", as: Bool.self) } }
      try await check { Note.all.join(Note.as("o")) { $0.id.eq($1.id) } }
      try await check {
        Note.where { #sql("\($0.rank) >= (SELECT min(rank) FROM note)", as: Bool.self) }
      }
      try await check { Note.group { $0.rank }.select { ($0.rank, $0.count()) } }
    }
  }

  @Test func `joins and closures have differences by position`() async throws {
    try await withNotes(5) { db in
      var changes = db.observe { conn in
        try conn.query("SELECT title FROM note ORDER BY id").map(\.values)
      }.differences.makeAsyncIterator()
      _ = try await changes.next()
      try await db.write { _ = try $0.execute("DELETE FROM note WHERE id = 2") }
      let change = try #require(try await changes.next())
      #expect(change.removed == [1] && change.updated.isEmpty && change.inserted.isEmpty)
    }
  }
}
