import CommandLineSupport

/// `boutique-bench idle`: what a process spends that observes while nobody commits.
enum IdleBenchmark: Benchmark {
  struct Settings: Sendable, Codable {
    var common = CommonSettings()
    var queries = [1, 1000]
    var seconds = 5.0
  }

  /// One number of live queries; each list has a number for each round.
  struct Result: Codable, Sendable {
    let queries: Int
    /// Processor time, as a part of the time that went by.
    var processorShare: [Double] = []
    /// How often in a second a thread of the process went to sleep, and so woke up.
    var sleepsPerSecond: [Double] = []
    /// Bytes for one more live query and its rows; nothing with a single one.
    var bytesPerQuery: [Double] = []
  }

  static var initialSettings: Settings { Settings() }

  static let syntax = CommandSyntax<Settings>(
    name: "\(Program.name) idle",
    summary: "What a process with live queries spends while nobody commits.",
    operands: [],
    options: [
      .value("queries", "LIST", help: "How many live queries there are; 1,1000 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.queries = try ListValue.positiveIntegers(text)
      },
      .value("seconds", "N", help: "How long nothing happens; 5 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.seconds = try OptionValue.seconds(text).inSeconds
      },
    ] + CommonSettings.options { settings, change in change(&settings.common) },
    notes: [
      """
      Each query reads ten rows of its own. The poll interval is the configuration's. Processor time and \
      sleeps are those of getrusage(2), memory is what the kernel counts as resident, for all queries but \
      the first, their tasks, rows and regions included.
      """, CommonSettings.note,
    ], examples: ["\(Program.name) idle --queries=1000 --seconds=10"])

  static func common(_ settings: Settings) -> CommonSettings { settings.common }

  static func run(_ settings: Settings, _ run: BenchRun) throws -> BenchReport {
    var results = settings.queries.map { Result(queries: $0) }
    for round in 1...run.rounds {
      for index in run.shuffled(Array(results.indices)) {
        run.progress("round \(round) of \(run.rounds): \(results[index].queries) queries")
        try measure(&results[index], settings, run)
      }
    }
    var table = TextTable(titles: ["queries", "CPU %", "sleeps/s", "KB a query"])
    for result in results {
      table.append([
        .number("\(result.queries)"),
        Figure.decimal(Median.of(result.processorShare) * 100, digits: 3),
        Figure.decimal(Median.of(result.sleepsPerSecond)),
        Figure.decimal(Median.of(result.bytesPerQuery) / 1000, digits: 1),
      ])
    }
    return BenchReport(
      notes: ["\(settings.seconds) s, medians of \(run.rounds) rounds"],
      tables: [("a process that observes while nobody commits", table)], results: results)
  }

  private static func measure(_ result: inout Result, _ settings: Settings, _ run: BenchRun) throws
  {
    let queries = result.queries
    let report = try run.withDatabase { path in
      try BenchTable.create(at: path, rows: max(2, queries) * LiveTable.rowsPerQuery)
      return try WorkerCrew.results(
        of: [
          (
            label: "the observer",
            orders: .idle(
              IdleOrders(path: path, queries: queries, span: Int64(settings.seconds * 1e9)))
          )
        ], run
      ).first
    }
    guard let report else { throw BenchFailure("no report of the observer") }
    let elapsed = Double(max(1, try report.number("elapsed")))
    result.processorShare.append(Double(try report.number("cpu")) / elapsed)
    result.sleepsPerSecond.append(Double(try report.number("voluntary")) / elapsed * 1e9)
    let bytes = Double(try report.number("memory")) / Double(try report.number("queries"))
    result.bytesPerQuery.append(queries > 1 ? bytes : 0)
  }
}
