import CommandLineSupport

/// What all rounds with one number of live queries came to; each list has a number for each round,
/// times in nanoseconds.
struct LiveResult: Codable, Sendable {
  let queries: Int
  /// From the UPDATE to the value, the writer being the same process.
  private(set) var ownP50: [Double] = []
  private(set) var ownP99: [Double] = []
  /// How long those writes took for their caller.
  private(set) var writeP50: [Double] = []
  /// From the UPDATE to the value, the writer being another process.
  private(set) var otherP50: [Double] = []
  private(set) var otherP99: [Double] = []
  /// Commits of the storm in a second.
  private(set) var stormCommitsPerSecond: [Double] = []
  /// How often queries ran during the storm.
  private(set) var stormRuns: [Double] = []
  /// How many values they delivered.
  private(set) var stormValues: [Double] = []
  /// Processor time of the observer.
  private(set) var stormProcessorTime: [Double] = []
  /// Bytes of memory before the storm, and the most during it.
  private(set) var memoryBefore: [Double] = []
  private(set) var memoryPeak: [Double] = []
  /// From the storm's end until the last commit was seen.
  private(set) var settled: [Double] = []

  init(queries: Int) { self.queries = queries }

  mutating func add(own report: WorkerMessage) {
    let latencies = Samples(report["latencies"])
    ownP50.append(Double(latencies.quantile(0.5)))
    ownP99.append(Double(latencies.quantile(0.99)))
    writeP50.append(Double(Samples(report["writes"]).quantile(0.5)))
  }

  mutating func add(other report: WorkerMessage) {
    let latencies = Samples(report["latencies"])
    otherP50.append(Double(latencies.quantile(0.5)))
    otherP99.append(Double(latencies.quantile(0.99)))
  }

  mutating func add(storm: WorkerMessage, seenBy observer: WorkerMessage) throws {
    let seconds = Double(max(1, try storm.number("elapsed"))) / 1e9
    stormCommitsPerSecond.append(Double(try storm.number("commits")) / seconds)
    stormRuns.append(Double(try observer.number("runs")))
    stormValues.append(Double(try observer.number("values")))
    stormProcessorTime.append(Double(try observer.number("cpu")))
    memoryBefore.append(Double(observer["memory"].first ?? 0))
    memoryPeak.append(Double(observer["memory"].last ?? 0))
    settled.append(Double(try observer.number("settled")))
  }

  /// Single commits, for people.
  static func latencyTable(_ results: [LiveResult]) -> TextTable {
    var table = TextTable(titles: [
      "queries", "own p50 µs", "own p99 µs", "its write p50 µs", "other p50 µs", "other p99 µs",
    ])
    for result in results {
      table.append(
        [.number("\(result.queries)")]
          + [result.ownP50, result.ownP99, result.writeP50, result.otherP50, result.otherP99]
          .map { Figure.microseconds(Median.of($0)) })
    }
    return table
  }

  /// Storms, for people.
  static func stormTable(_ results: [LiveResult]) -> TextTable {
    var table = TextTable(titles: [
      "queries", "commits/s", "runs", "values", "observer CPU ms", "MB before", "MB peak",
      "settled ms",
    ])
    for result in results {
      table.append([
        .number("\(result.queries)"), Figure.count(Median.of(result.stormCommitsPerSecond)),
        Figure.count(Median.of(result.stormRuns)), Figure.count(Median.of(result.stormValues)),
        Figure.milliseconds(Median.of(result.stormProcessorTime)),
        Figure.decimal(Median.of(result.memoryBefore) / 1e6, digits: 1),
        Figure.decimal(Median.of(result.memoryPeak) / 1e6, digits: 1),
        Figure.milliseconds(Median.of(result.settled)),
      ])
    }
    return table
  }
}
