import BoutiqueDB
import Foundation
import ProcessHarness
import StressFaults
import StressHarness
import StressHistory
import StressReport
import TestDatabase

/// A short run of a workload with real processes, and its check again on what was done to its files.
struct WorkloadRun: Sendable {
  let run: RunContext
  let workload: any Workload
  let result: RunResult

  /// Runs it.
  static func short(
    _ name: String, in directory: TestDirectory, faults: [FaultKind] = [.kill], processes: Int = 3,
    seconds: Double = 3, seed: UInt64 = 1, synchronous: String = "normal"
  ) async throws -> WorkloadRun {
    let run = RunContext(
      plan: RunPlan(
        workload: name, faults: faults, processes: processes, seconds: seconds, seed: seed,
        synchronous: synchronous), directory: directory.file("run"),
      program: try BuiltExecutable.path("boutique-stress"))
    guard let type = Workloads.named(name) else { throw MissingWorkload(name: name) }
    return WorkloadRun(
      run: run, workload: type.init(), result: try await StressRun(run).result())
  }

  /// The names of the promises that were broken.
  var broken: [String] { result.violations.map { "\($0.check): \($0.text)" } }

  /// Checks again, after something was done to the database, or with another history.
  func checks(
    after sql: String? = nil, faults: [FaultRecord] = [],
    _ change: (inout History) -> Void = { _ in }
  ) async throws -> [String] {
    if let sql {
      let db = try await BoutiqueDB.open(path: run.database)
      try await db.write { try $0.executeScript(sql) }
      await db.close()
    }
    var history = result.history
    change(&history)
    var run = run
    run.faults = faults
    return try await workload.check(run, history).map(\.check)
  }
}

struct MissingWorkload: Error {
  let name: String
}
