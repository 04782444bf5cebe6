import Glibc
import ProcessHarness
import Testing

extension MultiProcess {
  /// Writes that share a commit, in processes that are killed or run out of room.
  @Suite struct GroupCommitTests {
    /// Rows of the log that the change log names, and those among them that are not there.
    private static let captured = """
      WITH change AS (
        SELECT c.token, json_extract(e.value, '$[2]') AS id FROM boutiquedb_cdc c, json_each(c.changes) e
          WHERE json_extract(e.value, '$[0]') = 1
          AND json_extract(c.tables, '$[' || json_extract(e.value, '$[1]') || ']') = 'log')
      SELECT count(*), sum(id NOT IN (SELECT rowid FROM log)), (SELECT count(*) FROM log),
        (SELECT count(*) FROM (SELECT 1 FROM change GROUP BY token HAVING count(*) > 1)) FROM change
      """

    @Test func `a process killed amid groups leaves whole ones, and all that it acknowledged`()
      async throws
    {
      var random = SeededGenerator(for: "killed amid groups")
      try await withScene { scene in
        let keeper = try await scene.opened("keeper")
        var acknowledged = 0
        for round in 1...25 {
          let victim = try await scene.opened("victim \(round)", ["logBound": 65_536])
          let flood = victim.begin(
            "flood", ["writer": .text("v\(round)"), "tasks": 24, "sql": Scene.transfer])
          _ = try await victim.event("ack", of: flood)
          usleep(UInt32.random(in: 0...20_000, using: &random))
          victim.child.kill()
          try await victim.child.exit()
          let numbers = victim.events("ack", of: flood).compactMap { $0["number"]?.int }
          acknowledged += numbers.count
          let list = numbers.map(String.init).joined(separator: ",")
          try await keeper.expectIntegers(
            "SELECT count(*) FROM log WHERE writer = 'v\(round)' AND number IN (\(list))",
            [numbers.count])
        }
        let found = try await keeper.integers(Self.captured)
        try #require(found.count == 4)
        #expect(found[0] == found[2], "the change log and the table differ: \(found)")
        #expect(found[1] == 0, "the change log names rows that are not there")
        #expect(found[2] >= acknowledged)
        #expect(found[3] > 0, "nothing was grouped")
        try await keeper.expectIntegers(Scene.invariant, [0, found[2], found[2]])
        try await scene.expectIntegrity()
      }
    }

    /// Starts a transaction that fails in the end, and puts statements in line behind it.
    private func queue(
      _ statements: [String], in worker: WorkerProcess
    ) async throws -> (held: Int, commands: [Int]) {
      let held = worker.begin("hold")
      _ = try await worker.event("holding", of: held)
      var commands: [Int] = []
      for statement in statements {
        commands.append(worker.begin("exec", ["sql": .text(statement)]))
        let bound = ContinuousClock.now + ChildProcess.usualBound
        while try await worker.perform("waiting")["count"]?.int != commands.count {
          try #require(ContinuousClock.now < bound)
        }
      }
      return (held, commands)
    }

    private func release(_ held: Int, in worker: WorkerProcess) async throws {
      worker.begin("release", ["of": .integer(Int64(held)), "throwing": true])
      let error = await #expect(throws: WorkerError.self) { try await worker.end(of: held) }
      #expect(error?.name == "PlannedFailure")
    }

    @Test func `a member for which there is no room takes its group along, and nobody after it`()
      async throws
    {
      try await withScene { scene in
        let worker = try await scene.opened("worker")
        try await worker.perform("limitFileSize", ["bytes": 400_000])
        let insert = { (body: String) in "INSERT INTO note (body) VALUES (\(body))" }
        // Larger than SQLite's cache, so that its pages go to the log before the commit.
        let (held, commands) = try await queue(
          [insert("'one'"), insert("'two'"), insert("hex(zeroblob(3000000))"), insert("'four'")],
          in: worker)
        try await release(held, in: worker)
        for (index, command) in commands.enumerated() {
          if index < 3 {
            let error = await #expect(throws: WorkerError.self) {
              try await worker.end(of: command)
            }
            #expect(
              ["diskFull", "inputOutput"].contains(error?.name),
              "\(index): \(String(describing: error))")
          } else {
            try await worker.end(of: command)
          }
        }
        try await worker.perform("limitFileSize")
        try await worker.execute(insert("'five'"))
        try await worker.expectRows("SELECT body FROM note ORDER BY id", [["four"], ["five"]])
        try await scene.expectIntegrity()
      }
    }

    @Test func `a process killed inside a member leaves nothing of the group`() async throws {
      try await withScene { scene in
        let worker = try await scene.opened("worker")
        let watcher = try await scene.opened("watcher")
        let token = try await watcher.perform("token")["token"] ?? .null
        let (held, commands) = try await queue(
          ["INSERT INTO note (body) VALUES ('one')", "INSERT INTO note (body) VALUES ('two')"],
          in: worker)
        worker.begin(
          "transact", ["sql": ["INSERT INTO note (body) VALUES ('three')"], "end": "crash"])
        let bound = ContinuousClock.now + ChildProcess.usualBound
        while try await worker.perform("waiting")["count"]?.int != 3 {
          try #require(ContinuousClock.now < bound)
        }
        worker.begin("release", ["of": .integer(Int64(held)), "throwing": true])
        #expect(try await worker.child.exit() == .signalled(SIGKILL))
        for command in commands { #expect(worker.events("done", of: command).isEmpty) }
        try await watcher.expectIntegers("SELECT count(*) FROM note", [0])
        #expect(try await watcher.perform("token")["token"] == token)
        try await watcher.execute("INSERT INTO note (body) VALUES ('after')")
        try await scene.expectIntegrity()
      }
    }

    @Test func `members of one group have one token, which others find in the feed once`()
      async throws
    {
      try await withScene { scene in
        let worker = try await scene.opened("worker")
        let watcher = try await scene.opened("watcher")
        let feed = watcher.begin("changes")
        _ = try await watcher.event("following", of: feed)
        let (held, commands) = try await queue(
          (1...5).map { "INSERT INTO note (body) VALUES ('\($0)')" }, in: worker)
        try await release(held, in: worker)
        var tokens: Set<String> = []
        for command in commands {
          tokens.insert(try await worker.end(of: command)["token"]?.string ?? "")
        }
        // A machine that stands still for a quantum may have cut the group in two.
        #expect(tokens.count < 5)
        var rows = 0
        var seen: Set<String> = []
        while rows < 5 {
          let change = try await watcher.event("change", of: feed)
          #expect(change["isEverything"] == false)
          rows += change["rows"]?.int ?? 0
          seen.insert(change["token"]?.string ?? "")
        }
        #expect(rows == 5)
        #expect(seen == tokens)
      }
    }
  }
}
