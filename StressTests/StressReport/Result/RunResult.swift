package import StressFaults
package import StressHistory

/// What came of a run.
package struct RunResult: Codable, Sendable {
  package var plan: RunPlan
  /// When the work began and ended, in nanoseconds of the monotonic clock.
  package var began: Int64
  package var ended: Int64
  /// The faults as they happened.
  package var faults: [FaultRecord]
  /// The broken promises; none when all went well.
  package var violations: [Violation]
  /// Everything the processes did.
  package var history: History
  /// The place of each start, by its number; empty where it is not known.
  package var places: [Int]

  /// Describes what came of a run.
  package init(
    plan: RunPlan, began: Int64, ended: Int64, faults: [FaultRecord], violations: [Violation],
    history: History, places: [Int] = []
  ) {
    self.plan = plan
    self.began = began
    self.ended = ended
    self.faults = faults
    self.violations = violations
    self.history = history
    self.places = places
  }
}
