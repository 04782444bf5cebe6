package import StressFaults
import StressHistory

/// Divides a span of time among workloads, each of which gets other kinds of faults from round to round.
///
/// A run has few kinds at a time, so that what it finds can be put down to them, and now and then none.
package struct RunRotation: Sendable {
  /// A workload and the kinds of faults that it bears.
  package struct Entry: Sendable {
    let name: String
    let faults: [FaultKind]

    /// Describes a workload.
    package init(name: String, faults: [FaultKind]) {
      self.name = name
      self.faults = faults
    }
  }

  /// Kinds of faults in a run at most.
  static let kindsInRun = 3
  /// What a run takes when the time is long enough for several rounds.
  static let comfortableSeconds = 20.0
  /// A shorter run would do next to nothing.
  static let leastSeconds = 2.0

  /// How often each workload has its turn.
  package let rounds: Int
  /// How long each run works.
  package let seconds: Double

  /// Divides the time.
  package init(entries: Int, seconds: Double, rounds: Int? = nil) {
    let entries = max(1, entries)
    self.rounds =
      rounds ?? max(1, Int((seconds / Double(entries) / Self.comfortableSeconds).rounded(.down)))
    self.seconds = max(Self.leastSeconds, seconds / Double(entries * self.rounds))
  }

  /// The plans, round by round.
  ///
  /// - Parameter change: adds what the plans have in common.
  package func plans(
    of entries: [Entry], seed: UInt64, change: (inout RunPlan) -> Void
  ) -> [RunPlan] {
    (0..<rounds).flatMap { round in
      entries.enumerated().map { index, entry in
        var plan = RunPlan(
          workload: entry.name, faults: Self.faults(of: entry, turn: round + index, seed: seed),
          seconds: seconds, seed: seed &+ UInt64(round))
        // What is promised of power cuts depends on it.
        if (round + index).isMultiple(of: 3) { plan.synchronous = "full" }
        change(&plan)
        return plan
      }
    }
  }

  /// The kinds of one turn: those that the workload bears, in an order that the seed draws, some at a time,
  /// and when they are through, none once.
  private static func faults(of entry: Entry, turn: Int, seed: UInt64) -> [FaultKind] {
    var random = SeededRandom(seed: seed, purpose: entry.name)
    let kinds = entry.faults.shuffled(using: &random)
    let groups = stride(from: 0, to: kinds.count, by: kindsInRun).map {
      Array(kinds[$0..<min($0 + kindsInRun, kinds.count)])
    }
    let turn = turn % (groups.count + 1)
    return turn < groups.count ? groups[turn] : []
  }
}
