import CommandLineSupport
import Foundation
import StressFaults
import StressHarness
import StressHistory
import StressReport

/// The program as users know it.
enum StressProgram {
  static let name = "boutique-stress"

  /// Runs the program and returns its exit status.
  static func run(_ words: [String], program: String) async -> Int32 {
    let directory =
      FileManager.default.temporaryDirectory.path
      + "/boutique-stress-\(UUID().uuidString.lowercased())"
    do {
      let run = RunContext(
        plan: RunPlan(workload: words.first ?? "counters", faults: [.kill, .pause]),
        directory: directory, program: program)
      let result = try await StressRun(run).result { print("\($0)") }
      print("\(result.history.operations.count) operations, \(result.violations)")
      return result.violations.isEmpty ? 0 : 1
    } catch {
      print("\(error)")
      return 2
    }
  }
}
