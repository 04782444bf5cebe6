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

    /// The child's copy of the lock's descriptor is closed at the fork; so its end releases nothing that
    /// its parent holds.
    @Test(arguments: ["exit", "exec"])
    func `a child that ends or becomes another program releases nothing`(
      child: String
    ) async throws {
      try await withScene { scene in
        let parent = try await scene.opened("parent")
        let other = try await scene.opened("other", ["lockTimeout": 200])
        let held = parent.begin("forkAndHold", ["child": .text(child)])
        let event = try await parent.event("holding", of: held)
        let pid = try #require(event["child"]?.int.flatMap { pid_t(exactly: $0) })
        defer { if child == "exec" { kill(pid, SIGKILL) } }
        let error = await #expect(throws: WorkerError.self) {
          try await other.execute("INSERT INTO note (body) VALUES ('too early')")
        }
        #expect(error?.name == "lockTimeout")
        #expect(error?.holder?["pid"]?.int == Int(parent.processID))
        try await parent.perform("release", ["of": .integer(Int64(held))])
        try await parent.end(of: held)
        try await other.execute("INSERT INTO note (body) VALUES ('other')")
        try await parent.execute("INSERT INTO note (body) VALUES ('parent')")
        try await scene.expectShell("SELECT body FROM note ORDER BY id", ["other", "parent"])
        try await scene.expectIntegrity()
      }
    }

    @Test func `a child that became another program holds nothing when its parent is killed`()
      async throws
    {
      try await withScene { scene in
        let parent = try await scene.opened("parent")
        let other = try await scene.opened("other")
        let held = parent.begin("forkAndHold", ["child": "exec"])
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
