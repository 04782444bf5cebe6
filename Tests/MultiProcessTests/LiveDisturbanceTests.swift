import Foundation
import Glibc
import ProcessHarness
import Testing

private let hour: JSONValue = 3_600_000

extension WorkerProcess {
  /// Starts to observe a query through its errors, and waits for the first value.
  func follow(_ sql: String) async throws -> (Int, JSONValue) {
    let id = begin("observe", ["sql": .text(sql), "keep": true])
    return (id, try await value(of: id))
  }
}

extension MultiProcess {
  /// What other processes can do to a live query.
  @Suite struct LiveDisturbanceTests {
    // MARK: The schema

    @Test(arguments: [true, false])
    func `columns and tables that others change are followed`(byShell: Bool) async throws {
      try await withScene { scene in
        let watcher = try await scene.opened("watcher", ["poll": hour])
        let writer = try await scene.opened("writer")
        func run(_ sql: String) async throws {
          if byShell { try await scene.shell(sql) } else { try await writer.execute(sql) }
        }
        try await run("INSERT INTO note VALUES (1, 'one')")
        let (watch, first) = try await watcher.follow("SELECT * FROM note")
        #expect(first == [[1, "one"]])
        let (row, _) = try await watcher.follow("SELECT * FROM note WHERE id = 1")
        try await run("ALTER TABLE note ADD COLUMN c DEFAULT 7")
        for id in [watch, row] { try await watcher.expectValue(of: id, [[1, "one", 7]]) }
        try await run("ALTER TABLE note DROP COLUMN body")
        for id in [watch, row] { try await watcher.expectValue(of: id, [[1, 7]]) }
        try await run("DROP TABLE note")
        for id in [watch, row] {
          let trouble = try await watcher.event("trouble", of: id)
          #expect(trouble["message"]?.string?.contains("no such table") == true)
        }
        try await run("CREATE TABLE note (body TEXT, id INTEGER PRIMARY KEY)")
        for id in [watch, row] { try await watcher.expectValue(of: id, []) }
        try await run("INSERT INTO note VALUES ('back', 1)")
        for id in [watch, row] { try await watcher.expectValue(of: id, [["back", 1]]) }
        // The place of a column is another now; so is that of a change of it.
        try await run("UPDATE note SET body = 'moved'")
        for id in [watch, row] { try await watcher.expectValue(of: id, [["moved", 1]]) }
      }
    }

    @Test func `a view that another process redefines is another region`() async throws {
      try await withScene { scene in
        try await scene.opened("setter").execute("CREATE VIEW v AS SELECT body FROM note WHERE 0")
        let watcher = try await scene.opened("watcher", ["poll": hour])
        let writer = try await scene.opened("writer")
        let (watch, _) = try await watcher.follow("SELECT * FROM v")
        try await scene.shell("DROP VIEW v; CREATE VIEW v AS SELECT n FROM counter WHERE n > 0")
        try await writer.execute("UPDATE counter SET n = 3")
        _ = try await watcher.values(of: watch) { $0 == [[3]] }
      }
    }

    @Test func `a migration by a newer program is followed`() async throws {
      try await withScene { scene in
        let watcher = try await scene.opened("watcher", ["poll": hour])
        try await watcher.execute("INSERT INTO note VALUES (1, 'one')")
        let (watch, _) = try await watcher.follow("SELECT * FROM note")
        let newer = try await scene.worker()
        try await scene.open(
          in: newer, "newer",
          [
            "migrations": .list(
              (Scene.commonSchema.list ?? []) + [
                [
                  "id": "more",
                  "sql": [
                    "CREATE TABLE other (id INTEGER PRIMARY KEY, body TEXT, extra TEXT)",
                    "INSERT INTO other SELECT id, body, 'x' FROM note", "DROP TABLE note",
                    "ALTER TABLE other RENAME TO note",
                  ],
                ]
              ])
          ])
        try await watcher.expectValue(of: watch, [[1, "one", "x"]])
        try await newer.execute("UPDATE note SET extra = 'y'")
        try await watcher.expectValue(of: watch, [[1, "one", "y"]])
      }
    }

    // MARK: The files

    @Test func `after a replaced database live queries go on once it is opened again`() async throws
    {
      try await withScene { scene in
        let watcher = try await scene.opened("watcher", ["poll": 50])
        let (watch, _) = try await watcher.follow("SELECT body FROM note")
        let other = scene.directory + "/other.db"
        try await scene.shell(
          "CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT); INSERT INTO note VALUES (1, 'new')",
          on: other)
        for suffix in ["-wal", "-shm"] { unlink(scene.path + suffix) }
        try #require(rename(other, scene.path) == 0)
        let end = await #expect(throws: WorkerError.self) { try await watcher.end(of: watch) }
        #expect(end?.name == "fileReplaced")
        #expect(end?.message.contains(scene.path) == true)
        try await watcher.perform("close")
        try await scene.open(in: watcher, "watcher", ["migrations": [], "poll": hour])
        let (again, first) = try await watcher.follow("SELECT body FROM note")
        #expect(first == [["new"]])
        try await scene.shell("UPDATE note SET body = 'followed'")
        try await watcher.expectValue(of: again, [["followed"]])
      }
    }

    @Test(arguments: [["", "-wal", "-shm", "-lock"], ["-wal"]])
    func `files that are deleted end a live query with a typed error`(suffixes: [String])
      async throws
    {
      try await withScene { scene in
        let watcher = try await scene.opened("watcher", ["poll": 50])
        let (watch, _) = try await watcher.follow("SELECT count(*) FROM note")
        for suffix in suffixes { unlink(scene.path + suffix) }
        let end = await #expect(throws: WorkerError.self) { try await watcher.end(of: watch) }
        #expect(end?.name == "fileReplaced")
      }
    }

    @Test func `a log that ends and begins anew costs nothing but a look`() async throws {
      try await withScene { scene in
        let watcher = try await scene.opened("watcher", ["poll": hour])
        let writer = try await scene.opened("writer")
        let (watch, _) = try await watcher.follow("SELECT n FROM counter")
        for round in 1...10 {
          try await scene.shell("PRAGMA wal_checkpoint(TRUNCATE)")
          try await writer.execute("UPDATE counter SET n = \(round)")
          try await watcher.expectValue(of: watch, [[.integer(Int64(round))]])
        }
      }
    }

    @Test func `a log that was removed with its last user is found again`() async throws {
      try await withScene { scene in
        let first = try await scene.opened("first")
        try await first.perform("close")
        // The log goes with the last one who closes, whoever that is, and comes with the next.
        try await scene.shell("UPDATE counter SET n = 1")
        #expect(access(scene.path + "-wal", F_OK) != 0)
        let watcher = try await scene.opened("watcher", ["poll": hour])
        let (watch, value) = try await watcher.follow("SELECT n FROM counter")
        #expect(value == [[1]])
        try await scene.shell("UPDATE counter SET n = 2")
        try await watcher.expectValue(of: watch, [[2]])
      }
    }

    // MARK: Standing still

    @Test
    func `an observer that stood still through 100,000 changes and pruning ends at the truth`()
      async throws
    {
      try await withScene { scene in
        let writer = try await scene.opened("writer", ["retention": 50])
        try await writer.execute(
          """
          INSERT INTO note (body) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c \
          WHERE i < 100) SELECT 'x' FROM c
          """)
        let watcher = try await scene.opened("watcher", ["poll": 50])
        let (watch, _) = try await watcher.follow("SELECT count(*), max(body) FROM note")
        let (row, _) = try await watcher.follow("SELECT body FROM note WHERE id = 50")
        await watcher.child.stop()
        try await writer.perform(
          "increment", ["sql": "UPDATE note SET body = body || 1", "times": 1000])
        try await writer.execute("UPDATE note SET body = 'end'")
        let left = try await writer.integers("SELECT count(*) FROM boutiquedb_cdc")
        #expect(left[0] < 500, "nothing was pruned")
        watcher.child.resume()
        _ = try await watcher.values(of: watch) { $0 == [[100, "end"]] }
        _ = try await watcher.values(of: row) { $0 == [["end"]] }
        // And it goes on from there.
        try await writer.execute("UPDATE note SET body = 'on' WHERE id = 50")
        try await watcher.expectValue(of: watch, [[100, "on"]])
        try await watcher.expectValue(of: row, [["on"]])
        #expect(watcher.events("trouble", of: watch).isEmpty)
      }
    }

    /// More events than the kernel keeps for a process that does not fetch them.
    @Test func `an overflow of the kernel's queue loses no change`() async throws {
      try await withScene { scene in
        let watcher = try await scene.opened("watcher", ["poll": hour])
        let (watch, _) = try await watcher.follow("SELECT n FROM counter")
        await watcher.child.stop()
        // Equal events in a row become one, so the two kinds alternate.
        let python = try await scene.python(
          """
          import os
          db.execute("PRAGMA synchronous = OFF")
          for round in range(12000):
              os.utime(sys.argv[1] + "-lock")
              db.execute("UPDATE counter SET n = n + 1")
          say("done")
          """)
        _ = try await python.next("the storm", within: .seconds(60)) { $0.text == "done" }
        watcher.child.resume()
        _ = try await watcher.values(of: watch) { $0 == [[12_000]] }
        try await scene.shell("UPDATE counter SET n = -1")
        try await watcher.expectValue(of: watch, [[-1]])
      }
    }

    // MARK: Many

    @Test func `inserts and deletes from several processes leave the list equal to the table`()
      async throws
    {
      try await withScene { scene in
        let watcher = try await scene.opened("watcher", ["poll": hour])
        let (watch, _) = try await watcher.follow("SELECT id FROM note ORDER BY id")
        var writers: [WorkerProcess] = []
        for name in ["a", "b", "c", "d"] { writers.append(try await scene.opened(name)) }
        var running: [(WorkerProcess, Int)] = []
        for writer in writers {
          running.append(
            (
              writer,
              writer.begin(
                "increment",
                ["sql": "INSERT INTO note (body) VALUES ('x')", "times": 250, "tasks": 10])
            ))
        }
        for (writer, id) in running { try await writer.end(of: id) }
        let all = JSONValue.list((1...1000).map { [.integer(Int64($0))] })
        _ = try await watcher.values(of: watch) { $0 == all }
        running = writers.enumerated().map { index, writer in
          (
            writer,
            writer.begin(
              "increment",
              [
                "sql": .text(
                  """
                  DELETE FROM note WHERE id = (SELECT id FROM note \
                  WHERE id % 8 = \(index * 2) ORDER BY random() LIMIT 1)
                  """), "times": 125,
              ])
          )
        }
        for (writer, id) in running { try await writer.end(of: id) }
        let odd = JSONValue.list((1...1000).filter { $0 % 2 == 1 }.map { [.integer(Int64($0))] })
        _ = try await watcher.values(of: watch) { $0 == odd }
      }
    }

    /// The threads of the library in a process, with how often each has slept.
    private func sleeps(of process: pid_t) throws -> [String: Int] {
      let tasks = "/proc/\(process)/task"
      var result: [String: Int] = [:]
      for id in try FileManager.default.contentsOfDirectory(atPath: tasks) {
        // A thread may end meanwhile.
        guard let name = try? String(contentsOfFile: "\(tasks)/\(id)/comm", encoding: .utf8),
          name.hasPrefix("boutique-"),
          let status = try? String(contentsOfFile: "\(tasks)/\(id)/status", encoding: .utf8)
        else { continue }
        let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
        result[id + name] = line.flatMap { Int($0.split(separator: "\t")[1]) }
      }
      return result
    }

    @Test func `with the last observer gone nothing wakes any more`() async throws {
      try await withScene { scene in
        let watcher = try await scene.opened("watcher", ["poll": 10])
        let ids = try await withThrowingTaskGroup(of: Int.self) { group in
          for number in 0..<50 {
            group.addTask { try await watcher.observe("SELECT \(number), n FROM counter").0 }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        // While somebody observes, the poll wakes a thread: the measure works.
        let busy = try sleeps(of: watcher.processID)
        try await ContinuousClock().sleep(for: .milliseconds(300))
        #expect(try sleeps(of: watcher.processID) != busy)
        for id in ids { try await watcher.cancel(id) }
        // Those who left may still be on their way out; then thirty polls' time without a wake-up.
        var quiet = false
        for _ in 0..<40 where !quiet {
          let before = try sleeps(of: watcher.processID)
          try await ContinuousClock().sleep(for: .milliseconds(300))
          quiet = try sleeps(of: watcher.processID) == before
        }
        #expect(quiet)
        #expect(try sleeps(of: watcher.processID).keys.allSatisfy { !$0.hasSuffix("bell\n") })
        // It is only asleep.
        let (watch, _) = try await watcher.observe("SELECT n FROM counter")
        try await scene.shell("UPDATE counter SET n = 5")
        try await watcher.expectValue(of: watch, [[5]])
      }
    }
  }
}
