import Foundation
import ProcessHarness
import Testing

@Suite struct ChildEndTests {
  @Test func `an exit code and a signal are told apart`() async throws {
    try await withChildProcesses { children in
      let exiting = try await children.start(ChildCommand("sh", ["-c", "exit 42"]))
      let dying = try await children.start(ChildCommand("sh", ["-c", "kill -TERM $$"]))
      #expect(try await exiting.exit() == .exited(42))
      #expect(try await dying.exit() == .signalled(SIGTERM))
    }
  }

  @Test func `kill ends a child that ignores everything else`() async throws {
    try await withChildProcesses { children in
      let shell = try await children.start(
        ChildCommand("sh", ["-c", "trap '' TERM INT HUP; echo up; while :; do sleep 1; done"]))
      _ = try await shell.next("up") { $0.text == "up" }
      shell.signal(SIGTERM)
      shell.kill()
      #expect(try await shell.exit() == .signalled(SIGKILL))
      #expect(!shell.signal(0))
    }
  }

  @Test func `a stopped child stands still until it is resumed`() async throws {
    try await withChildProcesses { children in
      let cat = try await children.start(ChildCommand("cat"))
      await cat.stop()
      #expect(processState(cat.processID) == "T")
      cat.send("now")
      cat.resume()
      #expect(try await cat.next("now") { $0.text == "now" }.text == "now")
    }
  }

  @Test func `stopping a child that is gone returns`() async throws {
    try await withChildProcesses { children in
      let child = try await children.start(ChildCommand("true"))
      try await child.exit()
      await child.stop()
    }
  }

  @Test func `every child is gone after a test that failed`() async throws {
    struct Failed: Error {}
    var pids: [pid_t] = []
    await #expect(throws: Failed.self) {
      try await withChildProcesses { children in
        for _ in 0..<8 { pids.append(try await children.start(ChildCommand("cat")).processID) }
        try await children.start(ChildCommand("cat")).stop()
        throw Failed()
      }
    }
    #expect(pids.count == 8)
    for pid in pids { #expect(processState(pid) == nil, "\(pid) is still there or a zombie") }
  }

  @Test func `every child is gone after a test that was cancelled`() async throws {
    let task = Task {
      try await withChildProcesses { children in
        let cat = try await children.start(ChildCommand("cat"))
        withUnsafeCurrentTask { $0?.cancel() }
        await #expect(throws: CancellationError.self) { try await cat.exit() }
        return cat.processID
      }
    }
    #expect(processState(try await task.value) == nil)
  }

  @Test func `a worker dies with the harness that started it`() async throws {
    try await withChildProcesses { children in
      let harness = try await children.start(built: "boutique-test-worker")
      harness.send(#"{"do":"startWorker","id":1}"#)
      let answer = try await harness.nextMessage("the other's process id") { $0["re"] == 1 }
      let other = try #require(answer["pid"]?.int.flatMap { pid_t(exactly: $0) })
      // A worker also ends when its standard input does; a stopped one cannot.
      try #require(kill(other, SIGSTOP) == 0)
      harness.kill()
      try await harness.exit()
      // Nobody of ours may wait for a grandchild, so its state is asked until it is dead.
      var state = processState(other)
      for _ in 0..<3000 where state != nil && state != "Z" {
        try await Task.sleep(for: .milliseconds(10))
        state = processState(other)
      }
      #expect(state == nil || state == "Z")
      if state == "T" { kill(other, SIGKILL) }
    }
  }
}

/// The state letter of proc(5), or nil when there is no such process.
private func processState(_ pid: pid_t) -> Character? {
  guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
    let parenthesis = stat.lastIndex(of: ")")
  else { return nil }
  return stat[parenthesis...].dropFirst(2).first
}
