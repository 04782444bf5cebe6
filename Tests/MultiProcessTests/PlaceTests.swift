import Foundation
import Glibc
import ProcessHarness
import SharedFileCoordination
import Testing

extension MultiProcess {
  /// Ways to the same file, and containers, as other processes see them.
  @Suite struct PlaceTests {
    @Test func `two databases in one directory do not wait for each other`() async throws {
      try await withScene { scene in
        let second = scene.directory + "/app.db2"
        let holder = try await scene.opened("holder")
        let other = try await scene.opened("other", ["path": .text(second)])
        let watcher = try await scene.opened("watcher", ["path": .text(second)])
        let (watch, _) = try await watcher.observe("SELECT body FROM note")
        let held = holder.begin("hold", ["sql": ["INSERT INTO note (body) VALUES ('first')"]])
        _ = try await holder.event("holding", of: held)
        try await other.execute("INSERT INTO note (body) VALUES ('second')")
        try await watcher.expectValue(of: watch, [["second"]])
        try await holder.perform("release", ["of": .integer(Int64(held))])
        try await holder.end(of: held)
        try await scene.expectShell("SELECT body FROM note", ["first"])
        let rows = try await scene.shell("SELECT body FROM note", on: second)
        #expect(rows == ["second"])
      }
    }

    @Test func `through a bind mount it is one database with one line`() async throws {
      guard getuid() == 0 else { return }
      try await withScene { scene in
        let mounted = scene.directory + "/mounted"
        let real = scene.directory + "/real"
        for directory in [mounted, real] { try #require(mkdir(directory, 0o700) == 0) }
        let mount = try await scene.children.start(
          ChildCommand("mount", ["--bind", real, mounted]))
        // A container may not be allowed to.
        guard try await mount.exit() == .exited(0) else { return }
        func unmount() async throws {
          _ = try await scene.children.start(ChildCommand("umount", ["-l", mounted])).exit()
        }
        do {
          let holder = try await scene.opened("holder", ["path": .text(real + "/app.db")])
          let other = try await scene.opened("other", ["path": .text(mounted + "/app.db")])
          let (watch, _) = try await other.observe("SELECT body FROM note ORDER BY id")
          let held = holder.begin("hold", ["sql": ["INSERT INTO note (body) VALUES ('one')"]])
          _ = try await holder.event("holding", of: held)
          let waiting = other.begin("exec", ["sql": "INSERT INTO note (body) VALUES ('two')"])
          let clock = ContinuousClock()
          let bound = clock.now + ChildProcess.usualBound
          while LockReport.of(databasePath: real + "/app.db").waiters.isEmpty, clock.now < bound {
            try await Task.sleep(for: .milliseconds(5))
          }
          try await holder.perform("release", ["of": .integer(Int64(held))])
          try await holder.end(of: held)
          try await other.end(of: waiting)
          _ = try await other.values(of: watch) { $0 == [["one"], ["two"]] }
          for worker in [holder, other] { try await worker.perform("close") }
        } catch {
          try await unmount()
          throw error
        }
        try await unmount()
      }
    }

    /// The pid that such a process calls itself means nothing here, so it must not be looked up.
    @Test func `a holder in another pid namespace is shown as such`() async throws {
      guard getuid() == 0 else { return }
      try await withScene { scene in
        let worker = try await scene.opened("outside", ["lockTimeout": 300])
        let child = try await scene.children.start(
          ChildCommand(
            "unshare",
            [
              "--pid", "--fork", "--kill-child", "--mount-proc",
              // The parent that it would look for has another number there.
              "env", "-u", "PROCESS_HARNESS_PID",
              try BuiltExecutable.path("boutique-test-worker"),
            ]))
        guard let inside = try? await scene.ready(child) else {
          #expect(child.standardError.contains("unshare"), "\(child.standardError)")
          return
        }
        try await scene.open(in: inside, "inside")
        let held = inside.begin("hold")
        _ = try await inside.event("holding", of: held)
        let error = await #expect(throws: WorkerError.self) {
          try await worker.execute("INSERT INTO note (body) VALUES ('x')")
        }
        #expect(error?.holder?["label"] == "inside")
        #expect(error?.holder?["isStopped"] == false)
        #expect(
          error?.message.contains("container") == true
            || error?.message.contains("namespace") == true, "\(error?.message ?? "")")
        let report = LockReport.of(databasePath: scene.path)
        #expect(report.holder?.process?.label == "inside")
        #expect(report.holder?.process?.state == .unknown)
        // Turns go on across the border.
        try await inside.perform("release", ["of": .integer(Int64(held))])
        try await inside.end(of: held)
        try await worker.execute("INSERT INTO note (body) VALUES ('outside')")
        try await inside.execute("INSERT INTO note (body) VALUES ('inside')")
        try await scene.expectShell("SELECT body FROM note ORDER BY id", ["outside", "inside"])
        // And a killed one is seen as gone by its lock, whatever its number.
        await child.end()
        try await worker.execute("INSERT INTO note (body) VALUES ('again')")
      }
    }

    @Test func `the descriptor limit is a typed error and work goes on after it`() async throws {
      try await withScene { scene in
        let worker = try await scene.worker()
        try await worker.perform("limitDescriptors", ["count": 3])
        let error = await #expect(throws: WorkerError.self) {
          try await scene.open(in: worker, "worker")
        }
        #expect(error?.message.contains(scene.path) == true, "\(error?.description ?? "")")
        try await worker.perform("limitDescriptors")
        try await scene.open(in: worker, "worker")
        try await worker.execute("INSERT INTO note (body) VALUES ('one')")
        let (watch, _) = try await worker.observe("SELECT body FROM note ORDER BY id")
        // What is open suffices for what goes on.
        try await worker.perform("limitDescriptors", ["count": 3])
        try await worker.execute("INSERT INTO note (body) VALUES ('two')")
        try await worker.expectValue(of: watch, [["one"], ["two"]])
        let other = try await scene.opened("other")
        try await other.execute("INSERT INTO note (body) VALUES ('three')")
        try await worker.expectValue(of: watch, [["one"], ["two"], ["three"]])
        try await scene.expectIntegrity()
      }
    }

    /// Only the boot clock decides: the wall clock may be set at any moment.
    ///
    /// Setting the clock touches the whole machine, so it happens only where BOUTIQUE_TESTS_MAY_SET_CLOCK
    /// says that it may.
    @Test func `a step of the wall clock changes neither order nor time-outs`() async throws {
      guard getuid() == 0,
        ProcessInfo.processInfo.environment["BOUTIQUE_TESTS_MAY_SET_CLOCK"] != nil
      else { return }
      try await withScene { scene in
        let holder = try await scene.opened("holder")
        let first = try await scene.opened("first", ["lockTimeout": 60_000])
        let second = try await scene.opened("second", ["lockTimeout": 60_000])
        let feed = first.begin("changes")
        _ = try await first.event("following", of: feed)
        let held = holder.begin("hold")
        _ = try await holder.event("holding", of: held)
        func step(_ seconds: Int) {
          var now = timespec()
          clock_gettime(CLOCK_REALTIME, &now)
          now.tv_sec += seconds
          #expect(clock_settime(CLOCK_REALTIME, &now) == 0)
        }
        let one = first.begin("exec", ["sql": "INSERT INTO note (body) VALUES ('first')"])
        try await scene.waitUntilInLine(first)
        step(-7200)
        let two = second.begin("exec", ["sql": "INSERT INTO note (body) VALUES ('second')"])
        try await scene.waitUntilInLine(second)
        step(14_400)
        try await holder.perform("release", ["of": .integer(Int64(held))])
        try await first.end(of: one)
        step(-7200)
        try await second.end(of: two)
        try await scene.expectShell("SELECT body FROM note ORDER BY id", ["first", "second"])
        for _ in 0..<2 { _ = try await first.event("change", of: feed) }
      }
    }
  }
}
