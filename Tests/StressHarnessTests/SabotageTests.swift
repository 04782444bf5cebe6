import FaultPoints
import Foundation
import ProcessHarness
import StressHarness
import StressHistory
import StressReport
import TestDatabase
import Testing

/// A check that has not been seen to fail is not done: every known bug is built in, and must be found.
@Suite(.serialized, .aloneInProcess, .timeLimit(.minutes(20)), .enabled(if: hasFaultPoints))
struct SabotageTests {
  @Test func `every known bug has a trial, of a workload that there is`() {
    #expect(Set(SabotageTrial.all.map(\.sabotage)) == Set(Sabotage.allCases))
    let seen = Set(SabotageTrial.all.map(\.workload))
    #expect(seen.isSuperset(of: ["registration", "wide-rows", "scripts", "crowd"]))
    for trial in SabotageTrial.all { #expect(Workloads.named(trial.workload) != nil, "\(trial)") }
  }

  @Test(arguments: SabotageTrial.all)
  func `a known bug is found`(_ trial: SabotageTrial) async throws {
    var others: [StressHistory.Violation] = []
    for attempt in 0..<trial.tries {
      let found = try await violations(of: trial.plan(attempt: attempt))
      let hits = found.filter { trial.checks.contains($0.check) }
      if !hits.isEmpty {
        // Each shows by which operations, of which process, when.
        if Self.showing.contains(trial.workload) {
          #expect(hits.allSatisfy { $0.operations.count > 1 }, "\(hits.map(\.text).prefix(5))")
        }
        return
      }
      others += found
    }
    Issue.record("\(trial) was not found; what was: \(others.prefix(5).map(\.text))")
  }

  /// Workloads whose processes note what must not be, and with it what they saw.
  private static let showing: Set = ["live", "migrations", "secrets"]

  /// Several trials are the same run but for the bug.
  static let plansWithoutBugs = Array(Set(SabotageTrial.all.map { $0.plan(isSabotaged: false) }))

  @Test(arguments: plansWithoutBugs)
  func `the same run without the bug passes`(_ plan: RunPlan) async throws {
    let found = try await violations(of: plan)
    #expect(found.isEmpty, "\(plan): \(found.prefix(5))")
  }

  private func violations(of plan: RunPlan) async throws -> [StressHistory.Violation] {
    let directory =
      FileManager.default.temporaryDirectory.path + "/sabotage-\(UUID().uuidString.lowercased())"
    let run = RunContext(
      plan: plan, directory: directory, program: try BuiltExecutable.path("boutique-stress"))
    let result = try await StressRun(run).result()
    if result.violations.isEmpty { try FileManager.default.removeItem(atPath: directory) }
    return result.violations
  }
}
