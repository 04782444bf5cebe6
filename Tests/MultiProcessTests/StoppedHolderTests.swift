import ProcessHarness
import Testing

extension MultiProcess {
  /// A process that holds the write lease and stands still is named, and nothing is stolen from it.
  @Suite struct StoppedHolderTests {
    @Test func `others learn who holds the lease and that it is stopped`() async throws {
      try await withScene { scene in
        let holder = try await scene.opened("frozen")
        let other = try await scene.opened("other", ["lockTimeout": 300])
        let patient = try await scene.opened("patient")

        let held = holder.begin("hold", ["sql": ["INSERT INTO note (body) VALUES ('held')"]])
        _ = try await holder.event("holding", of: held)
        await holder.child.stop()
        let waiting = patient.begin("exec", ["sql": "INSERT INTO note (body) VALUES ('patient')"])

        let error = await #expect(throws: WorkerError.self) {
          try await other.execute("INSERT INTO note (body) VALUES ('other')")
        }
        let found = try #require(error)
        #expect(found.name == "lockTimeout")
        #expect(found.holder?["pid"]?.int == Int(holder.processID))
        #expect(found.holder?["label"] == "frozen")
        #expect(found.holder?["isStopped"] == true)
        for part in ["\(holder.processID)", "frozen", "stopped", scene.path] {
          #expect(found.message.contains(part), "\(found.message) does not say \(part)")
        }
        // Reading needs nobody's leave.
        try await other.expectIntegers("SELECT count(*) FROM note", [0])

        holder.child.resume()
        holder.begin("release", ["of": .integer(Int64(held))])
        try await holder.end(of: held)
        try await patient.end(of: waiting)
        try await other.execute("INSERT INTO note (body) VALUES ('again')")
        try await scene.expectShell(
          "SELECT body FROM note ORDER BY body", ["again", "held", "patient"])
      }
    }

    @Test func `a process that opens the file meanwhile can read and observe`() async throws {
      try await withScene { scene in
        let holder = try await scene.opened("frozen")
        try await holder.execute("INSERT INTO note (body) VALUES ('before')")
        let held = holder.begin("hold", ["sql": ["INSERT INTO note (body) VALUES ('held')"]])
        _ = try await holder.event("holding", of: held)
        await holder.child.stop()

        // There is nothing to prepare or migrate, so there is nobody to wait for.
        let late = try await scene.worker()
        let open = late.begin("open", scene.opening("late"))
        try await late.end(of: open, within: .seconds(20))
        let (watch, first) = try await late.observe("SELECT body FROM note ORDER BY id")
        #expect(first == [["before"]])

        holder.child.resume()
        try await holder.perform("release", ["of": .integer(Int64(held))])
        try await holder.end(of: held)
        try await late.expectValue(of: watch, [["before"], ["held"]])
      }
    }

    @Test func `a holder that runs is named and not called stopped`() async throws {
      try await withScene { scene in
        let holder = try await scene.opened("busy")
        let other = try await scene.opened("other", ["lockTimeout": 300])
        let held = holder.begin("hold")
        _ = try await holder.event("holding", of: held)
        let error = await #expect(throws: WorkerError.self) {
          try await other.execute("INSERT INTO note (body) VALUES ('other')")
        }
        #expect(error?.name == "lockTimeout")
        #expect(error?.holder?["pid"]?.int == Int(holder.processID))
        #expect(error?.holder?["label"] == "busy")
        #expect(error?.holder?["isStopped"] == false)
        #expect(error?.message.contains("is stopped") == false)
      }
    }

    @Test func `a foreign writer that keeps its transaction is a typed time-out`() async throws {
      try await withScene { scene in
        let worker = try await scene.opened("worker", ["lockTimeout": 300])
        let python = try await scene.python(
          """
          db.execute("BEGIN IMMEDIATE")
          say("holding")
          sys.stdin.readline()
          db.execute("COMMIT")
          say("free")
          """)
        _ = try await python.next("holding") { $0.text == "holding" }
        let error = await #expect(throws: WorkerError.self) {
          try await worker.execute("INSERT INTO note (body) VALUES ('x')")
        }
        #expect(error?.name == "lockTimeout")
        if let holder = error?.holder {
          #expect(holder["pid"]?.int == Int(python.processID))
          #expect(holder["isForeign"] == true)
        }
        python.send("go")
        _ = try await python.next("free") { $0.text == "free" }
        try await worker.execute("INSERT INTO note (body) VALUES ('y')")
        try await scene.expectShell("SELECT body FROM note", ["y"])
      }
    }

    @Test func `a wait that is cancelled leaves the line`() async throws {
      try await withScene { scene in
        let holder = try await scene.opened("holder")
        let leaver = try await scene.opened("leaver")
        let stayer = try await scene.opened("stayer")
        let held = holder.begin("hold")
        _ = try await holder.event("holding", of: held)
        let left = leaver.begin("exec", ["sql": "INSERT INTO note (body) VALUES ('left')"])
        try await scene.waitUntilInLine(leaver)
        let stayed = stayer.begin("exec", ["sql": "INSERT INTO note (body) VALUES ('stayed')"])
        leaver.begin("cancel", ["of": .integer(Int64(left))])
        let error = await #expect(throws: WorkerError.self) { try await leaver.end(of: left) }
        #expect(error?.name == "cancelled")
        try await holder.perform("release", ["of": .integer(Int64(held))])
        try await holder.end(of: held)
        try await stayer.end(of: stayed)
        try await scene.expectShell("SELECT body FROM note", ["stayed"])
      }
    }
  }
}
