import Foundation
import ProcessHarness
import Testing

@Suite struct ChildFailureTests {
  @Test func `a failure names the child, what was awaited, its end, lines and errors`() async throws
  {
    try await withChildProcesses { children in
      let shell = try await children.start(
        ChildCommand("sh", ["-c", "echo something else; echo went wrong >&2; exit 7"]))
      let failure = await #expect(throws: ChildFailure.self) {
        try await shell.next("the word ready") { $0.text == "ready" }
      }
      #expect(failure?.reason == .ended(.exited(7)))
      let text = try #require(failure).description
      for part in [
        "process \(shell.processID)", "the word ready", "exited with 7", "something else",
        "went wrong",
      ] {
        #expect(text.contains(part))
      }
    }
  }

  @Test func `a wait ends at its bound and the line may still be had later`() async throws {
    try await withChildProcesses { children in
      let cat = try await children.start(ChildCommand("cat"))
      let bound = Duration.milliseconds(20)
      let failure = await #expect(throws: ChildFailure.self) {
        try await cat.next("late", within: bound) { $0.text == "late" }
      }
      #expect(failure?.reason == .timedOut(bound))
      cat.send("late")
      #expect(try await cat.next("late") { $0.text == "late" }.text == "late")
    }
  }

  @Test func `a wait ends when its task is cancelled`() async throws {
    try await withChildProcesses { children in
      let cat = try await children.start(ChildCommand("cat"))
      for yields in 0..<20 {
        let wait = Task { try await cat.next("nothing") { _ in true } }
        for _ in 0..<yields { await Task.yield() }
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
      }
    }
  }

  @Test func `a program that is not there is a failure that says so`() async throws {
    let failure = await #expect(throws: ChildFailure.self) {
      try await withChildProcesses { children in
        _ = try await children.start(ChildCommand("/no/such/program"))
      }
    }
    #expect(failure?.description.contains("/no/such/program") == true)
    #expect(
      failure?.reason
        == .notStarted(call: "posix_spawnp /no/such/program", code: ENOENT))
  }

  @Test func `sixty-four waits leave the cooperative pool free`() async throws {
    try await withChildProcesses { children in
      let cat = try await children.start(ChildCommand("cat"))
      // The pool is as wide as the machine has cores; were waits to block it, the task that sends
      // what they wait for would never run.
      try await withThrowingTaskGroup { group in
        for number in 0..<64 {
          group.addTask { _ = try await cat.next("\(number)") { $0.text == "\(number)" } }
        }
        group.addTask { for number in 0..<64 { cat.send("\(number)") } }
        try await group.waitForAll()
      }
    }
  }
}
