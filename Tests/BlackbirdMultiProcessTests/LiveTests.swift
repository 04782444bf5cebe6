import BoutiqueDB
import ProcessHarness
import Testing

extension BlackbirdProcesses {
  @Suite(.timeLimit(.minutes(2))) struct LiveTests {
    /// Takes values until one is wanted; fails where one goes back.
    private func follow(_ worker: BlackbirdWorker, _ id: Int, until wanted: Int) async throws {
      var last = Int.min
      while last != wanted {
        let sum = try await worker.event("value", of: id)["sum"]?.int ?? Int.min
        #expect(sum > last)
        last = sum
      }
    }

    @Test func `two processes that write and watch end in the same sum`() async throws {
      try await withDatabaseScene { scene in
        let workers = [try await scene.opened("a"), try await scene.opened("b")]
        try await workers[0].write(1)
        let live = workers.map { $0.begin("watched.live") }
        let adding = workers.map { $0.begin("watched.add", ["number": 1, "times": 100]) }
        for (worker, id) in zip(workers, adding) { try await worker.end(of: id) }
        for (worker, id) in zip(workers, live) { try await follow(worker, id, until: 200) }
      }
    }

    @Test func `what the shell writes is shown`() async throws {
      try await withDatabaseScene { scene in
        let a = try await scene.opened("a")
        try await a.write(1)
        let live = a.begin("watched.live")
        try await follow(a, live, until: 0)
        try await scene.shell("UPDATE Watched SET score = 7")
        try await follow(a, live, until: 7)
      }
    }

    @Test func `a process that was stopped shows the truth when it goes on`() async throws {
      try await withDatabaseScene { scene in
        let a = try await scene.opened("a")
        let b = try await scene.opened("b")
        // Who has just written may hold the lease a moment longer, and must not be stopped then.
        try await b.write(1)
        let live = a.begin("watched.live")
        try await follow(a, live, until: 0)
        a.stop()
        try await b.perform("watched.add", ["number": 1, "times": 50])
        try await scene.shell("UPDATE Watched SET score = score + 100")
        a.goOn()
        try await follow(a, live, until: 150)
      }
    }
  }
}
