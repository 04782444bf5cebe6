import BoutiqueDB
import ConvergenceChecker
import FaultPoints
import Foundation
package import StressFaults
package import StressHistory
import StressReport

/// The scenarios of `boutique-converge`: random schemas, statements, queries and feeds of several programs,
/// which must agree at every quiet point.
///
/// Each scenario has a database and processes of its own; the processes of the run lead them. So what
/// disturbs the scenario is drawn from its seed, of the kinds that the plan names and a scenario knows.
package struct ConvergenceWorkload: Workload {
  package static let name = "convergence"
  package static let summary =
    "random schemas, writers and observers: at every quiet point all of them agree"
  package static let faults: [FaultKind] = [.kill, .pause, .lockFileTampering]

  /// So many processes of the run, and one scenario at a time for them.
  private static let processesForOne = 4

  package init() {}

  package func prepare(_ run: RunContext) async throws {}

  package func work(_ worker: WorkerContext) async throws {
    // A scenario starts half a dozen processes itself.
    guard worker.place % Self.processesForOne == 0 else {
      while !worker.shouldEnd { try await Task.sleep(for: .milliseconds(50)) }
      return
    }
    ConvergenceRole.pass(worker.run.plan.sabotage)
    var random = worker.random("scenarios")
    while !worker.shouldEnd {
      let scenario = ScenarioGenerator.scenario(
        seed: UInt64(random.int(0...999_999)), options: Self.options(worker.run.plan.faults))
      let place = "\(worker.run.directory)/convergence-\(worker.start)-\(scenario.seed)"
      let record = worker.log.begin("scenario \(scenario.seed)", [])
      let report = try await ConvergenceRun(scenario, in: place, program: worker.run.program).run()
      worker.log.end(record, .done)
      for violation in report.violations {
        worker.log.note(
          .violation, violation.check.rawValue,
          "\(violation.text) (\(violation.process), round \(violation.round + 1) of seed "
            + "\(scenario.seed), kept in \(place))")
      }
      if !report.violations.isEmpty { return }
      try? FileManager.default.removeItem(atPath: place)
    }
  }

  package func check(_ run: RunContext, _ history: History) async throws -> [StressHistory
    .Violation]
  {
    let isDone = history.operations.contains {
      $0.name.hasPrefix("scenario") && $0.outcome == .done
    }
    // All leaders can have been killed each time; without that nothing having been tried is a fault of ours.
    guard !isDone, run.plan.faults.isEmpty else { return [] }
    return [StressHistory.Violation(check: "void", text: "no scenario came to its end")]
  }

  private static func options(_ faults: [FaultKind]) -> ScenarioOptions {
    var options = ScenarioOptions()
    options.rounds = 2
    options.disturbances = [.reopen]
    if faults.contains(.kill) { options.disturbances.insert(.kill) }
    if faults.contains(.pause) { options.disturbances.insert(.stop) }
    if faults.contains(.lockFileTampering) { options.disturbances.insert(.deleteLockFile) }
    return options
  }
}

/// The role of the program as a process of a scenario.
package enum ConvergenceRole {
  /// The first argument of the role.
  package static let option = ConvergenceChecker.WorkerProgram.option

  private static let variable = "BOUTIQUE_STRESS_SABOTAGE"

  /// Plays the role that the arguments after ``option`` say; returns the exit status.
  package static func run(_ arguments: [String]) async -> Int32 {
    let name = ProcessInfo.processInfo.environment[variable]
    if let sabotage = name.flatMap(Sabotage.init) { Sabotage.turnOn(sabotage) }
    return await ConvergenceChecker.WorkerProgram.run(arguments)
  }

  /// Lets the processes that this one starts have the bug, too: a scenario's script knows none.
  static func pass(_ sabotage: String?) {
    if let sabotage { setenv(variable, sabotage, 1) }
  }
}
