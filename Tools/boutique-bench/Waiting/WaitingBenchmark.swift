import CommandLineSupport

/// `boutique-bench waiting`: what a process spends while it waits for its turn.
enum WaitingBenchmark: Benchmark {
  struct Settings: Sendable, Codable {
    var common = CommonSettings()
    var seconds = 3.0
    var waiters = 1
  }

  /// One variant; each list has a number for each round.
  struct Result: Codable, Sendable {
    let variant: WaitingVariant
    /// Processor time of a waiting process, in microseconds for each second of waiting.
    var microsecondsPerSecond: [Double] = []
    /// How often in a second it went to sleep, and so woke up.
    var sleepsPerSecond: [Double] = []
    /// How often in a second it lost the processor to somebody else.
    var preemptionsPerSecond: [Double] = []
  }

  static var initialSettings: Settings { Settings() }

  static let syntax = CommandSyntax<Settings>(
    name: "\(Program.name) waiting",
    summary: "What a process spends while it waits for its turn to write.",
    operands: [],
    options: [
      .value("seconds", "N", help: "How long another process holds; 3 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.seconds = try OptionValue.seconds(text).inSeconds
      },
      .value("waiters", "N", help: "How many processes wait at once; 1 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.waiters = try OptionValue.positiveInteger(text)
      },
    ] + CommonSettings.options { settings, change in change(&settings.common) },
    notes: [
      """
      Processor time and context switches are those of getrusage(2) for the whole waiting process, \
      divided by the time waited and, with several waiters, by their number.
      """, CommonSettings.note,
    ], examples: ["\(Program.name) waiting --seconds=5 --waiters=8"])

  static func common(_ settings: Settings) -> CommonSettings { settings.common }

  static func run(_ settings: Settings, _ run: BenchRun) throws -> BenchReport {
    var results = WaitingVariant.allCases.map { Result(variant: $0) }
    for round in 1...run.rounds {
      for index in run.shuffled(Array(results.indices)) {
        run.progress("round \(round) of \(run.rounds): \(results[index].variant.title)")
        try measure(&results[index], settings, run)
      }
    }
    var table = TextTable(titles: ["waits for", "CPU µs/s", "sleeps/s", "preempted/s"])
    for result in results {
      table.append([
        .text(result.variant.title), Figure.decimal(Median.of(result.microsecondsPerSecond)),
        Figure.decimal(Median.of(result.sleepsPerSecond)),
        Figure.decimal(Median.of(result.preemptionsPerSecond)),
      ])
    }
    return BenchReport(
      notes: [
        "\(settings.seconds) s, \(settings.waiters) waiting, medians of \(run.rounds) rounds"
      ],
      tables: [("a waiting process, for each second", table)], results: results)
  }

  private static func measure(_ result: inout Result, _ settings: Settings, _ run: BenchRun) throws
  {
    let variant = result.variant
    let reports = try run.withDatabase { path in
      try BenchTable.create(at: path)
      let orders = (0...settings.waiters).map { index in
        (
          label: index == 0 ? "the holder" : "waiter \(index)",
          orders: WorkerOrders.waiting(
            WaitingOrders(
              path: path, variant: variant, index: index, hold: Int64(settings.seconds * 1e9),
              holds: index == 0))
        )
      }
      return try WorkerCrew.results(of: orders, run).dropFirst()
    }
    var (elapsed, cpu, sleeps, preemptions) = (0.0, 0.0, 0.0, 0.0)
    for report in reports {
      elapsed += Double(try report.number("elapsed")) / 1e9
      cpu += Double(try report.number("cpu")) / 1000
      sleeps += Double(try report.number("voluntary"))
      preemptions += Double(try report.number("involuntary"))
    }
    guard elapsed > 0 else { throw BenchFailure("a waiter reports that it did not wait") }
    result.microsecondsPerSecond.append(cpu / elapsed)
    result.sleepsPerSecond.append(sleeps / elapsed)
    result.preemptionsPerSecond.append(preemptions / elapsed)
  }
}
