import CommandLineSupport

/// `boutique-bench handover`: how long a released lease takes to the next waiter.
enum HandoverBenchmark: Benchmark {
  struct Settings: Sendable, Codable {
    var common = CommonSettings()
    var turns = 500
    var holdSeconds = 0.002
  }

  /// One variant over all rounds; times in nanoseconds.
  struct Result: Codable, Sendable {
    let variant: HandoverVariant
    var p50: [Double] = []
    var p99: [Double] = []
    var longest: [Double] = []
    /// How many times the right to write went to a process that waited for it.
    var handovers = 0
  }

  static var initialSettings: Settings { Settings() }

  static let syntax = CommandSyntax<Settings>(
    name: "\(Program.name) handover",
    summary: "How long a released lease takes to reach the next waiter.",
    operands: [],
    options: [
      .value("turns", "N", help: "Turns of each of the two processes; 500 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.turns = try OptionValue.positiveInteger(text)
      },
      .value("hold", "SECONDS", help: "How long a turn lasts; 0.002 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.holdSeconds = try OptionValue.seconds(text).inSeconds
      },
    ] + CommonSettings.options { settings, change in change(&settings.common) },
    notes: [
      """
      Two processes take turns. What counts is the time from just before one gives up to the moment at \
      which the other, which asked before that, has it. Run it on an idle machine.
      """, CommonSettings.note,
    ], examples: ["\(Program.name) handover --rounds=5"])

  static func common(_ settings: Settings) -> CommonSettings { settings.common }

  static func run(_ settings: Settings, _ run: BenchRun) throws -> BenchReport {
    var results = HandoverVariant.allCases.map { Result(variant: $0) }
    for round in 1...run.rounds {
      for index in run.shuffled(Array(results.indices)) {
        let variant = results[index].variant
        run.progress("round \(round) of \(run.rounds): \(variant.title)")
        let samples = Samples(try measure(variant, settings, run))
        results[index].p50.append(Double(samples.quantile(0.5)))
        results[index].p99.append(Double(samples.quantile(0.99)))
        results[index].longest.append(Double(samples.largest))
        results[index].handovers += samples.count
      }
    }
    var table = TextTable(titles: ["who", "handovers", "p50 µs", "p99 µs", "longest µs"])
    for result in results {
      table.append([
        .text(result.variant.title), .number("\(result.handovers)"),
        Figure.microseconds(Median.of(result.p50)), Figure.microseconds(Median.of(result.p99)),
        Figure.microseconds(Median.of(result.longest)),
      ])
    }
    return BenchReport(
      notes: ["\(settings.turns) turns a process, medians of \(run.rounds) rounds"],
      tables: [("from release to the next holder", table)], results: results)
  }

  private static func measure(
    _ variant: HandoverVariant, _ settings: Settings, _ run: BenchRun
  ) throws -> [Int64] {
    try run.withDatabase { path in
      try BenchTable.create(at: path)
      let orders = (0..<2).map { index in
        (
          label: "\(index) (\(variant.title))",
          orders: WorkerOrders.handover(
            HandoverOrders(
              path: path, variant: variant, index: index, turns: settings.turns,
              hold: Int64(settings.holdSeconds * 1e9)))
        )
      }
      return handovers(try WorkerCrew.results(of: orders, run))
    }
  }

  /// Finds each turn that began by another process's release, and how long after it.
  static func handovers(_ reports: [WorkerMessage]) -> [Int64] {
    struct Turn {
      let worker: Int
      let asked: Int64
      let got: Int64
      let released: Int64
    }
    var turns: [Turn] = []
    for (worker, report) in reports.enumerated() {
      for ((asked, got), released) in zip(zip(report["asked"], report["got"]), report["released"]) {
        turns.append(Turn(worker: worker, asked: asked, got: got, released: released))
      }
    }
    turns.sort { $0.got < $1.got }
    return zip(turns, turns.dropFirst()).compactMap { former, next in
      former.worker != next.worker && next.asked < former.released
        ? next.got - former.released : nil
    }
  }
}
