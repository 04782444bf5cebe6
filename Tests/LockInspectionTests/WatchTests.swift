import Glibc
import ProcessHarness
import Testing

extension Locks {
  @Suite struct WatchTests {
    @Test func `a line is written at first and when something has changed`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.opened("worker")
        let watch = try await scene.children.start(
          built: "boutique-locks", ["--watch", "--json", "--interval=0.05", scene.path])
        @Sendable func lease(_ line: OutputLine) -> JSONValue? {
          line.message?["databases"]?.list?.first?["write_lease"]
        }
        _ = try await watch.next("the first look") { lease($0) == nil && $0.message != nil }
        let id = try await worker.hold()
        _ = try await watch.next("the holder") {
          lease($0)?["holder"]?["pid"]?.int == Int(worker.pid)
        }
        try await worker.release(id)
        _ = try await watch.next("the release") { lease($0) == nil && $0.message != nil }
        watch.signal(SIGTERM)
        let status = try await watch.exit()
        #expect(status == .exited(0))
      }
    }

    @Test func `what is not there yet is said, and shown when it comes`() async throws {
      try await LockScene.with { scene in
        let watch = try await scene.children.start(
          built: "boutique-locks", ["--watch", "--interval=0.05", scene.path])
        _ = try await watch.next("that it is missing") { $0.text.hasPrefix("not seen:") }
        let worker = try await scene.opened("has come")
        _ = try await watch.next("the process") {
          $0.text.contains("\(worker.pid)") && $0.text.contains("has come")
        }
        watch.signal(SIGINT)
        let status = try await watch.exit()
        #expect(status == .exited(0))
      }
    }

    @Test(.enabled(if: Tool.script.isThere))
    func `on a terminal it fills the screen and gives it back`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.holding("seen on the screen")
        let program = try BuiltExecutable.path("boutique-locks")
        let terminal = try await scene.children.start(
          ChildCommand(
            "script",
            [
              "-qfec", "stty cols 80 rows 40; exec \(program) -w -i 0.05 \(scene.path)",
              "/dev/null",
            ]))
        let line = try await terminal.next("the holder") { $0.text.contains("pid \(worker.pid)") }
        #expect(line.text.contains("seen on the screen"))
        // Ctrl-C, as the terminal sends it.
        terminal.send("\u{3}")
        let status = try await terminal.exit()
        #expect(status == .exited(0))
        #expect(terminal.takeLines().contains { $0.contains("\u{1B}[?1049l") })
      }
    }
  }
}
