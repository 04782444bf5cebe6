import Foundation
import ProcessHarness
import Testing

extension MultiProcess {
  /// What a wait costs and says, and how it ends before its time.
  @Suite struct LongWaitTests {
    /// The processor time that a process has used, in clock ticks (proc(5), `stat`).
    private func ticks(of worker: WorkerProcess) throws -> Int {
      let text = try String(contentsOfFile: "/proc/\(worker.processID)/stat", encoding: .utf8)
      // The name in parentheses may hold spaces.
      let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
      return (Int(fields[12]) ?? 0) + (Int(fields[13]) ?? 0)
    }

    @Test func `a process that waits in line spends no processor time`() async throws {
      try await withScene { scene in
        let holder = try await scene.opened("holder")
        let waiter = try await scene.opened("waiter", ["lockTimeout": 600_000, "longHold": 1000])
        let held = holder.begin("hold")
        _ = try await holder.event("holding", of: held)
        let commands = (1...8).map {
          waiter.begin("exec", ["sql": .text("INSERT INTO note (body) VALUES ('\($0)')")])
        }
        try await scene.waitUntilInLine(waiter)
        let before = try ticks(of: waiter)
        try await Task.sleep(for: .seconds(4))
        let used = try ticks(of: waiter) - before
        let perSecond = sysconf(Int32(_SC_CLK_TCK))
        // A fortieth of the time is far more than looking costs and far less than a poll would.
        #expect(used <= 4 * perSecond / 40, "\(used) ticks")
        holder.begin("release", ["of": .integer(Int64(held))])
        try await holder.end(of: held)
        for command in commands { try await waiter.end(of: command) }
      }
    }

    @Test func `waiting writes are cancelled, the first in line and one behind it`() async throws {
      try await withScene { scene in
        let holder = try await scene.opened("holder")
        let waiter = try await scene.opened("waiter", ["lockTimeout": 600_000])
        let held = holder.begin("hold")
        _ = try await holder.event("holding", of: held)
        let insert = { (body: String) -> [String: JSONValue] in
          ["sql": .text("INSERT INTO note (body) VALUES ('\(body)')")]
        }
        let first = waiter.begin("exec", insert("first"))
        try await scene.waitUntilInLine(waiter)
        let second = waiter.begin("exec", insert("second"))
        let third = waiter.begin("exec", insert("third"))
        let bound = ContinuousClock.now + ChildProcess.usualBound
        while try await waiter.perform("waiting")["count"]?.int != 3 {
          try #require(ContinuousClock.now < bound)
        }
        try await waiter.cancel(second)
        try await waiter.cancel(first)
        // The place in line stays with those that are left.
        try await scene.waitUntilInLine(waiter)
        holder.begin("release", ["of": .integer(Int64(held))])
        try await holder.end(of: held)
        try await waiter.end(of: third)
        try await waiter.expectRows("SELECT body FROM note", [["third"]])
      }
    }

    @Test func `a process that waits tells who holds the lease, and that it is stopped`()
      async throws
    {
      try await withScene { scene in
        let holder = try await scene.opened("frozen")
        let waiter = try await scene.worker()
        let open = waiter.begin(
          "open", scene.opening("waiter", ["lockTimeout": 600_000, "longHold": 200]))
        try await waiter.end(of: open)
        let held = holder.begin("hold")
        _ = try await holder.event("holding", of: held)
        let command = waiter.begin("exec", ["sql": "INSERT INTO note (body) VALUES ('after')"])
        let told = try await waiter.child.nextMessage("a long hold") {
          $0["event"] == "longHold" && $0["isStopped"] == false
        }
        #expect(told["pid"]?.int == Int(holder.processID))
        #expect(told["label"] == "frozen" && told["purpose"] == "write")
        #expect(told["isThisProcess"] == false)
        await holder.child.stop()
        // Told again, now that the span has doubled.
        _ = try await waiter.child.nextMessage("the hold, stopped") {
          $0["event"] == "longHold" && $0["isStopped"] == true
        }
        holder.child.resume()
        holder.begin("release", ["of": .integer(Int64(held))])
        try await holder.end(of: held)
        try await waiter.end(of: command)
      }
    }

    @Test func `a program without this library that holds the lock is told of by its number`()
      async throws
    {
      try await withScene { scene in
        let waiter = try await scene.opened(
          "waiter", ["lockTimeout": 600_000, "longHold": 200])
        let python = try await scene.python(
          """
          db.execute("BEGIN IMMEDIATE")
          say("held")
          sys.stdin.readline()
          db.execute("COMMIT")
          say("done")
          """)
        _ = try await python.next("held") { $0.text == "held" }
        let command = waiter.begin("exec", ["sql": "INSERT INTO note (body) VALUES ('after')"])
        let told = try await waiter.child.nextMessage("a long hold") { $0["event"] == "longHold" }
        #expect(told["pid"]?.int == Int(python.processID))
        #expect(told["isThisProcess"] == false && told["label"] == .null)
        python.send("go on")
        try await waiter.end(of: command)
      }
    }

    @Test func `a write with a deadline gives up behind another process, and not before`()
      async throws
    {
      try await withScene { scene in
        let holder = try await scene.opened("holder")
        let waiter = try await scene.opened("waiter", ["lockTimeout": 100])
        let held = holder.begin("hold")
        _ = try await holder.event("holding", of: held)
        let patient = waiter.begin(
          "exec", ["sql": "INSERT INTO note (body) VALUES ('patient')", "timeout": 600_000])
        try await scene.waitUntilInLine(waiter)
        let error = await #expect(throws: WorkerError.self) {
          try await waiter.perform(
            "exec", ["sql": "INSERT INTO note (body) VALUES ('hasty')", "timeout": 200])
        }
        #expect(error?.name == "lockTimeout")
        #expect(error?.holder?["pid"]?.int == Int(holder.processID))
        holder.begin("release", ["of": .integer(Int64(held))])
        try await holder.end(of: held)
        try await waiter.end(of: patient)
        try await waiter.expectRows("SELECT body FROM note", [["patient"]])
      }
    }
  }
}
