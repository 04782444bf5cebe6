package import FaultPoints
package import StressFaults
package import StressReport

/// How a known bug is found: what has to be run, and which promise must show broken.
///
/// The same plan without the bug must pass, so that what is found is the bug.
package struct SabotageTrial: Sendable, CustomStringConvertible {
  /// The bug.
  package let sabotage: Sabotage
  /// The workload that finds it.
  package let workload: String
  /// The checks of which one must fail.
  package let checks: Set<String>
  package let faults: [FaultKind]
  package let processes: Int
  /// How long one run works.
  package let seconds: Double
  package let seed: UInt64
  /// How many runs, each with the next seed, may pass before the bug counts as not found.
  package let tries: Int
  /// The place at which ``FaultKind/killAtPoint`` kills; any where it does not matter.
  package let point: FaultPoint?

  init(
    _ sabotage: Sabotage, by workload: String, _ checks: Set<String>, faults: [FaultKind] = [],
    point: FaultPoint? = nil, processes: Int = 3, seconds: Double = 3, seed: UInt64 = 1,
    tries: Int = 4
  ) {
    self.sabotage = sabotage
    self.workload = workload
    self.checks = checks
    self.faults = faults
    self.processes = processes
    self.seconds = seconds
    self.seed = seed
    self.tries = tries
    self.point = point
  }

  /// Bug and workload.
  package var description: String { "\(sabotage.rawValue) by \(workload)" }

  /// The plan of a run.
  ///
  /// - Parameters:
  ///   - attempt: which one, from 0.
  ///   - isSabotaged: whether the bug is built in.
  package func plan(attempt: Int = 0, isSabotaged: Bool = true) -> RunPlan {
    RunPlan(
      workload: workload, faults: faults, processes: processes, seconds: seconds,
      seed: seed + UInt64(attempt), sabotage: isSabotaged ? sabotage.rawValue : nil,
      point: point?.rawValue)
  }

  /// One for each bug at least.
  package static let all: [SabotageTrial] = [
    SabotageTrial(.noLease, by: "counters", ["lost update"]),
    SabotageTrial(.noLease, by: "bank", ["total"]),
    SabotageTrial(.noLease, by: "list-append", ["internal", "phantom", "lost append"]),
    SabotageTrial(.noLease, by: "stores", ["lost update"]),
    SabotageTrial(.noLease, by: "live", ["torn value", "lost update"]),
    SabotageTrial(.updatesNotCaptured, by: "live", ["missed change"]),
    SabotageTrial(
      .updatesNotCaptured, by: "convergence", ["liveValue", "feed"], processes: 1, seconds: 2,
      seed: 3, tries: 6),
    // The third process has no inotify: it hears of others by the poll or not at all.
    SabotageTrial(.noPoll, by: "live", ["missed change"]),
    SabotageTrial(
      .earlyAcknowledgement, by: "live", ["own write not seen", "own write not shown"]),
    SabotageTrial(.staleValue, by: "live", ["missed change"]),
    SabotageTrial(.tornRead, by: "live", ["torn value"]),
    SabotageTrial(.tornRead, by: "bank", ["total"]),
    SabotageTrial(.noPruneGuard, by: "feed-mirror", ["pruned too early"]),
    // Killed with the change in hand, when it counts as dealt with already.
    SabotageTrial(
      .earlyCursor, by: "feed-mirror", ["missed change"], faults: [.killAtPoint],
      point: .beforeDelivery, seconds: 5),
    SabotageTrial(.nonAtomicMigration, by: "migrations", ["half a migration"]),
    SabotageTrial(.hastyRotation, by: "secrets", ["lost secret"]),
    SabotageTrial(.undoneWrite, by: "registration", ["lost registration"]),
    SabotageTrial(.undoneWrite, by: "wide-rows", ["lost update"]),
    SabotageTrial(.undoneWrite, by: "crowd", ["lost commit"], processes: 8),
    SabotageTrial(.undoneWrite, by: "scripts", ["script"], processes: 2),
  ]
}
