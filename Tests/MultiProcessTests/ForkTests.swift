import Glibc
import ProcessHarness
import Testing

extension MultiProcess {
  /// A child made by fork without exec.
  @Suite struct ForkTests {
    @Test func `the child's use is a typed error and the parent goes on`() async throws {
      try await withScene { scene in
        let worker = try await scene.opened("parent")
        let other = try await scene.opened("other")
        let answer = try await worker.perform(
          "fork",
          [
            "sql": ["INSERT INTO note (body) VALUES ('parent')"],
            "childSQL": ["INSERT INTO note (body) VALUES ('child')"],
          ])
        #expect(answer["child"]?["error"] == "usedAcrossFork")
        #expect(answer["child"]?["message"]?.string?.contains(scene.path) == true)
        try await worker.execute("INSERT INTO note (body) VALUES ('after')")
        try await other.execute("INSERT INTO note (body) VALUES ('other')")
        try await scene.expectShell(
          "SELECT body FROM note ORDER BY id", ["parent", "after", "other"])
        try await scene.expectIntegrity()
      }
    }

    @Test func `a child that lives on holds nothing when its parent is killed`() async throws {
      try await withScene { scene in
        let parent = try await scene.opened("parent")
        let other = try await scene.opened("other")
        let held = parent.begin("forkAndHold")
        let event = try await parent.event("holding", of: held)
        let child = try #require(event["child"]?.int.flatMap { pid_t(exactly: $0) })
        parent.child.kill()
        try await parent.child.exit()
        try await other.execute("INSERT INTO note (body) VALUES ('other')")
        try await scene.expectShell("SELECT body FROM note", ["other"])
        #expect(kill(child, SIGKILL) == 0, "the child was to live until now")
      }
    }
  }
}
