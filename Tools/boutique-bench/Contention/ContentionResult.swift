import CommandLineSupport

/// What one round of one variant came to; times in nanoseconds.
struct ContentionRound: Codable, Sendable {
  /// Commits of all processes in a second.
  var throughput: Double
  /// The slowest process's time divided by the fastest one's.
  var spread: Double
  /// The longest wait of one write.
  var longestWait: Double
  /// The longest time without a commit of a process that has something to write.
  var longestStall: Double
  /// Processor time of all processes for one write.
  var processorTime: Double
  var waitP50: Double
  var waitP99: Double
  /// How often SQLite gave up waiting for its lock.
  var refusals: Int64
  /// The same three, divided by the baseline's of the same round.
  var throughputRatio = 1.0
  var longestWaitRatio = 1.0
  var longestStallRatio = 1.0

  /// Puts the reports of a round's workers together.
  init(_ reports: [WorkerMessage]) throws {
    let finished = try reports.map { Double(try $0.number("finished")) }
    let waits = Samples(reports.flatMap { $0["waits"] })
    guard let slowest = finished.max(), let fastest = finished.min(), fastest > 0 else {
      throw BenchFailure("a worker reports that it took no time")
    }
    throughput = Double(waits.count) / slowest * 1e9
    spread = slowest / fastest
    longestWait = Double(waits.largest)
    longestStall = Double(try reports.map { try $0.number("stall") }.max() ?? 0)
    processorTime =
      Double(try reports.map { try $0.number("cpu") }.reduce(0, +)) / Double(max(1, waits.count))
    waitP50 = Double(waits.quantile(0.5))
    waitP99 = Double(waits.quantile(0.99))
    refusals = try reports.map { try $0.number("refusals") }.reduce(0, +)
  }

  /// Returns the same figures with their ratios.
  func compared(with baseline: ContentionRound) -> ContentionRound {
    var copy = self
    copy.throughputRatio = throughput / baseline.throughput
    copy.longestWaitRatio = longestWait / max(1, baseline.longestWait)
    copy.longestStallRatio = longestStall / max(1, baseline.longestStall)
    return copy
  }
}

/// What all rounds of one variant with one number of processes came to.
struct ContentionResult: Codable, Sendable {
  let writers: Int
  let variant: ContentionVariant
  let rounds: [ContentionRound]
  /// The middle of each figure over the rounds.
  let median: ContentionRound

  init(writers: Int, variant: ContentionVariant, rounds: [ContentionRound]) {
    self.writers = writers
    self.variant = variant
    self.rounds = rounds
    median = ContentionRound(medianOf: rounds)
  }

  /// The table for people.
  static func table(_ results: [ContentionResult]) -> TextTable {
    var table = TextTable(titles: [
      "writers", "who", "writes/s", "× base", "CPU µs", "slow ÷ fast", "p50 µs", "p99 µs",
      "longest ms",
      "÷ base", "stall ms", "÷ base",
    ])
    for result in results {
      let median = result.median
      table.append([
        .number("\(result.writers)"), .text(result.variant.title), Figure.count(median.throughput),
        Figure.decimal(median.throughputRatio), Figure.microseconds(median.processorTime),
        Figure.decimal(median.spread),
        Figure.microseconds(median.waitP50), Figure.microseconds(median.waitP99),
        Figure.milliseconds(median.longestWait), Figure.decimal(median.longestWaitRatio, digits: 3),
        Figure.milliseconds(median.longestStall),
        Figure.decimal(median.longestStallRatio, digits: 3),
      ])
    }
    return table
  }
}

extension ContentionRound {
  /// Takes the middle of each figure.
  fileprivate init(medianOf rounds: [ContentionRound]) {
    func middle(_ figure: (ContentionRound) -> Double) -> Double { Median.of(rounds.map(figure)) }
    throughput = middle(\.throughput)
    spread = middle(\.spread)
    longestWait = middle(\.longestWait)
    longestStall = middle(\.longestStall)
    processorTime = middle(\.processorTime)
    waitP50 = middle(\.waitP50)
    waitP99 = middle(\.waitP99)
    refusals = rounds.map(\.refusals).reduce(0, +)
    throughputRatio = middle(\.throughputRatio)
    longestWaitRatio = middle(\.longestWaitRatio)
    longestStallRatio = middle(\.longestStallRatio)
  }
}
