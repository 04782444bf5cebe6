import ProcessHarness
import Testing

extension MultiProcess {
  /// Many processes with one database.
  @Suite struct ManyProcessesTests {
    @Test func `seventy processes all write and all see it`() async throws {
      try await withScene { scene in
        var workers: [(WorkerProcess, Int)] = []
        for number in 1...70 {
          let worker = try await scene.opened("process \(number)", ["readers": 1])
          workers.append((worker, try await worker.observe("SELECT n FROM counter").0))
        }
        let commands = workers.map {
          $0.0.begin("exec", ["sql": "UPDATE counter SET n = n + 1"])
        }
        for ((worker, _), command) in zip(workers, commands) { try await worker.end(of: command) }
        for (worker, watch) in workers {
          _ = try await worker.values(of: watch) { $0 == [[70]] }
        }
        try await scene.expectIntegrity()
      }
    }
  }
}
