import CommandLineSupport

/// `boutique-bench capture`: what statements cost with and without capture.
enum CaptureBenchmark: Benchmark {
  struct Settings: Sendable, Codable {
    var common = CommonSettings()
    var transactions = 2000
    var bulkTransactions = 50
    var bulkRows = 1000
    var variants = CaptureVariant.allCases
  }

  /// One kind of statement run by one variant; each list has a number for each round.
  struct Result: Codable, Sendable {
    let work: CaptureWork
    let variant: CaptureVariant
    var nanosecondsPerTransaction: [Double] = []
    var nanosecondsPerRow: [Double] = []
    /// The time divided by the plain connection's of the same round.
    var ratio: [Double] = []
  }

  static var initialSettings: Settings { Settings() }

  static let syntax = CommandSyntax<Settings>(
    name: "\(Program.name) capture",
    summary: "What statements cost with change capture, beside a plain connection.",
    operands: [],
    options: [
      .value("transactions", "N", help: "Transactions of one row; 2000 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.transactions = try OptionValue.positiveInteger(text)
      },
      .value("bulk-transactions", "N", help: "Transactions of many rows; 50 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.bulkTransactions = try OptionValue.positiveInteger(text)
      },
      .value("bulk-rows", "N", help: "How many rows those have; 1000 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.bulkRows = try OptionValue.positiveInteger(text)
      },
      .value(
        "variants", "LIST",
        help: """
          Which of: plain (always measured), hook (plain with an empty preupdate hook), id, full (the \
          library in these capture modes), id-precise, full-precise (with triggers for foreign writers). \
          All if not given.
          """
      ) { (settings, text) throws(InvalidValue) in
        settings.variants = try ListValue.choices(text)
      },
    ] + CommonSettings.options { settings, change in change(&settings.common) },
    notes: [
      """
      The library's figures contain all that a write costs: tasks, lease, capture, bell. Those of one \
      row are mostly the cost of a transaction; those of many rows are mostly the cost of a row.
      """, CommonSettings.note,
    ], examples: ["\(Program.name) capture --variants=id,full"])

  static func common(_ settings: Settings) -> CommonSettings { settings.common }

  static func run(_ settings: Settings, _ run: BenchRun) throws -> BenchReport {
    let variants = [CaptureVariant.plain] + settings.variants.filter { $0 != .plain }
    var results = CaptureWork.allCases.flatMap { work in
      variants.map { Result(work: work, variant: $0) }
    }
    for round in 1...run.rounds {
      var found: [CaptureVariant: WorkerMessage] = [:]
      for variant in run.shuffled(variants) {
        run.progress("round \(round) of \(run.rounds): \(variant.title)")
        found[variant] = try measure(variant, settings, run)
      }
      for index in results.indices {
        let work = results[index].work
        guard let own = found[results[index].variant], let plain = found[.plain] else { continue }
        let count = Double(work.isMany ? settings.bulkTransactions : settings.transactions)
        let time = Double(try own.number(work.rawValue))
        results[index].nanosecondsPerTransaction.append(time / count)
        results[index].nanosecondsPerRow.append(
          time / count / Double(work.isMany ? settings.bulkRows : 1))
        results[index].ratio.append(time / Double(max(1, try plain.number(work.rawValue))))
      }
    }
    var table = TextTable(titles: ["statement", "who", "µs/transaction", "ns/row", "× plain"])
    for result in results {
      table.append([
        .text(result.work.rawValue), .text(result.variant.title),
        Figure.microseconds(Median.of(result.nanosecondsPerTransaction)),
        Figure.count(Median.of(result.nanosecondsPerRow)), Figure.decimal(Median.of(result.ratio)),
      ])
    }
    return BenchReport(
      notes: [
        "\(settings.transactions) transactions of one row, \(settings.bulkTransactions) of "
          + "\(settings.bulkRows), medians of \(run.rounds) rounds"
      ], tables: [("statements", table)], results: results)
  }

  private static func measure(
    _ variant: CaptureVariant, _ settings: Settings, _ run: BenchRun
  ) throws -> WorkerMessage {
    try run.withDatabase { path in
      try BenchTable.create(at: path)
      let orders = CaptureOrders(
        path: path, variant: variant, transactions: settings.transactions,
        bulkTransactions: settings.bulkTransactions, bulkRows: settings.bulkRows)
      let reports = try WorkerCrew.results(
        of: [(label: variant.title, orders: .capture(orders))], run)
      // Everything that was inserted has been deleted again.
      try BenchTable.check(at: path, rows: 0)
      guard let report = reports.first else { throw BenchFailure("no report") }
      return report
    }
  }
}
