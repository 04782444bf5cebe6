import StressHistory

/// The faults of a run: the same for the same seed.
package enum FaultPlan {
  /// Draws faults of the kinds, spread over the time.
  package static func faults(
    of kinds: [FaultKind], seconds: Double, processes: Int, seed: UInt64
  ) -> [FaultEvent] {
    var random = SeededRandom(seed: seed, purpose: "faults")
    var faults: [FaultEvent] = []
    var time = 0.5
    while !kinds.isEmpty, time < seconds - 0.3 {
      let kind = kinds[random.int(0...kinds.count - 1)]
      faults.append(
        FaultEvent(
          kind: kind, time: time, duration: kind == .kill ? 0 : Double(random.int(50...400)) / 1000,
          target: random.int(0...processes - 1), value: random.int(0...1_000_000)))
      time += Double(random.int(100...600)) / 1000
    }
    return faults
  }
}
