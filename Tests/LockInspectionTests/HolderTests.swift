import Glibc
import ProcessHarness
import Testing

extension Locks {
  @Suite struct HolderTests {
    @Test func `an idle database is normal, with its processes named`() async throws {
      try await LockScene.with { scene in
        let first = try await scene.opened("first")
        let second = try await scene.opened("second")
        let shown = try await scene.locks("--json", scene.path)
        #expect(shown.status == .exited(0))
        let database = shown.database
        #expect(database["write_lease"] == nil)
        #expect(database["queue"] == [])
        #expect(database.findings.isEmpty, "\(database.findings)")
        for (worker, label) in [(first, "first"), (second, "second")] {
          let process = try #require(database.process(worker.pid))
          #expect(process["label"] == .text(label))
          #expect(process["role"] == "member")
          #expect(process["state"] == "sleeping" || process["state"] == "running")
          #expect(process["command"]?.string?.hasSuffix("boutique-test-worker") == true)
          #expect(process["user_id"]?.int == Int(geteuid()))
          #expect((process["open_for_seconds"]?.double ?? -1) > 0)
          #expect(process["files"] == ["database", "log", "index", "lock_file"])
          #expect(database.sqliteLocks(of: worker.pid) == ["attached", "shared"])
        }
        let text = try await scene.locks(scene.path)
        #expect(text.lines.first == scene.path)
        #expect(text.text.contains("normal, 2 processes have it open"))
      }
    }

    @Test func `a holder is named with what it holds and since when`() async throws {
      try await LockScene.with { scene in
        let holder = try await scene.holding("the holder")
        let shown = try await scene.locks("--json", scene.path)
        #expect(shown.status == .exited(0))
        let lease = try #require(shown.database["write_lease"])
        #expect(lease["holder"]?["pid"]?.int == Int(holder.pid))
        #expect(lease["holder"]?["label"] == "the holder")
        #expect((lease["held_for_seconds"]?.double ?? -1) > 0)
        #expect(lease["purpose"]?.string?.isEmpty == false)
        #expect(
          shown.database.sqliteLocks(of: holder.pid).isSuperset(of: ["write", "attached"]))
        let explanation = try await scene.locks("--explain", scene.path).text
        #expect(explanation.contains("Nothing is wrong"), "\(explanation)")
      }
    }

    @Test func `two waiters are shown in their places with their times`() async throws {
      try await LockScene.with { scene in
        let holder = try await scene.holding("holder")
        let first = try await scene.opened("first")
        let second = try await scene.opened("second")
        first.beginWrite()
        try await scene.waitUntilInLine(first)
        second.beginWrite()
        try await scene.waitUntilInLine(second)
        let queue = try await scene.json()["queue"]?.list ?? []
        #expect(queue.map { $0["place"]?.int } == [1, 2])
        #expect(
          queue.map { $0["process"]?["pid"]?.int } == [Int(first.pid), Int(second.pid)])
        let times = queue.compactMap { $0["waiting_for_seconds"]?.double }
        #expect(times.count == 2 && times[0] > times[1] && times[1] > 0, "\(times)")

        let tree = try await scene.locks("--tree", scene.path).lines
        #expect(tree.count == 3)
        #expect(tree.first?.hasPrefix("pid \(holder.pid) “holder”: has the write lease") == true)
        #expect(tree.dropFirst().first?.hasPrefix("├─ pid \(first.pid) “first” waits") == true)
        #expect(tree.last?.hasPrefix("└─ pid \(second.pid) “second” waits") == true)
      }
    }

    @Test func `every line for people fits 80 columns`() async throws {
      try await LockScene.with { scene in
        let long = "a label that is as long as the lock file has room for, sixty-four."
        let holder = try await scene.holding(long)
        let reader = try await scene.shell("BEGIN; SELECT count(*) FROM note;")
        let waiter = try await scene.opened(long)
        waiter.beginWrite()
        try await scene.waitUntilInLine(waiter)
        await holder.child.stop()
        for options in [[], ["--explain"], ["--tree"]] {
          let shown = try await scene.finish(
            scene.children.start(
              built: "boutique-locks", options + [scene.path], environment: ["COLUMNS": "80"]))
          #expect(shown.lines.count > 1)
          for line in shown.lines { #expect(line.count <= 80, "\(line)") }
        }
        #expect(reader.signal(0))
      }
    }

    @Test func `a stopped holder is called stopped, and the remedy is told`() async throws {
      try await LockScene.with { scene in
        let holder = try await scene.holding("holder")
        let waiter = try await scene.opened("waiter")
        waiter.beginWrite()
        try await scene.waitUntilInLine(waiter)
        await holder.child.stop()
        let shown = try await scene.locks("--json", scene.path)
        #expect(shown.database["write_lease"]?["holder"]?["state"] == "stopped")
        #expect(shown.database.findings.first == "stopped_holder")
        let explanation = try await scene.locks("--explain", scene.path).text
          .replacing("\n", with: " ")
        #expect(explanation.contains("is stopped"), "\(explanation)")
        #expect(explanation.contains("kill -CONT \(holder.pid)"), "\(explanation)")
      }
    }

    @Test func `a killed holder is a leftover, and the waiter has the lease`() async throws {
      try await LockScene.with { scene in
        let holder = try await scene.holding("the dead")
        let waiter = try await scene.opened("waiter")
        let id = waiter.beginWrite()
        try await scene.waitUntilInLine(waiter)
        let dead = holder.pid
        await holder.child.end()
        try await waiter.event("done", of: id)
        let database = try await scene.json()
        #expect(database["write_lease"] == nil)
        #expect(database.process(dead) == nil)
        let leftover = try #require(database["leftovers"]?.list?.first)
        #expect(leftover["process"]?["pid"]?.int == Int(dead))
        #expect(leftover["process"]?["state"] == "gone")
        #expect(database.findings == ["leftovers"])
      }
    }

    @Test func `a process that closed in order leaves nothing behind`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.opened("tidy")
        try await worker.perform("close")
        let database = try await scene.json()
        #expect(database["leftovers"] == [])
        #expect(database["processes"] == [])
        #expect(database["lock_file"]?["condition"] == "good")
      }
    }

    @Test func `a child made by fork in a holder is shown as sharing the lease`() async throws {
      try await LockScene.with { scene in
        let holder = try await scene.opened("parent")
        let event = try await holder.event("holding", of: holder.begin("forkAndHold"))
        let child = pid_t(try #require(event["child"]?.int))
        defer { kill(child, SIGKILL) }
        let database = try await scene.json()
        #expect(database["write_lease"]?["holder"]?["pid"]?.int == Int(holder.pid))
        // The library's handler gives the child's copy of the lock file up; SQLite's files stay open there.
        let process = try #require(database.process(child))
        #expect(process["parent_pid"]?.int == Int(holder.pid))
        #expect(process["role"] == "foreign")
      }
    }
  }
}
