import StressHistory

/// The faults of a run: the same for the same seed.
package enum FaultPlan {
  /// Draws faults of the kinds, spread over the time.
  ///
  /// Kinds come in rounds, each kind once in a round, so that a short run has seen all of them. Two of one kind
  /// for one process never overlap; of different kinds they do, which is the purpose.
  package static func faults(
    of kinds: [FaultKind], seconds: Double, processes: Int, seed: UInt64
  ) -> [FaultEvent] {
    var random = SeededRandom(seed: seed, purpose: "faults")
    var faults: [FaultEvent] = []
    var round: [FaultKind] = []
    var time = min(0.5, seconds / 4)
    // The kinds whatever the order in which they were named.
    let kinds = FaultKind.allCases.filter(kinds.contains)
    var earliest: [Occupation: Double] = [:]
    while !kinds.isEmpty, time < seconds - 0.3 {
      if round.isEmpty { round = kinds.shuffled(using: &random) }
      let kind = round.removeLast()
      let target = kind.isForOne ? random.int(0...max(0, processes - 1)) : nil
      let range = kind.milliseconds
      let duration = Double(random.int(range)) / 1000
      let event = FaultEvent(
        kind: kind, time: time, duration: min(duration, max(0, seconds - 0.1 - time)),
        target: target, value: random.int(0...1_000_000_000))
      let place = Occupation(kind: kind, target: target)
      if time >= earliest[place] ?? 0 {
        faults.append(event)
        earliest[place] = time + event.duration + 0.05
      }
      // After a power cut everybody is started again, which takes its time.
      let rest = kind == .powerCut ? 0.5 + 0.03 * Double(processes) : 0
      time += rest + Double(random.int(100...600)) / 1000
    }
    return faults
  }

  private struct Occupation: Hashable {
    let kind: FaultKind
    let target: Int?
  }
}

extension FaultKind {
  /// Whether it is for one process; else it is for all.
  var isForOne: Bool {
    switch self {
    case .kill, .killAtPoint, .pause, .fileSizeLimit, .ioError, .shortWrite, .failedSync,
      .processLimit, .descriptorLimit, .inotifyLimit, .inotifyOverflow:
      true
    case .diskFull, .slowDisk, .lockFileTampering, .logTampering, .clockStep, .powerCut: false
    }
  }

  /// How long it lasts at least and at most.
  var milliseconds: ClosedRange<Int> {
    switch self {
    case .kill, .logTampering, .powerCut, .inotifyOverflow: 0...0
    // Until it is there; it ends as soon as it has struck.
    case .killAtPoint: 1000...2000
    case .lockFileTampering: 10...200
    // Syncs come only now and then.
    case .failedSync: 300...1500
    case .inotifyLimit, .processLimit: 200...1000
    case .pause, .diskFull, .fileSizeLimit, .ioError, .shortWrite, .slowDisk, .descriptorLimit,
      .clockStep:
      50...500
    }
  }
}
