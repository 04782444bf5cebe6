import Foundation
import Glibc
import ProcessHarness
import StressHistory
import StressReport
import TestDatabase
import Testing

/// The program as users call it.
@Suite(.aloneInProcess) struct ProgramTests {
  private struct Ending {
    let status: ProcessHarness.ExitStatus
    let output: String
    let errors: String
  }

  private static func program(_ arguments: [String]) async throws -> Ending {
    try await withChildProcesses { children in
      let child = try await children.start(built: "boutique-stress", arguments)
      let status = try await child.exit(within: .seconds(300))
      return Ending(
        status: status, output: child.takeLines().joined(separator: "\n"),
        errors: child.standardError)
    }
  }

  // MARK: Words

  @Test(arguments: [[], ["--help"], ["help"], ["run", "--help"], ["replay", "-h"], ["--version"]])
  func `help is no error`(arguments: [String]) async throws {
    let ending = try await Self.program(arguments)
    #expect(ending.status == .exited(0))
    #expect(ending.output.contains("boutique-stress"))
    #expect(ending.errors.isEmpty)
  }

  @Test(arguments: [
    (["rnu"], "did you mean run?"), (["run", "--worklod=counters"], "did you mean --workload?"),
    (["run", "--workload=conters"], "did you mean counters?"),
    (["run", "--workload=counters", "--faults=pasue"], "did you mean pause?"),
    (["run", "--workload=counters", "--sabotage=nolease"], "did you mean noLease?"),
    (["run", "--workload=counters", "--processes=65"], "from 1 to 64"),
    (["run", "--workload=counters", "--synchronous=of"], "one of normal, full"),
    (["run", "--workload=counters", "--seconds=0"], "more than 0"),
    (["run", "--all", "--workload=counters"], "--all"), (["run"], "--workload"),
    (["replay"], "FILE"), (["report", "a", "b"], "b"), (["list", "--jason"], "--json"),
  ])
  func `what is wrong with a command line is said, with the nearest right word`(
    arguments: [String], hint: String
  ) async throws {
    let ending = try await Self.program(arguments)
    #expect(ending.status == .exited(2))
    #expect(ending.errors.contains(hint), "\(ending.errors)")
    #expect(ending.output.isEmpty)
  }

  @Test(arguments: ["replay", "report"])
  func `a file that cannot be read is no violation`(command: String) async throws {
    let ending = try await Self.program([command, "/nowhere/report.json"])
    #expect(ending.status == .exited(3))
    #expect(ending.errors.contains("/nowhere/report.json"))
  }

  @Test func `the list has every workload, fault, place and sabotage, for people and for programs`()
    async throws
  {
    let text = try await Self.program(["list"])
    let json = try await Self.program(["list", "--json"])
    #expect(text.status == .exited(0))
    let list = try JSONDecoder().decode(JSONValue.self, from: Data(json.output.utf8))
    for kind in ["workloads", "faults", "points", "sabotages"] {
      let entries = try #require(list[kind]?.list)
      #expect(!entries.isEmpty)
      for entry in entries {
        let name = try #require(entry["name"]?.string)
        #expect(entry["summary"]?.string?.isEmpty == false, "\(kind): \(name) has no summary")
        #expect(text.output.contains(name))
      }
    }
  }

  // MARK: Runs

  @Test func `a run tells its figures, writes its files and leaves nothing else behind`()
    async throws
  {
    let place = try TestDirectory()
    let temporary = place.file("temporary")
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
    try await withChildProcesses { children in
      let child = try await children.start(
        built: "boutique-stress",
        [
          "run", "--workload", "counters", "--faults", "kill", "--seconds", "1.5", "--processes",
          "2", "--seed", "4", "--json", place.file("out.json"), "--html", place.file("out.html"),
        ], environment: ["TMPDIR": temporary])
      #expect(try await child.exit(within: .seconds(300)) == .exited(0), "\(child.standardError)")
      #expect(child.takeLines().contains { $0.contains("every promise was kept") })
    }
    let report = try SavedReport.read(place.file("out.json"))
    let run = try #require(report.runs.first)
    #expect(report.runs.count == 1)
    #expect(run.plan.seed == 4)
    #expect(run.plan.processes == 2)
    #expect(run.figures.outcomes.done > 0)
    #expect(Array(run.places.prefix(2)) == [0, 1])
    #expect(run.directory == nil)
    #expect(try String(contentsOfFile: place.file("out.html"), encoding: .utf8).contains("<svg"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
  }

  @Test func `a signal ends a run in order, and what was done is told`() async throws {
    let place = try TestDirectory()
    try await withChildProcesses { children in
      let child = try await children.start(
        built: "boutique-stress",
        [
          "run", "--workload", "counters", "--faults", "none", "--seconds", "86400",
          "--processes", "2", "--keep", place.file("kept"), "--json", place.file("out.json"),
        ])
      // Both workers have written down what they do.
      try await Self.wait("two histories") {
        let run = try? FileManager.default.contentsOfDirectory(atPath: place.file("kept")).first
        let history = run.map { place.file("kept/\($0)/history") }
        let files = history.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0) }
        return files?.count == 2
      }
      child.signal(SIGINT)
      #expect(try await child.exit(within: .seconds(200)) == .exited(128 + SIGINT))
    }
    let run = try #require(try SavedReport.read(place.file("out.json")).runs.first)
    #expect(run.wasInterrupted)
    #expect(run.isClean, "\(run.violations)")
  }

  // MARK: Replay

  @Test func `a recorded violation is found again without any luck`() async throws {
    let place = try TestDirectory()
    let first = try await Self.program([
      "run", "--workload", "counters", "--faults", "none", "--seconds", "1", "--processes", "1",
      "--keep", place.file("kept"),
    ])
    #expect(first.status == .exited(0), "\(first.errors)")
    let name = try #require(
      try FileManager.default.contentsOfDirectory(atPath: place.file("kept")).first)
    let directory = place.file("kept/\(name)")
    let file = directory + "/report.json"

    let clean = try await Self.program(["replay", file, "--tries", "0"])
    #expect(clean.status == .exited(0), "\(clean.output)\(clean.errors)")

    // A process says that it has seen what must not be.
    try HistoryLog(path: directory + "/history/99.jsonl", process: 99)
      .note(.violation, "torn read", "half of a row")
    var report = try SavedReport.read(file)
    report.runs[0].violations = [Violation(check: "torn read", text: "half of a row")]
    try report.write(file)
    let again = try await Self.program(["replay", file, "--tries", "0"])
    #expect(again.status == .exited(1))
    #expect(again.output.contains("recorded: the same (torn read)"), "\(again.output)")

    // Nothing is wrong with the library, so new runs do not find it; the recorded one still counts.
    let runs = try await Self.program(["replay", file, "--tries", "2"])
    #expect(runs.status == .exited(1))
    #expect(runs.output.contains("it did not come back in 2 tries"), "\(runs.output)")

    // Moved elsewhere, and without the history.
    try FileManager.default.removeItem(atPath: directory + "/history")
    let lost = try await Self.program(["replay", file, "--tries", "0"])
    #expect(lost.output.contains("has not been kept"), "\(lost.output)")
  }

  private static func wait(_ awaited: String, until isSo: () -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while !isSo() {
      guard ContinuousClock.now < deadline else {
        Issue.record("waited in vain for \(awaited)")
        return
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}
