import ProcessHarness
import Testing

extension Locks {
  @Suite struct ExitStatusTests {
    @Test func `it is 1 only when somebody waits longer than the bound`() async throws {
      try await LockScene.with { scene in
        let holder = try await scene.holding("holder")
        let alone = try await scene.locks("--bound=0", scene.path)
        #expect(alone.status == .exited(0), "a holder in whose way nobody is")
        let waiter = try await scene.opened("waiter")
        waiter.beginWrite()
        try await scene.waitUntilInLine(waiter)
        let early = try await scene.locks("--bound=3600", scene.path)
        #expect(early.status == .exited(0))
        let late = try await scene.locks("--bound=0", scene.path)
        #expect(late.status == .exited(1))
        let json = try await scene.locks("--bound=0", "--json", scene.path)
        #expect(json.whole["exit_status"]?.int == 1)
        #expect(json.whole["bound_seconds"]?.double == 0)
        withExtendedLifetime(holder) {}
      }
    }

    @Test(arguments: [
      ["--json", "--tree"], ["--unknown"], ["--bound", "soon"], ["--probe"],
      ["--probe", "--watch", "x"], ["--interval", "0"],
    ])
    func `a wrong command line is 2`(arguments: [String]) async throws {
      try await LockScene.with { scene in
        let shown = try await scene.finish(
          scene.children.start(built: "boutique-locks", arguments))
        #expect(shown.status == .exited(2))
        #expect(shown.errors.contains("boutique-locks: "))
        #expect(shown.lines.isEmpty)
      }
    }

    @Test func `one that could not be looked at does not hide the others`() async throws {
      try await LockScene.with { scene in
        _ = try await scene.opened("worker")
        let shown = try await scene.locks("--json", scene.file("none.db"), scene.path)
        #expect(shown.status == .exited(2))
        #expect(shown.database["path"]?.string == scene.path)
        #expect(shown.errors.contains("none.db"))
      }
    }
  }

  @Suite struct ProbeTests {
    @Test func `a free lease is had at once and given back`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.opened("worker")
        let shown = try await scene.locks("--probe", "--json", scene.path)
        #expect(shown.status == .exited(0), "\(shown.errors)")
        #expect(shown.whole["outcome"] == "acquired")
        try await worker.perform("exec", ["sql": "INSERT INTO note (body) VALUES ('after')"])
        let database = try await scene.json()
        #expect(database["leftovers"] == [])
      }
    }

    @Test func `a held one is told with its holder`() async throws {
      try await LockScene.with { scene in
        let holder = try await scene.holding("holder")
        let shown = try await scene.locks("--probe", "--bound=0.1", "--json", scene.path)
        #expect(shown.status == .exited(1))
        #expect(shown.whole["outcome"] == "timed_out")
        #expect(shown.whole["holder"]?["pid"]?.int == Int(holder.pid))
      }
    }

    @Test func `no lock file is made for it`() async throws {
      try await LockScene.with { scene in
        _ = try await scene.shell("PRAGMA journal_mode = WAL; CREATE TABLE t (a);")
        let shown = try await scene.locks("--probe", scene.path)
        #expect(shown.status == .exited(2))
        let after = try await scene.json()
        #expect(after["lock_file"]?["condition"] == "missing")
      }
    }
  }
}
