package import StressFaults
package import StressHistory

/// What is kept of a run: all but its history, which may be big and lies beside.
package struct SavedRun: Codable, Sendable {
  package var plan: RunPlan
  /// When the work began and ended, in nanoseconds of the monotonic clock; the times of faults and of
  /// operations count by the same.
  package var began: Int64
  package var ended: Int64
  package var figures: RunFigures
  package var faults: [FaultRecord]
  /// The broken promises with the least part of the history that shows each.
  package var violations: [Violation]
  /// The place of each start.
  package var places: [Int]
  /// The run's directory, with the history, the database and the plan, where it has been kept.
  package var directory: String?
  /// Whether the run was ended before its time.
  package var wasInterrupted: Bool

  /// Keeps the figures of a run and lets go of its history.
  package init(_ result: RunResult, directory: String? = nil, wasInterrupted: Bool = false) {
    plan = result.plan
    began = result.began
    ended = result.ended
    figures = RunFigures(result)
    faults = result.faults
    violations = result.violations
    places = result.places
    self.directory = directory
    self.wasInterrupted = wasInterrupted
  }

  /// Whether every promise was kept.
  package var isClean: Bool { violations.isEmpty }

  /// How a process of the run is called: the number of its start, with its place where it is known.
  package func processName(_ start: Int) -> String {
    places.indices.contains(start)
      ? "process \(start), place \(places[start])" : "process \(start)"
  }
}

extension RunPlan {
  /// The command that does the same again.
  package var command: String {
    var words = ["boutique-stress", "run", "--workload", workload]
    words += ["--faults", faults.isEmpty ? "none" : faults.map(\.rawValue).joined(separator: ",")]
    words += ["--processes", String(processes), "--seconds", Self.text(seconds)]
    words += ["--seed", String(seed), "--synchronous", synchronous]
    if let point { words += ["--point", point] }
    if let sabotage { words += ["--sabotage", sabotage] }
    return words.map(ShellWord.quoted).joined(separator: " ")
  }

  private static func text(_ seconds: Double) -> String {
    seconds == seconds.rounded() && abs(seconds) < 1e15 ? String(Int64(seconds)) : "\(seconds)"
  }
}

/// A word on a command line.
package enum ShellWord {
  /// The word as a shell takes it for one.
  package static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.unicodeScalars.allSatisfy {
        switch $0 {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", "/", ",", "=", ":", "+", "@": true
        default: false
        }
      }
    return isPlain
      ? word
      : "'"
        + word.split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: #"'\''"#) + "'"
  }
}
