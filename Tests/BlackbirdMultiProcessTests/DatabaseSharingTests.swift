import Blackbird
import BoutiqueDB
import ProcessHarness
import Testing

extension BlackbirdProcesses {
  @Suite struct DatabaseSharingTests {
    @Test func `other processes open what this one has open`() async throws {
      try await withDatabaseScene { scene in
        let here = try await Blackbird.Database.open(path: scene.path)
        try await here.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        let there = try await scene.opened("there")
        try await there.execute("INSERT INTO t VALUES (2)")
        let rows = try await here.query("SELECT a FROM t ORDER BY a")
        #expect(rows == [["a": 1], ["a": 2]])
        #expect(throws: Blackbird.Database.Error.self) { try Blackbird.Database(path: scene.path) }
        await here.close()
        let again = try await Blackbird.Database.open(path: scene.path)
        let count = try await again.query("SELECT count(*) AS n FROM t")
        #expect(count == [["n": 2]])
        await again.close()
      }
    }

    @Test func `a database that another process has open is not deleted`() async throws {
      try await withDatabaseScene { scene in
        let there = try await scene.opened("keeper")
        try await there.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        do {
          try Blackbird.Database.delete(atPath: scene.path)
          Issue.record("it was deleted")
        } catch let error as Blackbird.Database.Error {
          #expect("\(error)".contains("pid \(there.processID) “keeper”"), "\(error)")
        }
        let rows = try await there.query("SELECT a FROM t")
        #expect(rows == [["a": 1]])
        try await there.perform("blackbird.close")
        // This process through the engine counts as well.
        let here = try await BoutiqueDB.open(path: scene.path)
        #expect(throws: Blackbird.Database.Error.self) {
          try Blackbird.Database.delete(atPath: scene.path)
        }
        await here.close()
        try Blackbird.Database.delete(atPath: scene.path)
      }
    }

    @Test func `a rollback in one process lets another write at once`() async throws {
      try await withDatabaseScene { scene in
        let one = try await scene.opened("one")
        let other = try await scene.opened("other", ["writeLockTimeout": 15_000])
        try await one.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        for number in 0..<20 {
          try await one.perform("blackbird.rollBack", ["sql": "UPDATE t SET a = 99"])
          try await other.execute("INSERT INTO t VALUES (\(number))")
        }
        // The process that has rolled back is alive, its connection open, and holds nothing.
        try await scene.shell("PRAGMA busy_timeout = 0; INSERT INTO t VALUES (100)")
        let rows = try await one.query("SELECT count(*) AS n, max(a = 99) AS undone FROM t")
        #expect(rows == [["n": 22, "undone": 0]])
        try await scene.expectIntegrity()
      }
    }

    @Test func `sixteen processes make the file and the table at once and lose nothing`()
      async throws
    {
      try await withDatabaseScene { scene in
        var workers: [BlackbirdWorker] = []
        for _ in 0..<16 { workers.append(try await scene.worker()) }
        let openings = workers.map {
          ($0, $0.begin("blackbird.open", ["path": .text(scene.path), "label": "one of 16"]))
        }
        for (worker, id) in openings { try await worker.end(of: id) }
        let makings = workers.map {
          (
            $0,
            $0.begin(
              "blackbird.execute",
              [
                "sql": """
                CREATE TABLE IF NOT EXISTS counter (id INTEGER PRIMARY KEY, n INTEGER);
                INSERT OR IGNORE INTO counter VALUES (1, 0)
                """
              ])
          )
        }
        for (worker, id) in makings { try await worker.end(of: id) }
        let countings = workers.map { ($0, $0.begin("blackbird.count", ["times": 50])) }
        for (worker, id) in countings { try await worker.end(of: id, within: .seconds(60)) }
        let rows = try await workers[0].query("SELECT n FROM counter")
        #expect(rows == [["n": 800]])
        try await scene.expectIntegrity()
      }
    }

    @Test func `an error about a lock names the process that holds it`() async throws {
      try await withDatabaseScene { scene in
        var configuration = BoutiqueConfiguration()
        configuration.writeLockTimeout = .milliseconds(200)
        let here = try await Blackbird.Database.open(path: scene.path, configuration: configuration)
        try await here.execute("CREATE TABLE t (a)")
        let python = try await scene.python(
          """
          db.execute("BEGIN IMMEDIATE")
          say("held")
          sys.stdin.readline()
          """)
        _ = try await python.next("held") { $0.text == "held" }
        do {
          try await here.execute("INSERT INTO t VALUES (1)")
          Issue.record("nothing was thrown")
        } catch Blackbird.Database.Error.queryExecutionError(_, let error) {
          #expect(error.code == 5)
          #expect(error.lockHolder?.pid == python.processID)
          #expect(error.message.contains("\(python.processID)"))
        }
        python.kill()
        await here.close()
      }
    }
  }
}
