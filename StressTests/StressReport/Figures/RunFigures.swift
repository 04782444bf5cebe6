package import StressFaults
import StressHistory

/// How operations ended, counted.
package struct OutcomeCounts: Codable, Hashable, Sendable {
  package var done = 0
  package var refused = 0
  package var unknown = 0

  /// Counts nothing.
  package init() {}

  /// All of them.
  package var all: Int { done.plus(refused).plus(unknown) }
}

/// What a run's history comes to in numbers.
///
/// Times are in nanoseconds where nothing else is said.
package struct RunFigures: Codable, Sendable {
  /// The part of the run between two moments of the time axis.
  package struct Slot: Codable, Hashable, Sendable {
    /// Operations that ended in it; those that nobody was told of count where they began.
    package var outcomes = OutcomeCounts()
    package var latency = Quantiles()
    package var lockWait = Quantiles()
    package var refresh = Quantiles()
    /// The greatest length of the log that was seen in it, in bytes.
    package var logBytes: Int64?
  }

  /// Three values that stand for a distribution; `nil` when it has none.
  package struct Quantiles: Codable, Hashable, Sendable {
    package var median: Int64?
    package var p99: Int64?
    package var greatest: Int64?

    init(_ histogram: LogHistogram = LogHistogram()) {
      median = histogram.quantile(0.5)
      p99 = histogram.quantile(0.99)
      greatest = histogram.quantile(1)
    }
  }

  /// One kind of operations.
  package struct Kind: Codable, Hashable, Sendable {
    package var name: String
    package var outcomes: OutcomeCounts
    package var latency: Quantiles
  }

  /// One place of the run, with all processes that had it one after the other.
  package struct Place: Codable, Hashable, Sendable {
    /// The place, or the number of the start where places are not known.
    package var number: Int
    /// How many processes had it.
    package var starts: Int
    package var outcomes: OutcomeCounts
    package var lockWait: Quantiles
  }

  /// One kind of faults.
  package struct Faults: Codable, Hashable, Sendable {
    package var kind: FaultKind
    /// How many were tried.
    package var tried: Int
    /// How many of them struck.
    package var struck: Int
  }

  /// A subject of trouble that faults explain, and how often it was met.
  package struct Trouble: Codable, Hashable, Sendable {
    package var subject: String
    package var count: Int
  }

  /// How long the run took, in seconds.
  package var seconds = 0.0
  package var outcomes = OutcomeCounts()
  /// From the question to the answer of operations that were answered.
  package var latency = LogHistogram()
  package var lockWait = LogHistogram()
  package var refresh = LogHistogram()
  /// The greatest length of the log, in bytes.
  package var greatestLog: Int64?
  /// The length of a slot in seconds.
  package var slotSeconds = 1.0
  package var slots: [Slot] = []
  package var kinds: [Kind] = []
  package var places: [Place] = []
  package var faults: [Faults] = []
  package var troubles: [Trouble] = []

  /// Operations that were done in a second, on average.
  package var perSecond: Double { seconds > 0 ? Double(outcomes.done) / seconds : 0 }

  /// How evenly the places got their work done, by Jain's index: 1 when all did as much, 1 divided by their
  /// number when one did everything; `nil` when nothing was done.
  package var fairness: Double? {
    let amounts = places.map { Double($0.outcomes.done) }
    let sum = amounts.reduce(0, +)
    let squares = amounts.reduce(0) { $0 + $1 * $1 }
    return squares > 0 ? sum * sum / (Double(amounts.count) * squares) : nil
  }

  /// The kinds of faults that struck.
  package var struckKinds: [FaultKind] { faults.filter { $0.struck > 0 }.map(\.kind) }

  /// Faults that struck.
  package var struck: Int { faults.reduce(0) { $0.plus($1.struck) } }
}
