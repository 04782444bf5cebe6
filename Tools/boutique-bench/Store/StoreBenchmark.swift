import CommandLineSupport

/// `boutique-bench store`: what a store of many small items costs, beside an array and plain SQLite.
enum StoreBenchmark: Benchmark {
  struct Settings: Sendable, Codable {
    var common = CommonSettings()
    var items = 100_000
    var singles = 2000
  }

  /// One kind of work by one variant; each list has a number for each round.
  struct Result: Codable, Sendable {
    let work: StoreWork
    let variant: StoreVariant
    var nanoseconds: [Double] = []
    var nanosecondsPerItem: [Double] = []
    /// Processor time of all threads.
    var processorNanosecondsPerItem: [Double] = []
    /// The time divided by the plain variant's of the same round.
    var ratio: [Double] = []
  }

  static var initialSettings: Settings { Settings() }

  static let syntax = CommandSyntax<Settings>(
    name: "\(Program.name) store",
    summary: "What a store of many small items costs, beside an array and plain SQLite.",
    operands: [],
    options: [
      .value("items", "N", help: "How many items the store has; 100000 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.items = try OptionValue.positiveInteger(text)
      },
      .value(
        "singles", "N",
        help: "How many more are inserted, replaced and removed one by one; 2000 if not given."
      ) { (settings, text) throws(InvalidValue) in
        settings.singles = try OptionValue.positiveInteger(text)
      },
    ] + CommonSettings.options { settings, change in change(&settings.common) },
    notes: [
      """
      “plain” is a program of one process that encodes its items as JSON, writes them with plain SQLite \
      into a table like the store's, and keeps an array and a dictionary of its own. Loading is done by a \
      second process. Items have an identifier, a text, a number and a time; about 100 bytes of JSON.
      """, CommonSettings.note,
    ], examples: ["\(Program.name) store --items=10000 --rounds=5"])

  static func common(_ settings: Settings) -> CommonSettings { settings.common }

  static func run(_ settings: Settings, _ run: BenchRun) throws -> BenchReport {
    var results = StoreWork.allCases.flatMap { work in
      StoreVariant.allCases.map { Result(work: work, variant: $0) }
    }
    for round in 1...run.rounds {
      var measured: [StoreVariant: [StoreWork: [Int64]]] = [:]
      for variant in run.shuffled(StoreVariant.allCases) {
        run.progress("round \(round) of \(run.rounds): \(variant.title)")
        measured[variant] = try measure(variant, settings, run)
      }
      for index in results.indices {
        let work = results[index].work
        guard let figures = measured[results[index].variant]?[work], figures.count == 2,
          let plain = measured[.plain]?[work]?.first
        else { throw BenchFailure("no figure for \(work.rawValue)") }
        let (time, processor) = (Double(figures[0]), Double(figures[1]))
        let count = Double(work.isMany ? settings.items : settings.singles)
        results[index].nanoseconds.append(time)
        results[index].nanosecondsPerItem.append(time / count)
        results[index].processorNanosecondsPerItem.append(processor / count)
        results[index].ratio.append(time / Double(max(1, plain)))
      }
    }
    var table = TextTable(titles: [
      "work", "variant", "ms in all", "µs an item", "CPU µs", "× plain",
    ])
    for result in results {
      table.append([
        .text(result.work.rawValue), .text(result.variant.title),
        Figure.milliseconds(Median.of(result.nanoseconds)),
        Figure.microseconds(Median.of(result.nanosecondsPerItem)),
        Figure.microseconds(Median.of(result.processorNanosecondsPerItem)),
        Figure.decimal(Median.of(result.ratio)),
      ])
    }
    return BenchReport(
      notes: [
        "\(settings.items) items, \(settings.singles) one by one, medians of \(run.rounds) rounds"
      ], tables: [("a store and a plain program", table)], results: results)
  }

  private static func measure(
    _ variant: StoreVariant, _ settings: Settings, _ run: BenchRun
  ) throws -> [StoreWork: [Int64]] {
    try run.withDatabase { path in
      var figures: [StoreWork: [Int64]] = [:]
      for isFirst in [true, false] {
        let orders = StoreOrders(
          path: path, variant: variant, items: settings.items, singles: settings.singles,
          isFirst: isFirst)
        let reports = try WorkerCrew.results(
          of: [(label: variant.title, orders: .store(orders))], run)
        guard let report = reports.first else { throw BenchFailure("no report") }
        for work in StoreWork.allCases where !report[work.rawValue].isEmpty {
          figures[work] = report[work.rawValue]
        }
      }
      return figures
    }
  }
}
