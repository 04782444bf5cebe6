import Foundation
import Glibc
import ProcessHarness
import TestDatabase
import Testing

/// The daemons and the command line of `docs/boutique.md`.
@Suite(.timeLimit(.minutes(5))) struct SharedNotesTests {
  /// The programs of one test, which share a home.
  private struct Programs {
    let children: ChildProcesses
    let home: String

    func start(_ arguments: String...) async throws -> ChildProcess {
      try await children.start(
        built: "example-shared-notes", arguments,
        environment: ["XDG_DATA_HOME": home + "/data", "XDG_CONFIG_HOME": home + "/config"])
    }

    /// Runs a command to its end and returns what it printed.
    @discardableResult
    func command(_ arguments: String...) async throws -> [String] {
      let child = try await children.start(
        built: "example-shared-notes", arguments,
        environment: ["XDG_DATA_HOME": home + "/data", "XDG_CONFIG_HOME": home + "/config"])
      let status = try await child.exit(within: .seconds(60))
      #expect(status == .exited(0), "\(arguments): \(child.standardError)")
      return child.takeLines()
    }
  }

  private func withPrograms(_ body: (Programs, TestDirectory) async throws -> Void) async throws {
    let directory = try TestDirectory()
    try await withChildProcesses { children in
      try await body(Programs(children: children, home: directory.path), directory)
    }
  }

  private func expect(_ child: ChildProcess, _ line: String) async throws {
    _ = try await child.next(line, within: .seconds(60)) { $0.text == line }
  }

  @Test func `what one program writes the others say, notes and settings`() async throws {
    try await withPrograms { programs, _ in
      let reporter = try await programs.start("reporter")
      try await expect(reporter, "0 notes")
      let collector = try await programs.start("collector")
      try await expect(collector, "collecting from standard input")
      let by = "(by collector, process \(collector.processID))"
      collector.send("buy milk")
      try await expect(collector, "taken: buy milk")
      try await expect(reporter, "+ buy milk \(by)")

      try await programs.command("pause")
      try await expect(reporter, "settings: paused yes, prefix “”, ignored []")
      // The collector hears of it by itself; it may take a moment.
      var isPaused = false
      for number in 0..<1000 where !isPaused {
        collector.send("line \(number)")
        let answer = try await collector.next("an answer", within: .seconds(60)) { _ in true }
        isPaused = answer.text == "skipped (paused): line \(number)"
      }
      #expect(isPaused)
      try await programs.command("prefix", "! ")
      try await programs.command("ignore", "secret")
      try await programs.command("resume")
      try await expect(reporter, #"settings: paused no, prefix “! ”, ignored ["secret"]"#)

      try await programs.command("replace", "one", "two")
      _ = try await reporter.next("the removal", within: .seconds(60)) {
        $0.text.hasPrefix("- buy milk (by replace, process ")
      }
      _ = try await reporter.next("the insertion", within: .seconds(60)) {
        $0.text.hasPrefix("+ two (by replace, process ")
      }
      collector.send("tell the secret")
      try await expect(collector, "skipped (“secret” is ignored): tell the secret")
      collector.send("buy bread")
      try await expect(reporter, "+ ! buy bread \(by)")
      reporter.signal(SIGTERM)
      #expect(try await reporter.exit(within: .seconds(60)) == .exited(0))
      collector.closeInput()
      #expect(try await collector.exit(within: .seconds(60)) == .exited(0))
    }
  }

  @Test func `a collector that is killed loses nothing and takes nothing twice`() async throws {
    try await withPrograms { programs, directory in
      let inbox = directory.file("inbox")
      try FileManager.default.createDirectory(atPath: inbox, withIntermediateDirectories: true)
      for round in 0..<4 {
        for number in 0..<15 {
          let name = "\(round)-\(number).txt"
          // As a program should that others read from: never half a file.
          try "note \(name)".write(toFile: inbox + "/." + name, atomically: true, encoding: .utf8)
          try FileManager.default.moveItem(atPath: inbox + "/." + name, toPath: inbox + "/" + name)
        }
        let collector = try await programs.start("collector", inbox)
        for _ in 0..<(round * 4) {
          _ = try await collector.next("a note", within: .seconds(60)) {
            $0.text.hasPrefix("taken")
          }
        }
        collector.kill()
        await collector.end()
      }
      let last = try await programs.start("collector", inbox)
      let clock = ContinuousClock()
      let bound = clock.now + .seconds(60)
      while clock.now < bound,
        try FileManager.default.contentsOfDirectory(atPath: inbox).contains(where: {
          $0.hasSuffix(".txt")
        })
      {
        try await Task.sleep(for: .milliseconds(20))
      }
      last.signal(SIGTERM)
      #expect(try await last.exit(within: .seconds(60)) == .exited(0), "\(last.standardError)")
      let texts = try await programs.command("list").map { $0.components(separatedBy: "note ")[1] }
      let expected = (0..<4).flatMap { round in (0..<15).map { "\(round)-\($0).txt" } }
      #expect(texts.sorted() == expected.sorted())
    }
  }

  @Test func `the command line`() async throws {
    try await withPrograms { programs, _ in
      try await programs.command("add", "first", "note")
      try await programs.command("add", "second note")
      let listed = try await programs.command("list")
      #expect(listed.map { $0.dropFirst(9) } == ["first note", "second note"])
      let id = String(try #require(listed.first).prefix(8))
      #expect(try await programs.command("remove", id) == ["1 removed"])
      try await programs.command("replace", "one", "two", "three")
      #expect(
        try await programs.command("list").map { $0.dropFirst(9) } == ["one", "two", "three"])
      let child = try await programs.start("nonsense")
      #expect(try await child.exit(within: .seconds(60)) == .exited(2))
      #expect(child.standardError.contains("usage: example-shared-notes"))
      let database = programs.home + "/data/org.example.shared-notes/notes/data.sqlite3"
      // With its log: that holds what the last process, which just ended, has left there.
      for suffix in ["-wal", "-shm"] { unlink(database + suffix) }
      try String(repeating: "spoiled ", count: 1000)
        .write(toFile: database, atomically: false, encoding: .utf8)
      let reader = try await programs.start("list")
      #expect(try await reader.exit(within: .seconds(60)) == .exited(1))
      #expect(reader.standardError.contains("data.sqlite3"))
    }
  }
}
