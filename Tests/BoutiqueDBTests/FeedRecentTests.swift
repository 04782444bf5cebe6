import BoutiqueDB
import Foundation
import TestDatabase
import Testing

@Suite(.timeLimit(.minutes(1))) struct FeedRecentTests {
  private static let plan = BoutiqueMigrationPlan {
    BoutiqueMigration("a") { conn in
      try conn.executeScript(
        """
        CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT);
        CREATE TABLE tag (name TEXT PRIMARY KEY) WITHOUT ROWID;
        """)
    }
  }

  private func shell(_ path: String, _ sql: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["sqlite3", "-cmd", ".timeout 30000", path, sql]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  @Test func `a snapshot comes with the commits since a token, and each is told once`() async throws
  {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      var token = try await db.read(since: nil) { _, recent in
        #expect(recent.changes.isEmpty)
        return recent.token
      }
      for number in 1...3 {
        try await db.write { try $0.execute("INSERT INTO note VALUES (?, 'x')", number) }
      }
      let (keys, count, next) = try await db.read(since: token) { conn, recent in
        (
          recent.changes.map { $0.rows.map(\.key) },
          try conn.query("SELECT * FROM note").count, recent.token
        )
      }
      #expect(keys == [[[.integer(1)]], [[.integer(2)]], [[.integer(3)]]])
      #expect(count == 3)
      token = next
      let again = try await db.read(since: token) { _, recent in recent.changes }
      #expect(again.isEmpty)
    }
  }

  @Test func `a commit of the shell is everything, once`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, directory in
      try await db.write { try $0.execute("INSERT INTO note VALUES (1, 'x')") }
      let token = try await db.currentToken()
      try shell(directory.file("test.db"), "UPDATE note SET body = 'y'")
      let (changes, next) = try await db.read(since: token) { ($1.changes, $1.token) }
      #expect(changes.map(\.isEverything) == [true])
      #expect(changes.map(\.origin) == [.foreign])
      let again = try await db.read(since: next) { $1.changes }
      #expect(again.isEmpty)
    }
  }

  @Test func `more commits than the limit are everything, and the position is the present`()
    async throws
  {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let token = try await db.currentToken()
      for number in 1...9 {
        try await db.write { try $0.execute("INSERT INTO note VALUES (?, 'x')", number) }
      }
      let (changes, next) = try await db.read(since: token, atMost: 4) { ($1.changes, $1.token) }
      #expect(changes.map(\.isEverything) == [true])
      let again = try await db.read(since: next) { $1.changes }
      #expect(again.isEmpty)
    }
  }

  @Test func `the mark stays the same until somebody commits, whoever it is`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, directory in
      try await db.write { try $0.execute("INSERT INTO note VALUES (1, 'x')") }
      let first = try #require(db.commitMark)
      _ = try await db.read { try $0.query("SELECT * FROM note") }
      struct Undone: Error {}
      await #expect(throws: Undone.self) {
        try await db.write { conn in
          try conn.execute("INSERT INTO note VALUES (2, 'x')")
          throw Undone()
        }
      }
      #expect(db.commitMark == first)
      let mark = try await db.read(since: nil) { $1.mark }
      #expect(mark == first)
      try await db.write { try $0.execute("INSERT INTO note VALUES (2, 'x')") }
      let second = try #require(db.commitMark)
      #expect(second != first)
      try shell(directory.file("test.db"), "UPDATE note SET body = 'y' WHERE id = 1")
      let third = try #require(db.commitMark)
      #expect(third != second)
      try shell(directory.file("test.db"), "UPDATE note SET body = 'z' WHERE id = 1")
      #expect(db.commitMark != third)
    }
  }

  @Test func `a feed can begin where a mark was taken`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, directory in
      let path = directory.file("test.db")
      // Of each commit, the mark after it and what comes then.
      var marks: [CommitMark] = [try #require(db.commitMark)]
      for number in 1...6 {
        if number % 3 == 0 {
          try shell(path, "INSERT INTO note VALUES (\(number), 'x')")
        } else {
          try await db.write { try $0.execute("INSERT INTO note VALUES (?, 'x')", number) }
        }
        marks.append(try #require(db.commitMark))
      }
      for (place, mark) in marks.enumerated() {
        let token = try #require(try await db.token(at: mark))
        let keys = try await db.read(since: token) { _, recent in
          recent.changes.map { $0.isEverything ? [] : $0.rows.map(\.key) }
        }
        let expected = (place + 1..<7).map { number -> [[SQLValue]] in
          number % 3 == 0 ? [] : [[.integer(Int64(number))]]
        }
        #expect(keys == expected, "after \(place)")
      }
      // Without a commit in between, when the log has begun anew.
      let mark = try #require(db.commitMark)
      _ = try await db.checkpoint(.truncate)
      let token = try #require(try await db.token(at: mark))
      let changes = try await db.read(since: token) { $1.changes }
      #expect(changes.isEmpty)
      let none = try await db.token(at: marks[0], atMost: 1)
      #expect(none == nil)
    }
  }

  @Test func `a mark is told apart from the commits of a session before`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("a.db")
    for _ in 0..<2 {
      let db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
      let mark = try #require(db.commitMark)
      let before = try await db.token(at: mark)
      if let before {
        let changes = try await db.read(since: before) { $1.changes }
        #expect(changes.isEmpty)
      }
      try await db.write { try $0.execute("INSERT INTO note (body) VALUES ('x')") }
      let token = try #require(try await db.token(at: mark))
      let changes = try await db.read(since: token) { $1.changes }
      #expect(changes.map { $0.isEverything ? -1 : $0.rows.count } == [1])
      await db.close()
    }
  }

  @Test func `there is no mark in memory, once closed, or for a file that was replaced`()
    async throws
  {
    let memory = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
    #expect(memory.commitMark == nil)
    let mark = try await memory.read(since: nil) { $1.mark }
    #expect(mark == nil)
    await memory.close()
    let directory = try TestDirectory()
    let db = try await BoutiqueDB.open(path: directory.file("a.db"), migrations: Self.plan)
    #expect(db.commitMark != nil)
    try FileManager.default.moveItem(
      atPath: directory.file("a.db"), toPath: directory.file("b.db"))
    #expect(db.commitMark == nil)
    try FileManager.default.moveItem(
      atPath: directory.file("b.db"), toPath: directory.file("a.db"))
    #expect(db.commitMark != nil)
    await db.close()
    #expect(db.commitMark == nil)
  }

  @Test func `a mark that has not moved holds while others write and the log begins anew`()
    async throws
  {
    try await withTestDatabase(migrations: Self.plan) { db, directory in
      try await db.write { try $0.execute("INSERT INTO note VALUES (1, '0')") }
      let other = try await BoutiqueDB.open(
        path: directory.file("test.db"), migrations: Self.plan)
      let writer = Task {
        for number in 1...400 {
          try await other.write {
            try $0.execute("UPDATE note SET body = ? WHERE id = 1", "\(number)")
          }
          if number % 40 == 0 { _ = try await other.checkpoint(.truncate) }
        }
      }
      // What was read in a snapshot whose mark is still that of now is what a read gives now.
      var hits = 0
      var known: (mark: CommitMark, body: String)?
      var token = try await db.currentToken()
      while hits < 50 {
        if let known, db.commitMark == known.mark {
          let body = try await db.read { conn -> String in
            try conn.queryOne("SELECT body FROM note")?.decode(0) ?? ""
          }
          // Unless it moved meanwhile.
          if db.commitMark == known.mark {
            #expect(body == known.body)
            hits += 1
            continue
          }
        }
        let (body, mark, next) = try await db.read(since: token) { conn, recent in
          (
            try conn.queryOne("SELECT body FROM note")?.decode(0, as: String.self) ?? "",
            recent.mark, recent.token
          )
        }
        token = next
        known = mark.map { ($0, body) }
      }
      try await writer.value
      await other.close()
    }
  }
}
