import CommandLineSupport

/// `boutique-bench list`: a change of one row under a long, sorted, filtered list.
enum ListBenchmark: Benchmark {
  struct Settings: Sendable, Codable {
    var common = CommonSettings()
    var rows = [100_000]
    var samples = 200
    var pauseSeconds = 0.005
  }

  /// One variant with one number of rows; each list has a number for each round, times in nanoseconds.
  struct Result: Codable, Sendable {
    let rows: Int
    let variant: ListVariant
    /// From the UPDATE to the list.
    var deliveryP50: [Double] = []
    var deliveryP99: [Double] = []
    /// How long the write took for its caller.
    var writeP50: [Double] = []
    /// That, divided by what it took without observers in the same round.
    var writeRatio: [Double] = []
    /// How often the list was brought up to date by its changed rows, and how often the query ran.
    var steps: [Double] = []
    var runs: [Double] = []
    /// Bytes of memory.
    var memory: [Double] = []
  }

  static var initialSettings: Settings { Settings() }

  static let syntax = CommandSyntax<Settings>(
    name: "\(Program.name) list",
    summary: "What a change of one row costs under a long, sorted, filtered, live list.",
    operands: [],
    options: [
      .value("rows", "LIST", help: "How many rows the list has; 100000 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.rows = try ListValue.positiveIntegers(text)
      },
      .value("samples", "N", help: "Changes that are measured one at a time; 200 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.samples = try OptionValue.positiveInteger(text)
      },
      .value("pause", "SECONDS", help: "The pause between those; 0.005 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.pauseSeconds = try OptionValue.seconds(text).inSeconds
      },
    ] + CommonSettings.options { settings, change in change(&settings.common) },
    notes: [
      """
      Each change gives a row another place in the list. The time is from just before the UPDATE, in the \
      closure of the write, to the list in whoever observes it: statement, capture and commit are part of it. \
      “closure” is the same statement as a closure, which runs as a whole.
      """, CommonSettings.note,
    ], examples: ["\(Program.name) list --rows=1000,10000,100000,1000000"])

  static func common(_ settings: Settings) -> CommonSettings { settings.common }

  static func run(_ settings: Settings, _ run: BenchRun) throws -> BenchReport {
    var results = settings.rows.flatMap { rows in
      ListVariant.allCases.map { Result(rows: rows, variant: $0) }
    }
    for round in 1...run.rounds {
      for rows in settings.rows {
        var writes: [ListVariant: Double] = [:]
        for variant in run.shuffled(ListVariant.allCases) {
          run.progress("round \(round) of \(run.rounds): \(rows) rows, \(variant.title)")
          let report = try run.withDatabase { path in
            let orders = ListOrders(
              path: path, variant: variant, rows: rows, samples: settings.samples,
              pause: Int64(settings.pauseSeconds * 1e9))
            return try WorkerCrew.results(of: [(label: variant.title, orders: .list(orders))], run)
              .first
          }
          guard let report,
            let index = results.firstIndex(where: { $0.rows == rows && $0.variant == variant })
          else { throw BenchFailure("no report") }
          writes[variant] = results[index].add(report)
        }
        for index in results.indices where results[index].rows == rows {
          let plain = max(1, writes[.unobserved] ?? 0)
          results[index].writeRatio.append((writes[results[index].variant] ?? 0) / plain)
        }
      }
    }
    return BenchReport(
      notes: [
        "\(settings.samples) changes, medians of \(run.rounds) rounds",
        "the aims at 100,000 rows: a change is delivered within 1,000 µs; a write takes no more than 1.2 × of "
          + "one without observers",
      ], tables: [("one row changes under a live list", table(of: results))], results: results)
  }

  private static func table(of results: [Result]) -> TextTable {
    var table = TextTable(titles: [
      "rows", "observed by", "change p50 µs", "p99 µs", "its write p50 µs", "× unobserved",
      "by rows",
      "whole runs", "MB",
    ])
    for result in results {
      table.append([
        Figure.count(Double(result.rows)), .text(result.variant.title),
        Figure.microseconds(Median.of(result.deliveryP50)),
        Figure.microseconds(Median.of(result.deliveryP99)),
        Figure.microseconds(Median.of(result.writeP50)),
        Figure.decimal(Median.of(result.writeRatio)), Figure.count(Median.of(result.steps)),
        Figure.count(Median.of(result.runs)),
        Figure.decimal(Median.of(result.memory) / 1e6, digits: 1),
      ])
    }
    return table
  }
}

extension ListBenchmark.Result {
  /// Adds the figures of a round.
  ///
  /// - Returns: how long its writes took.
  fileprivate mutating func add(_ report: WorkerMessage) -> Double {
    let deliveries = Samples(report["deliveries"])
    let write = Double(Samples(report["writes"]).quantile(0.5))
    deliveryP50.append(Double(deliveries.quantile(0.5)))
    deliveryP99.append(Double(deliveries.quantile(0.99)))
    writeP50.append(write)
    steps.append(Double(report["steps"].first ?? 0))
    runs.append(Double(report["runs"].first ?? 0))
    memory.append(Double(report["memory"].first ?? 0))
    return write
  }
}
