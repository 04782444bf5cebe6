import ConvergenceChecker
import Foundation
import ProcessHarness
import TestDatabase
import Testing

/// A check that has never been seen to fail proves nothing.
@Suite struct PlantedFaultTests {
  static let checks: [(Plant, Check)] = [
    (.droppedChange, .feed), (.droppedColumn, .feed), (.repeatedChange, .token),
    (.staleValue, .liveValue), (.backwards, .monotony), (.doubledValue, .repetition),
    (.afterCancellation, .cancellation), (.tornValue, .invariant), (.wrongMoment, .moment),
    (.swallowedWrite, .ledger), (.committedFailure, .ledger), (.damagedFile, .integrity),
    (.wrongOrigin, .origin), (.crash, .error),
  ]

  @Test(arguments: checks)
  func `a planted fault is found`(plant: Plant, check: Check) async throws {
    let directory = try TestDirectory()
    let report = try await ConvergenceRun(
      ScenarioGenerator.specimen(plant: plant), in: directory.file("run"),
      program: try BuiltExecutable.path("boutique-converge"), patience: .milliseconds(500)
    ).run()
    #expect(report.violations.contains { $0.check == check }, "\(report.violations)")
  }

  @Test func `there is a fault for every plant`() {
    #expect(Set(Self.checks.map(\.0)) == Set(Plant.allCases))
    // What is stuck is found after minutes only; its bound is no other code than that of the rest.
    #expect(Set(Self.checks.map(\.1)) == Set(Check.allCases).subtracting([.stuck]))
  }

  @Test func `the program tells a failure and how to see it again`() async throws {
    let directory = try TestDirectory()
    try await withChildProcesses { children in
      let program = try await children.start(
        built: "boutique-converge",
        [
          "--plant", "swallowedWrite", "--keep", directory.file("kept"), "--report",
          directory.file("report.json"),
        ])
      #expect(try await program.exit() == .exited(1))
      let lines = program.takeLines()
      #expect(lines.contains { $0.hasPrefix("  ledger in round 1, library1: library1/5/0") })
      #expect(lines.contains { $0.hasPrefix("again: boutique-converge --script ") })
    }
    let script = try ScriptFile.read(directory.file("kept/0-0/script.jsonl"))
    #expect(script == ScenarioGenerator.specimen(plant: .swallowedWrite))
    #expect(
      try String(contentsOfFile: directory.file("report.json"), encoding: .utf8)
        .contains("\"check\" : \"ledger\""))
  }
}
