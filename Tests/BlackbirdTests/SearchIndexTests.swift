import Blackbird
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// The same numbers each time.
private struct Dice: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state
  }
}

private let words = ["amber", "birch", "cedar", "delta", "ember", "fjord"]

/// Rows that hold a word, told without the index.
private func holding(_ word: String, in db: Blackbird.Database) async throws -> Set<Int> {
  let rows = try await db.query(
    "SELECT id FROM Essay WHERE ' ' || title || ' ' || coalesce(body, '') || ' ' LIKE ?",
    "% \(word) %")
  return Set(rows.compactMap { $0["id"]?.intValue })
}

private func pages(holding word: String, in db: Blackbird.Database) async throws -> Set<String> {
  let rows = try await db.query(
    "SELECT book || ' ' || number AS k FROM Page WHERE ' ' || text || ' ' || rank || ' ' LIKE ?",
    "% \(word) %")
  return Set(rows.compactMap { $0["k"]?.stringValue })
}

@Suite struct SearchIndexTests {
  @Test func `what was written, changed or deleted is found as it is now`() async throws {
    try await withFile { db, _ in
      var post = essay(1, "amber", "birch")
      try await post.write(to: db)
      #expect(try await Essay.found("amber", in: db) == [1])
      post.title = "cedar"
      try await post.write(to: db)
      #expect(try await Essay.found("amber", in: db) == [])
      #expect(try await Essay.found("cedar birch", in: db) == [1])
      try await Essay.update(in: db, set: [\.$body: "delta"], matching: \.$id == 1)
      #expect(try await Essay.found("birch", in: db) == [])
      #expect(try await Essay.found("delta", in: db) == [1])
      try await db.query("UPDATE Essay SET id = 7")
      #expect(try await Essay.found("delta", in: db) == [7])
      try await Essay.delete(from: db, matching: .all)
      #expect(try await Essay.found("delta", in: db) == [])
    }
  }

  @Test
  func
    `inside a transaction a search sees what the transaction wrote, and nothing that was undone`()
    async throws
  {
    try await withFile { db, _ in
      try await essay(1, "amber").write(to: db)
      let found = try await db.transaction { core -> [Int] in
        try essay(2, "amber").writeIsolated(to: core.database, core: core)
        try core.cancellableTransaction { core in
          try essay(3, "amber").writeIsolated(to: core.database, core: core)
          throw Blackbird.Error.cancelTransaction
        }
        return try Essay.fullTextSearchIsolated(
          from: core.database, core: core, matching: .match("amber")
        ).compactMap { $0.preloadedInstance?.id }
      }
      #expect(Set(found) == [1, 2])
      _ = try await db.cancellableTransaction { core in
        try essay(4, "amber").writeIsolated(to: core.database, core: core)
        throw Blackbird.Error.cancelTransaction
      }
      #expect(try await Set(Essay.found("amber", in: db)) == [1, 2])
    }
  }

  @Test func `a row that REPLACE removes is not found, and its key can come again`() async throws {
    try await withFile { db, _ in
      try await essay(1, "amber").write(to: db)
      try await essay(2, "birch").write(to: db)
      // Removes row 1 by its unique slug; no trigger tells.
      try await db.query("INSERT OR REPLACE INTO Essay VALUES (9, 'slug 1', 'cedar', NULL, 0)")
      #expect(try await Essay.found("amber", in: db) == [])
      #expect(try await Essay.found("cedar", in: db) == [9])
      try await db.query("UPDATE OR REPLACE Essay SET slug = 'slug 2' WHERE id = 9")
      #expect(try await Essay.found("birch", in: db) == [])
      try await essay(1, "delta").write(to: db)
      #expect(try await Essay.found("amber", in: db) == [])
      #expect(try await Essay.found("delta", in: db) == [1])
      try await db.query("REPLACE INTO Essay VALUES (1, 'slug 1', 'ember', NULL, 0)")
      #expect(try await Essay.found("delta", in: db) == [])
      #expect(try await Essay.found("ember", in: db) == [1])
      try await Essay.optimizeFullTextIndex(in: db)
      let documents = try await db.query("SELECT rowid AS n FROM \"Essay+Search\" ORDER BY rowid")
      #expect(documents == [["n": 1], ["n": 9]])
    }
  }

  @Test(arguments: [UInt64(1), 2, 3, 4])
  func `after any sequence of writes a search finds what the rows hold`(seed: UInt64) async throws {
    try await withFile { db, _ in
      var dice = Dice(state: seed)
      try await Essay.resolveSchema(in: db)
      for step in 0..<120 {
        let id = Int.random(in: 1...12, using: &dice)
        let other = Int.random(in: 1...12, using: &dice)
        let title = words.randomElement(using: &dice) ?? ""
        let body = [nil, "amber cedar", "fjord"].randomElement(using: &dice) ?? nil
        switch Int.random(in: 0..<9, using: &dice) {
        case 0, 1: try? await essay(id, title, body).write(to: db)
        case 2: try await Essay.update(in: db, set: [\.$title: title], matching: \.$id == id)
        case 3: try await Essay.delete(from: db, matching: \.$id == id)
        case 4:
          try await db.query(
            "INSERT OR REPLACE INTO Essay VALUES (?, ?, ?, ?, 0)", id, "slug \(other)", title, body)
        case 5: try await db.query("UPDATE OR REPLACE Essay SET id = ? WHERE id = ?", other, id)
        case 6:
          try await db.query(
            "INSERT OR IGNORE INTO Essay VALUES (?, ?, ?, NULL, 0)", id, title, title)
        case 7:
          try await db.query(
            "INSERT INTO Essay VALUES (?, ?, ?, NULL, 0) ON CONFLICT DO UPDATE SET title = ?",
            id, "slug \(id)", title, title)
        default:
          _ = try? await db.transaction { core in
            try core.query("DELETE FROM Essay WHERE id = ?", id)
            try core.execute(
              "INSERT OR ROLLBACK INTO Essay VALUES (\(other), 'slug \(other)', '\(title)', NULL, 0)"
            )
          }
          try await Essay.optimizeFullTextIndex(in: db)
        }
        for word in words {
          let found = try await Set(Essay.found(word, in: db))
          let held = try await holding(word, in: db)
          #expect(found == held, "step \(step), \(word)")
          if found != held { return }
        }
      }
      try await db.execute(
        "INSERT INTO \"Essay+Search\" (\"Essay+Search\") VALUES ('integrity-check')")
    }
  }

  @Test(arguments: [UInt64(1), 2])
  func `the same holds for a key of two columns, through VACUUM`(seed: UInt64) async throws {
    try await withFile { db, _ in
      var dice = Dice(state: seed)
      try await Page.resolveSchema(in: db)
      for step in 0..<100 {
        let book = ["a", "b"].randomElement(using: &dice) ?? ""
        let number = Int.random(in: 1...5, using: &dice)
        let text = words.randomElement(using: &dice) ?? ""
        let rank = words.randomElement(using: &dice) ?? ""
        switch Int.random(in: 0..<6, using: &dice) {
        case 0, 1: try await Page(book: book, number: number, text: text, rank: rank).write(to: db)
        case 2: try await Page.delete(from: db, matching: \.$book == book && \.$number == number)
        case 3:
          try await db.query("REPLACE INTO Page VALUES (?, ?, ?, ?)", book, number, text, rank)
        case 4:
          try await db.query(
            "UPDATE OR REPLACE Page SET number = number + 1 WHERE book = ? AND number = ?", book,
            number)
        default:
          try await db.execute("VACUUM")
          try await Page.optimizeFullTextIndex(in: db)
        }
        for word in words {
          let found = try await Page.found(word, in: db)
          let held = try await pages(holding: word, in: db)
          #expect(found == held, "step \(step), \(word)")
          if found != held { return }
        }
      }
      try await db.execute(
        "INSERT INTO \"Page+Search\" (\"Page+Search\") VALUES ('integrity-check')")
    }
  }

  @Test func `a damaged index stops no write, and is made anew by the next search`() async throws {
    try await withFile { db, path in
      for id in 1...50 { try await essay(id, "amber \(id)").write(to: db) }
      await db.close()
      // As a foreign program could.
      let shell = Process()
      shell.executableURL = URL(filePath: "/usr/bin/sqlite3")
      shell.arguments = [path, "DELETE FROM \"Essay+Search_data\" WHERE id > 100"]
      try shell.run()
      shell.waitUntilExit()
      #expect(shell.terminationStatus == 0)
      let again = try await Blackbird.Database.open(path: path)
      try await essay(51, "amber birch").write(to: again)
      try await Essay.delete(from: again, matching: \.$id == 7)
      let found = try await Set(Essay.found("amber", in: again))
      #expect(found == Set(1...51).subtracting([7]))
      await again.close()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `publishers tell the rows and columns of the model, and nothing of the index`() async throws
  {
    try await withFile { db, path in
      try await essay(1, "amber").write(to: db)
      try await essay(2, "birch").write(to: db)
      var changes = Essay.changePublisher(in: db).makeAsyncIterator()
      var all = db.changeReporter.changes.makeAsyncIterator()
      try await Essay.update(in: db, set: [\.$title: "cedar"], matching: \.$id == 2)
      let change = try #require(try await changes.next(isolation: #isolation))
      #expect(change.changedPrimaryKeys == [[2]])
      #expect(change.columnNames == ["title"])
      // As a program without the library: the next search works its notes off, in a commit of its own.
      let shell = Process()
      shell.executableURL = URL(filePath: "/usr/bin/sqlite3")
      shell.arguments = [path, "UPDATE Essay SET title = 'delta' WHERE id = 1"]
      try shell.run()
      shell.waitUntilExit()
      #expect(try await Essay.found("delta", in: db) == [1])
      try await Essay.update(in: db, set: [\.$state: 5], matching: \.$id == 1)
      var tables: Set<String> = []
      while let commit = try await all.next(isolation: #isolation) {
        tables.formUnion(commit.changes.map(\.table))
        if commit.changes.contains(where: { $0.columnNames == ["state"] }) { break }
      }
      #expect(tables == ["Essay"])
    }
  }
}
