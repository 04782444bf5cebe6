package import StressFaults

/// What a run is made of: the same plan does the same things, though not at the same moments.
package struct RunPlan: Codable, Hashable, Sendable {
  /// The workload's name.
  package var workload: String
  /// The kinds of faults; none is a run without.
  package var faults: [FaultKind]
  /// How many processes work at the same time.
  package var processes: Int
  /// How long they work.
  package var seconds: Double
  package var seed: UInt64
  /// The bug that is built in, for trying the checks.
  package var sabotage: String?
  /// What a commit waits for: `off`, `normal`, `full`, `extra`.
  package var synchronous: String
  /// The named place at which a process is killed; drawn each time when it is not given.
  package var point: String?

  /// Describes a run.
  package init(
    workload: String, faults: [FaultKind] = [], processes: Int = 4, seconds: Double = 5,
    seed: UInt64 = 1, sabotage: String? = nil, synchronous: String = "normal", point: String? = nil
  ) {
    self.workload = workload
    self.faults = faults
    self.processes = processes
    self.seconds = seconds
    self.seed = seed
    self.sabotage = sabotage
    self.synchronous = synchronous
    self.point = point
  }
}
