import Glibc
import ProcessHarness
import Testing

private let plan: JSONValue = [
  ["id": "one", "sql": ["CREATE TABLE a (x INTEGER)", "INSERT INTO a VALUES (1)"]],
  ["id": "two", "sql": ["CREATE TABLE b (x INTEGER)", "INSERT INTO b SELECT x FROM a"]],
  ["id": "three", "sql": ["INSERT INTO b VALUES (3)"]],
]

extension MultiProcess {
  /// Processes that open and migrate a file at the same moment.
  @Suite struct MigrationRaceTests {
    @Test func `sixteen processes that meet on a new file run each migration once`() async throws {
      try await withScene { scene in
        var workers: [WorkerProcess] = []
        for _ in 1...16 { workers.append(try await scene.worker()) }
        for round in 1...50 {
          let path = "\(scene.directory)/round-\(round).db"
          let commands = workers.enumerated().map { number, worker in
            worker.begin(
              "open",
              ["path": .text(path), "label": .text("opener \(number)"), "migrations": plan])
          }
          var ran: [String] = []
          for (worker, command) in zip(workers, commands) {
            try await worker.end(of: command)
            ran += worker.events("migrating", of: command).compactMap { $0["id"]?.string }
          }
          #expect(ran.sorted() == ["one", "three", "two"])
          for worker in workers {
            try await worker.expectRows("SELECT x FROM b ORDER BY x", [[1], [3]])
            try await worker.perform("close")
          }
        }
      }
    }

    @Test func `a migrator that is killed leaves nothing of its migration`() async throws {
      try await withScene { scene in
        var members = plan.list ?? []
        members[1] = ["id": "two", "sql": ["CREATE TABLE b (x INTEGER)"], "crash": true]
        let crashing = JSONValue.list(members)
        let victim = try await scene.worker()
        let open = victim.begin("open", scene.opening("victim", ["migrations": crashing]))
        #expect(try await victim.child.exit() == .signalled(SIGKILL))
        #expect(victim.events("migrating", of: open).map { $0["id"] } == ["one", "two"])

        var commands: [(WorkerProcess, Int)] = []
        for number in 1...4 {
          let worker = try await scene.worker()
          commands.append(
            (worker, worker.begin("open", scene.opening("\(number)", ["migrations": plan]))))
        }
        var ran: [String] = []
        for (worker, command) in commands {
          try await worker.end(of: command)
          ran += worker.events("migrating", of: command).compactMap { $0["id"]?.string }
        }
        #expect(ran.sorted() == ["three", "two"])
        try await scene.expectShell("SELECT x FROM b ORDER BY x", ["1", "3"])
      }
    }

    @Test func `a migrator that is killed while others wait lets one of them go on`() async throws {
      try await withScene { scene in
        let crashing: JSONValue = [["id": "one", "sql": [], "crash": true]]
        let victims = [try await scene.worker(), try await scene.worker()]
        let workers = [try await scene.worker(), try await scene.worker()]
        for victim in victims {
          victim.begin("open", scene.opening("victim", ["migrations": crashing]))
        }
        let commands = workers.map {
          ($0, $0.begin("open", scene.opening("survivor", ["migrations": plan])))
        }
        var ran: [String] = []
        for (worker, command) in commands {
          try await worker.end(of: command)
          ran += worker.events("migrating", of: command).compactMap { $0["id"]?.string }
        }
        #expect(ran.sorted() == ["one", "three", "two"])
        try await scene.expectShell("SELECT x FROM b ORDER BY x", ["1", "3"])
      }
    }

    @Test func `a failing migration leaves the ones before it and says which it was`() async throws
    {
      try await withScene { scene in
        var members = plan.list ?? []
        members[1] = [
          "id": "two", "sql": ["CREATE TABLE b (x INTEGER)", "INSERT INTO nowhere VALUES (1)"],
        ]
        let worker = try await scene.worker()
        let error = await #expect(throws: WorkerError.self) {
          try await scene.open(in: worker, "worker", ["migrations": .list(members)])
        }
        #expect(error?.name == "migrationFailed")
        #expect(error?.message.contains("two") == true)
        #expect(error?.message.contains("nowhere") == true)
        try await scene.expectShell(
          "SELECT name FROM sqlite_schema WHERE name IN ('a', 'b') ORDER BY name", ["a"])
        try await scene.open(in: worker, "worker", ["migrations": plan])
        try await worker.expectRows("SELECT x FROM b ORDER BY x", [[1], [3]])
      }
    }

    @Test func `an older program learns that the file was migrated by a newer one`() async throws {
      try await withScene { scene in
        try await scene.opened("newer", ["migrations": plan]).perform("close")
        let older = try await scene.worker()
        let error = await #expect(throws: WorkerError.self) {
          try await scene.open(
            in: older, "older", ["migrations": .list(Array((plan.list ?? []).prefix(2)))])
        }
        #expect(error?.name == "databaseNewer")
        #expect(error?.message.contains("three") == true)
      }
    }

    @Test func `a changed order is refused`() async throws {
      try await withScene { scene in
        try await scene.opened("first", ["migrations": plan]).perform("close")
        let other = try await scene.worker()
        let error = await #expect(throws: WorkerError.self) {
          try await scene.open(
            in: other, "other", ["migrations": .list((plan.list ?? []).reversed())])
        }
        #expect(error?.name == "migrationOrder")
      }
    }
  }
}
