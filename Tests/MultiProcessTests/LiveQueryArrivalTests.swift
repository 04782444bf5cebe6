import ProcessHarness
import SharedFileCoordination
import Testing

private let hour: JSONValue = 3_600_000
private let notes = "SELECT id, body FROM note ORDER BY id"

extension MultiProcess {
  /// Who brings a change to a live query.
  ///
  /// A poll interval of an hour leaves the bell alone to do it, since every wait here ends long before.
  @Suite struct LiveQueryArrivalTests {
    @Test func `a local write needs neither the bell nor the poll`() async throws {
      try await withScene { scene in
        let alone = try await scene.opened("alone", ["poll": hour, "inotify": false])
        let (watch, first) = try await alone.observe(notes)
        #expect(first == [])
        try await alone.execute("INSERT INTO note VALUES (1, 'one')")
        try await alone.expectValue(of: watch, [[1, "one"]])
        try await alone.execute("DELETE FROM note")
        try await alone.expectValue(of: watch, [])
      }
    }

    @Test func `another process's write arrives by the bell`() async throws {
      try await withScene { scene in
        let watcher = try await scene.opened("watcher", ["poll": hour])
        // Holds no live query, and neither looks at bells nor polls.
        let writer = try await scene.opened("writer", ["poll": hour, "inotify": false])
        let (watch, first) = try await watcher.observe(notes)
        #expect(first == [])
        for round in 1...50 {
          let rings = LockReport.of(databasePath: scene.path).commitCounter
          try await writer.execute("INSERT OR REPLACE INTO note VALUES (1, 'round \(round)')")
          try await watcher.expectValue(of: watch, [[1, .text("round \(round)")]])
          // The log's own watch could have brought it, too: the bell was rung nonetheless.
          #expect(LockReport.of(databasePath: scene.path).commitCounter == rings + 1)
        }
      }
    }

    @Test func `without inotify another process's write arrives by the poll`() async throws {
      try await withScene { scene in
        let watcher = try await scene.opened("watcher", ["poll": 50, "inotify": false])
        let writer = try await scene.opened("writer")
        let (watch, _) = try await watcher.observe(notes)
        for round in 1...5 {
          try await writer.execute("INSERT OR REPLACE INTO note VALUES (1, 'round \(round)')")
          try await watcher.expectValue(of: watch, [[1, .text("round \(round)")]])
        }
      }
    }

    @Test(arguments: [true, false])
    func `a write by the sqlite3 shell arrives`(byBell: Bool) async throws {
      try await withScene { scene in
        let watcher = try await scene.opened(
          "watcher", byBell ? ["poll": hour] : ["poll": 50, "inotify": false])
        let (watch, _) = try await watcher.observe(notes)
        for round in 1...5 {
          try await scene.shell("INSERT OR REPLACE INTO note VALUES (1, 'round \(round)')")
          try await watcher.expectValue(of: watch, [[1, .text("round \(round)")]])
        }
      }
    }

    @Test(arguments: [true, false])
    func `a write by Python arrives while its connection stays open`(byBell: Bool) async throws {
      try await withScene { scene in
        let watcher = try await scene.opened(
          "watcher", byBell ? ["poll": hour] : ["poll": 50, "inotify": false])
        let (watch, _) = try await watcher.observe(notes)
        let python = try await scene.python(
          """
          for line in sys.stdin:
              db.execute("INSERT OR REPLACE INTO note VALUES (1, ?)", (line.strip(),))
          """)
        for round in 1...20 {
          python.send("round \(round)")
          try await watcher.expectValue(of: watch, [[1, .text("round \(round)")]])
        }
      }
    }

    @Test func `several processes see each other's and foreign writes`() async throws {
      try await withScene { scene in
        var workers: [(WorkerProcess, Int)] = []
        for name in ["a", "b", "c", "d"] {
          let worker = try await scene.opened(name, ["poll": hour])
          workers.append((worker, try await worker.observe("SELECT count(*) FROM note").0))
        }
        var count: Int64 = 0
        for (writer, _) in workers {
          count += 1
          try await writer.execute("INSERT INTO note (body) VALUES ('x')")
          for (reader, watch) in workers {
            try await reader.expectValue(of: watch, [[.integer(count)]])
          }
        }
        try await scene.shell("DELETE FROM note")
        for (reader, watch) in workers { try await reader.expectValue(of: watch, [[0]]) }
      }
    }
  }
}
