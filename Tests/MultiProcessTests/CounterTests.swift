import ProcessHarness
import Testing

private let increment: JSONValue = "UPDATE counter SET n = n + 1 WHERE id = 1"

extension MultiProcess {
  /// Nobody's increment is lost and nobody sees an error.
  @Suite struct CounterTests {
    @Test func `eight processes add two thousand each and end at sixteen thousand`() async throws {
      try await withScene { scene in
        var workers: [WorkerProcess] = []
        for number in 1...8 { workers.append(try await scene.opened("adder \(number)")) }
        let watcher = try await scene.opened("watcher")
        let (watch, _) = try await watcher.observe("SELECT n FROM counter")

        let commands = workers.map {
          ($0, $0.begin("increment", ["sql": increment, "times": 2000]))
        }
        for (worker, command) in commands { try await worker.end(of: command) }

        try await scene.expectShell("SELECT n FROM counter", ["16000"])
        let values = try await watcher.values(of: watch) { $0 == [[16_000]] }
        let numbers = values.compactMap { $0.list?.first?.list?.first?.int }
        #expect(numbers == numbers.sorted(), "the watcher saw the counter go back")
        try await scene.expectIntegrity()
      }
    }

    @Test func `processes that write from many tasks lose nothing beside a foreign writer`()
      async throws
    {
      try await withScene { scene in
        var workers: [WorkerProcess] = []
        for number in 1...4 { workers.append(try await scene.opened("adder \(number)")) }
        let python = try await scene.python(
          """
          for i in range(300):
              db.execute("UPDATE counter SET n = n + 1 WHERE id = 1")
          say("done")
          """)
        let commands = workers.map {
          ($0, $0.begin("increment", ["sql": increment, "times": 500, "tasks": 16]))
        }
        for (worker, command) in commands { try await worker.end(of: command) }
        _ = try await python.next("done") { $0.text == "done" }
        try await workers[0].expectIntegers("SELECT n FROM counter", [2300])
        try await scene.expectIntegrity()
      }
    }
  }
}
