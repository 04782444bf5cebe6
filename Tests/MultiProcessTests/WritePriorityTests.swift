import ProcessHarness
import SharedFileCoordination
import Testing

extension MultiProcess {
  /// Background writes yield to normal ones of every process, but not for ever.
  @Suite struct WritePriorityTests {
    private func note(_ body: String, background: Bool = false) -> [String: JSONValue] {
      ["sql": .text("INSERT INTO note (body) VALUES ('\(body)')"), "background": .bool(background)]
    }

    private let order = "SELECT body FROM note ORDER BY id"

    private func waitUntilQueued(_ count: Int, in worker: WorkerProcess) async throws {
      let bound = ContinuousClock.now + ChildProcess.usualBound
      while try await worker.perform("waiting")["count"]?.int != count {
        try #require(ContinuousClock.now < bound)
      }
    }

    @Test func `a background write waits behind another process's normal one that came later`()
      async throws
    {
      try await withScene { scene in
        let holder = try await scene.opened("holder")
        let patient = try await scene.opened("patient", ["aging": 3_600_000])
        let normal = try await scene.opened("normal")
        let held = holder.begin("hold")
        _ = try await holder.event("holding", of: held)
        let background = patient.begin("exec", note("background", background: true))
        try await scene.waitUntilInLine(patient)
        let later = normal.begin("exec", note("normal"))
        try await scene.waitUntilInLine(normal)
        let waiters = LockReport.of(databasePath: scene.path).waiters
        #expect(waiters.map { $0.process?.label } == ["normal", "patient"])
        #expect(waiters.map(\.isYielding) == [false, true])
        holder.begin("release", ["of": .integer(Int64(held))])
        try await holder.end(of: held)
        try await normal.end(of: later)
        try await patient.end(of: background)
        try await holder.expectRows(order, [["normal"], ["background"]])
      }
    }

    @Test func `a background write that has aged keeps its place before a normal one`()
      async throws
    {
      try await withScene { scene in
        let holder = try await scene.opened("holder")
        let aged = try await scene.opened("aged", ["aging": 1])
        let normal = try await scene.opened("normal")
        let held = holder.begin("hold")
        _ = try await holder.event("holding", of: held)
        let background = aged.begin("exec", note("background", background: true))
        try await scene.waitUntilInLine(aged)
        let moment = BootClock.now(advancedBy: .milliseconds(10))
        while BootClock.now() < moment { try await Task.sleep(for: .milliseconds(1)) }
        let later = normal.begin("exec", note("normal"))
        try await scene.waitUntilInLine(normal)
        holder.begin("release", ["of": .integer(Int64(held))])
        try await holder.end(of: held)
        try await normal.end(of: later)
        try await aged.end(of: background)
        try await holder.expectRows(order, [["background"], ["normal"]])
      }
    }

    @Test func `a normal write takes its process's background write out of its place in line`()
      async throws
    {
      try await withScene { scene in
        let holder = try await scene.opened("holder")
        let mixed = try await scene.opened("mixed", ["aging": 3_600_000])
        let held = holder.begin("hold")
        _ = try await holder.event("holding", of: held)
        let background = mixed.begin("exec", note("background", background: true))
        try await scene.waitUntilInLine(mixed)
        let normal = mixed.begin("exec", note("normal"))
        let bound = ContinuousClock.now + ChildProcess.usualBound
        while LockReport.of(databasePath: scene.path).waiters.first?.isYielding != false {
          try #require(ContinuousClock.now < bound)
        }
        holder.begin("release", ["of": .integer(Int64(held))])
        try await holder.end(of: held)
        try await mixed.end(of: normal)
        try await mixed.end(of: background)
        try await holder.expectRows(order, [["normal"], ["background"]])
      }
    }

    @Test(arguments: [1, 16])
    func `a process with background writes hands over as soon as a normal one waits anywhere`(
      groupLimit: Int64
    ) async throws {
      try await withScene { scene in
        // A quantum that is never used up: it is the priority that ends the turn.
        let busy = try await scene.opened(
          "busy",
          ["aging": 3_600_000, "quantum": 3_600_000, "groupLimit": .integer(groupLimit)])
        let normal = try await scene.opened("normal")
        let held = busy.begin("hold", ["background": true])
        _ = try await busy.event("holding", of: held)
        let commands = (1...10).map {
          busy.begin("exec", note("background \($0)", background: true))
        }
        try await waitUntilQueued(10, in: busy)
        let other = normal.begin("exec", note("normal"))
        try await scene.waitUntilInLine(normal)
        busy.begin("release", ["of": .integer(Int64(held))])
        try await busy.end(of: held)
        try await normal.end(of: other)
        for command in commands { try await busy.end(of: command) }
        #expect(try await busy.query(order).list?.first == ["normal"])
        try await busy.expectIntegers("SELECT count(*) FROM note", [11])
      }
    }

    @Test func `a background write gets its turn while others write without pause`() async throws {
      try await withScene { scene in
        let patient = try await scene.opened("patient", ["aging": 300])
        var floods: [(WorkerProcess, Int)] = []
        for number in 1...3 {
          let worker = try await scene.opened("flood \(number)")
          let flood = worker.begin("flood", ["writer": .text("w\(number)"), "tasks": 4])
          _ = try await worker.event("ack", of: flood)
          floods.append((worker, flood))
        }
        for number in 1...3 {
          try await patient.perform("exec", note("background \(number)", background: true))
        }
        for (worker, flood) in floods {
          _ = worker.events("ack", of: flood)
          _ = try await worker.event("ack", of: flood)
          try await worker.cancel(flood)
        }
        try await patient.expectIntegers("SELECT count(*) FROM note", [3])
      }
    }
  }
}
