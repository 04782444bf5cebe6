import Glibc
import ProcessHarness
import Testing

extension BlackbirdProcesses {
  @Suite struct ModelSchemaTests {
    private let created = 1
    private let migrated = 2

    private func columns(_ scene: DatabaseScene) async throws -> [String] {
      try await scene.shell("SELECT name FROM pragma_table_info('Post')")
    }

    @Test func `sixteen processes that make and evolve a table at once do it once`() async throws {
      try await withDatabaseScene { scene in
        var workers: [BlackbirdWorker] = []
        for number in 0..<16 { workers.append(try await scene.opened("worker \(number)")) }
        for (version, act) in [("old", created), ("new", migrated)] {
          let resolving = workers.map {
            ($0, $0.begin("model.resolve", ["version": .text(version)]))
          }
          var acts: [Int] = []
          for (worker, id) in resolving {
            acts.append(try await worker.end(of: id, within: .seconds(60))["done"]?.int ?? -1)
          }
          #expect(acts.filter { $0 == act }.count == 1, "\(version): \(acts)")
          #expect(acts.filter { $0 == 0 }.count == 15, "\(version): \(acts)")
          let writing = workers.enumerated().map { index, worker in
            (
              worker,
              worker.begin(
                "model.write",
                [
                  "version": .text(version), "number": .integer(Int64(index)),
                  "title": .text("t\(index)"),
                ])
            )
          }
          for (worker, id) in writing { try await worker.end(of: id, within: .seconds(60)) }
        }
        #expect(try await columns(scene) == ["id", "title", "subtitle", "count"])
        let count = try await workers[3].perform("model.count", ["version": "new"])
        #expect(count["count"] == 16)
        try await scene.expectIntegrity()
      }
    }

    // old              new
    // write 0…         .
    // .                add columns and an index
    // write …299       .
    // (starts again)   .
    // resolve: nothing .
    @Test func `an old program goes on writing while a new one adds columns`() async throws {
      try await withDatabaseScene { scene in
        let old = try await scene.opened("old")
        let new = try await scene.opened("new")
        let append = old.begin("model.append", ["version": "old", "from": 0, "count": 300])
        _ = try await old.child.nextMessage("the 50th") { $0["number"] == 50 }
        let done = try await new.perform("model.resolve", ["version": "new"])
        #expect(done["done"]?.int == migrated)
        try await new.perform("model.write", ["version": "new", "number": 1000, "title": "new"])
        try await old.end(of: append, within: .seconds(60))
        let seen = try await new.perform("model.count", ["version": "new"])
        #expect(seen["count"] == 301)
        let rows = try await scene.shell(
          "SELECT count(*), sum(subtitle = ''), sum(count) FROM Post WHERE id < 1000")
        #expect(rows == ["300|300|0"])
        // What the new one wrote beside the old one's columns stays when the old one writes the row.
        try await old.perform("model.write", ["version": "old", "number": 1000, "title": "old"])
        #expect(
          try await scene.shell("SELECT title, subtitle FROM Post WHERE id = 1000")
            == ["old|by the new one"])

        let again = try await scene.opened("old, started again")
        let nothing = try await again.perform("model.resolve", ["version": "old"])
        #expect(nothing["done"] == 0)
        let titles = try await again.perform("model.titles", ["version": "old"])
        #expect(titles["titles"]?.list?.count == 301)
        #expect(try await columns(scene) == ["id", "title", "subtitle", "count"])
        try await scene.expectIntegrity()
      }
    }

    @Test
    func `an old program gets an error when it cannot work with the new table, and writes nothing`()
      async throws
    {
      try await withDatabaseScene { scene in
        let old = try await scene.opened("old")
        let new = try await scene.opened("new")
        let append = old.begin("model.append", ["version": "old", "from": 0, "count": 100_000])
        _ = try await old.child.nextMessage("the 50th") { $0["number"] == 50 }
        let done = try await new.perform("model.resolve", ["version": "retyped"])
        #expect(done["done"]?.int == migrated)
        do {
          try await old.end(of: append, within: .seconds(60))
          Issue.record("it went on")
        } catch let error as BlackbirdWorker.Failure {
          #expect(error.name == "BlackbirdTableError")
          #expect(error.message.contains("has altered the table Post of OldPost"))
        }
        let before = try await scene.shell("SELECT count(*), count(DISTINCT title) FROM Post")
        for verb in ["model.titles", "model.count"] {
          await #expect(throws: BlackbirdWorker.Failure.self, "\(verb)") {
            try await old.perform(verb, ["version": "old"])
          }
        }
        await #expect(throws: BlackbirdWorker.Failure.self) {
          try await old.perform("model.write", ["version": "old", "number": 7, "title": "back"])
        }
        let again = try await scene.opened("old, started again")
        await #expect(throws: BlackbirdWorker.Failure.self) {
          try await again.perform("model.resolve", ["version": "old"])
        }
        #expect(try await scene.shell("SELECT count(*), count(DISTINCT title) FROM Post") == before)
        #expect(try await scene.shell("SELECT DISTINCT typeof(id) FROM Post") == ["text"])
        try await new.perform("model.write", ["version": "retyped", "number": 7, "title": "on"])
        try await scene.expectIntegrity()
      }
    }

    @Test func `a program killed while it alters a table leaves the old one or the new one`()
      async throws
    {
      try await withDatabaseScene { scene in
        let first = try await scene.opened("first")
        try await first.perform("model.resolve", ["version": "old"])
        try await scene.shell(
          """
          INSERT INTO Post WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
          SELECT i, 'title ' || i FROM n
          """)
        for _ in 0..<3 {
          let killed = try await scene.opened("killed")
          killed.begin("model.resolve", ["version": "retyped"])
          kill(killed.processID, SIGKILL)
          _ = try await killed.child.exit()
          let found = try await scene.shell("SELECT count(*), count(DISTINCT typeof(id)) FROM Post")
          #expect(found == ["20000|1"])
        }
        let last = try await scene.opened("last")
        _ = try await last.perform("model.resolve", ["version": "retyped"])
        let found = try await scene.shell(
          "SELECT count(*), min(typeof(id)), max(typeof(id)) FROM Post")
        #expect(found == ["20000|text|text"])
        try await scene.expectIntegrity()
      }
    }

    @Test func `processes that modify the same row add up`() async throws {
      try await withDatabaseScene { scene in
        var workers: [BlackbirdWorker] = []
        for number in 0..<4 { workers.append(try await scene.opened("worker \(number)")) }
        try await workers[0].perform(
          "model.write", ["version": "new", "number": 1, "title": "counted"])
        let adding = workers.map {
          ($0, $0.begin("model.add", ["version": "new", "number": 1, "times": 50]))
        }
        for (worker, id) in adding { try await worker.end(of: id, within: .seconds(60)) }
        let found = try await workers[2].perform("model.counted", ["version": "new", "number": 1])
        #expect(found["count"] == 200)
      }
    }

    @Test func `a table made by the sqlite3 shell in the middle of a run is taken as it is`()
      async throws
    {
      try await withDatabaseScene { scene in
        let worker = try await scene.opened("worker")
        try await scene.shell("CREATE TABLE Post (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
        let nothing = try await worker.perform("model.resolve", ["version": "old"])
        #expect(nothing["done"] == 0)
        try await worker.perform("model.write", ["version": "old", "number": 1, "title": "x"])
        try await scene.shell("ALTER TABLE Post ADD COLUMN byHand TEXT")
        try await worker.perform("model.write", ["version": "old", "number": 2, "title": "y"])
        try await scene.shell("ALTER TABLE Post RENAME COLUMN title TO headline")
        do {
          try await worker.perform("model.write", ["version": "old", "number": 3, "title": "z"])
          Issue.record("it was written")
        } catch let error as BlackbirdWorker.Failure {
          #expect(error.message.contains("no column title any more"), "\(error.message)")
        }
        #expect(try await scene.shell("SELECT count(*) FROM Post") == ["2"])
      }
    }
  }
}
