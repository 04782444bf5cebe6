import BoutiqueDB
import ProcessHarness
import Testing

extension BlackbirdWorker {
  /// The names of the notes that a search in the worker finds.
  func found(_ text: JSONValue) async throws -> [String] {
    try await perform("blackbird.search", ["text": text])["names"]?.list?.compactMap(\.string) ?? []
  }
}

extension BlackbirdProcesses {
  @Suite struct DatabaseSearchTests {
    @Test func `what the sqlite3 shell and Python write is found, changed and gone`() async throws {
      try await withDatabaseScene { scene in
        let worker = try await scene.opened("searching")
        try await worker.perform("blackbird.note", ["name": "ours", "text": "amber"])
        try await scene.shell("INSERT INTO SearchedNote VALUES ('shell', 'amber birch')")
        let one = try await worker.found("amber")
        #expect(one == ["ours", "shell"])
        try await scene.shell(
          "UPDATE SearchedNote SET text = 'cedar' WHERE name = 'ours'; "
            + "REPLACE INTO SearchedNote VALUES ('shell', 'delta')")
        let none = try await worker.found("amber")
        #expect(none == [])
        let python = try await scene.python(
          """
          db.execute("BEGIN")
          db.executemany("INSERT INTO SearchedNote VALUES (?, 'ember')", [(f"p{i}",) for i in range(500)])
          db.execute("DELETE FROM SearchedNote WHERE name = 'shell'")
          db.execute("UPDATE SearchedNote SET name = 'renamed' WHERE name = 'ours'")
          db.execute("COMMIT")
          """)
        _ = try await python.exit()
        let ember = try await worker.found("ember")
        #expect(ember.count == 500)
        let delta = try await worker.found("delta")
        #expect(delta == [])
        let cedar = try await worker.found("cedar")
        #expect(cedar == ["renamed"])
        // VACUUM by a foreign program moves every row id that is nobody's key.
        try await scene.shell("DELETE FROM SearchedNote WHERE name < 'p3'; VACUUM")
        let left = try await worker.found("ember")
        let rows = try await scene.shell("SELECT count(*) FROM SearchedNote WHERE text = 'ember'")
        #expect(["\(left.count)"] == rows)
        try await scene.expectIntegrity()
      }
    }

    @Test func `what one process writes the others find at once`() async throws {
      try await withDatabaseScene { scene in
        let one = try await scene.opened("one")
        let other = try await scene.opened("other")
        for number in 0..<10 {
          try await one.perform("blackbird.note", ["name": .text("n\(number)"), "text": "amber"])
          let found = try await other.found("amber")
          #expect(found.count == number + 1)
        }
        // A write without the model in that process leaves notes, as a foreign one does.
        let plain = try await scene.opened("plain")
        try await plain.execute("UPDATE SearchedNote SET text = 'birch' WHERE name = 'n3'")
        let birch = try await other.found("birch")
        #expect(birch == ["n3"])
        let amber = try await one.found("amber")
        #expect(amber.count == 9)
      }
    }

    @Test func `processes that make the index and write at the same moment agree in the end`()
      async throws
    {
      try await withDatabaseScene { scene in
        var workers: [BlackbirdWorker] = []
        for number in 0..<6 { workers.append(try await scene.opened("writer \(number)")) }
        let resolving = workers.map { ($0, $0.begin("blackbird.index")) }
        var made = 0
        for (worker, id) in resolving {
          if try await worker.end(of: id)["done"]?.int != 0 { made += 1 }
        }
        #expect(made == 1)
        let writing = workers.enumerated().map { number, worker in
          (
            worker,
            worker.begin(
              "blackbird.note", ["name": .text("w\(number)"), "text": "amber", "times": 30])
          )
        }
        for _ in 0..<10 {
          try await scene.shell(
            "REPLACE INTO SearchedNote VALUES ('shell', 'amber'); "
              + "UPDATE SearchedNote SET text = 'amber again' WHERE name = 'w0'")
          _ = try await workers[5].found("amber")
        }
        for (worker, id) in writing { try await worker.end(of: id) }
        for worker in workers {
          let found = try await worker.found("amber")
          #expect(found.count == 181)
        }
        try await scene.shell(
          "INSERT INTO \"SearchedNote+Search\" (\"SearchedNote+Search\") VALUES ('integrity-check')"
        )
        try await scene.expectIntegrity()
      }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a process that is killed while it writes leaves an index that is right`() async throws {
      try await withDatabaseScene { scene in
        let witness = try await scene.opened("witness")
        try await witness.perform("blackbird.index")
        for round in 0..<5 {
          let victim = try await scene.opened("victim")
          victim.begin(
            "blackbird.note", ["name": .text("r\(round)"), "text": "amber", "times": 100_000])
          // As soon as something of it can be seen.
          let before = try await witness.found("amber").count
          while try await witness.found("amber").count == before {}
          victim.child.kill()
          await victim.child.end()
          let found = try await witness.found("amber")
          let rows = try await scene.shell("SELECT count(*) FROM SearchedNote")
          #expect(["\(found.count)"] == rows)
        }
        try await scene.expectIntegrity()
      }
    }
  }
}
