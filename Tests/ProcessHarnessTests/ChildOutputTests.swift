import Foundation
import ProcessHarness
import Testing

@Suite struct ChildOutputTests {
  @Test func `lines arrive in order and each waiter takes the one it wants`() async throws {
    try await withChildProcesses { children in
      let shell = try await children.start(
        ChildCommand("sh", ["-c", "printf 'a1\\nb1\\na2\\nb2\\n'"]))
      #expect(try await shell.next("a b line") { $0.text.hasPrefix("b") }.text == "b1")
      #expect(try await shell.next("an a line") { $0.text.hasPrefix("a") }.text == "a1")
      #expect(try await shell.next("an a line") { $0.text.hasPrefix("a") }.text == "a2")
      #expect(try await shell.exit() == .exited(0))
      #expect(shell.takeLines() == ["b2"])
    }
  }

  @Test func `objects are read as JSON and other lines are left as text`() async throws {
    try await withChildProcesses { children in
      let cat = try await children.start(ChildCommand("cat"))
      let message: JSONValue = [
        "event": "value", "rows": [[1, 2.5, "ä\n\"", nil]], "done": true,
        "big": .integer(.max),
      ]
      cat.send("{not json")
      cat.send(try message.line())
      let answer = try await cat.nextMessage("an object") { $0["event"] == "value" }
      #expect(answer == message)
      #expect(cat.takeLines() == ["{not json"])
    }
  }

  @Test func `a last line without a newline is not lost`() async throws {
    try await withChildProcesses { children in
      let shell = try await children.start(ChildCommand("sh", ["-c", "printf 'whole\\nrest'"]))
      try await shell.exit()
      #expect(shell.takeLines() == ["whole", "rest"])
    }
  }

  @Test func `what a dying child wrote is read before its end is told`() async throws {
    try await withChildProcesses { children in
      let shell = try await children.start(
        ChildCommand("sh", ["-c", "seq 1 50000; kill -9 $$"]))
      #expect(try await shell.next("50000") { $0.text == "50000" }.text == "50000")
      #expect(try await shell.exit() == .signalled(9))
      #expect(shell.takeLines().count == 49_999)
    }
  }

  @Test func `a grandchild that holds the pipes does not delay the end`() async throws {
    try await withChildProcesses { children in
      let shell = try await children.start(
        ChildCommand("sh", ["-c", "sleep 1000 & echo $!; exit 3"]))
      #expect(try await shell.exit() == .exited(3))
      let grandchild = try #require(shell.takeLines().first.flatMap { pid_t($0) })
      #expect(kill(grandchild, SIGKILL) == 0)
    }
  }

  @Test func `a child that reads nothing does not block who writes to it`() async throws {
    try await withChildProcesses { children in
      let shell = try await children.start(
        ChildCommand("sh", ["-c", "read first; echo got $first; exec cat >/dev/null"]))
      await shell.stop()
      let long = String(repeating: "x", count: 10_000)
      shell.send("hello")
      for _ in 0..<200 { shell.send(long) }
      shell.resume()
      _ = try await shell.next("the greeting") { $0.text == "got hello" }
      shell.closeInput()
      #expect(try await shell.exit() == .exited(0))
    }
  }

  @Test func `writing to a child that is gone harms nobody`() async throws {
    try await withChildProcesses { children in
      let shell = try await children.start(
        ChildCommand("sh", ["-c", "exec <&-; echo closed; cat"]))
      _ = try await shell.next("closed") { $0.text == "closed" }
      shell.send("into the void")
      try await shell.exit()
      shell.send("into nothing")
    }
  }
}
