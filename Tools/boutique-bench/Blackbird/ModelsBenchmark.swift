import CommandLineSupport

/// `boutique-bench models`: Blackbird's interface, beside plain C doing the same.
enum ModelsBenchmark: Benchmark {
  struct Settings: Sendable, Codable {
    var common = CommonSettings()
    var rows = 100_000
    var keys = 50_000
  }

  /// One kind of work; each list has a number for each round.
  struct Result: Codable, Sendable {
    let work: ModelsWork
    var plainNanoseconds: [Double] = []
    var modelsNanoseconds: [Double] = []
    /// The models' time divided by plain C's of the same round.
    var ratio: [Double] = []
    /// The same of the processor time of all threads.
    var processorRatio: [Double] = []
    /// Of reading all: what a row takes at the peak beyond its values, in bytes.
    var bytesPerRow: [Double] = []
  }

  static var initialSettings: Settings { Settings() }

  static let syntax = CommandSyntax<Settings>(
    name: "\(Program.name) models",
    summary: "What Blackbird's models cost, beside plain C on libsqlite3.",
    operands: [],
    options: [
      .value("rows", "N", help: "How many rows the table has; 100000 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.rows = try OptionValue.positiveInteger(text)
      },
      .value("keys", "N", help: "How many are read by key; 50000 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.keys = try OptionValue.positiveInteger(text)
      },
    ] + CommonSettings.options { settings, change in change(&settings.common) },
    notes: [
      """
      The rows are those of “rows”: an integer key, two texts, a real and an integer. Making the models \
      and letting them go is part of the figures.
      """, CommonSettings.note,
    ], examples: ["\(Program.name) models --rows=20000 --rounds=5"])

  static func common(_ settings: Settings) -> CommonSettings { settings.common }

  static func run(_ settings: Settings, _ run: BenchRun) throws -> BenchReport {
    var results = ModelsWork.allCases.map { Result(work: $0) }
    for round in 1...run.rounds {
      var measured: [ModelsVariant: WorkerMessage] = [:]
      for variant in run.shuffled(ModelsVariant.allCases) {
        run.progress("round \(round) of \(run.rounds): \(variant.rawValue)")
        measured[variant] = try run.withDatabase { path in
          let orders = ModelsOrders(
            path: path, variant: variant, rows: settings.rows, keys: settings.keys)
          return try WorkerCrew.results(
            of: [(label: variant.rawValue, orders: .models(orders))], run
          ).first
        }
      }
      for index in results.indices {
        let name = results[index].work.rawValue
        guard let plain = measured[.plain]?[name], let models = measured[.models]?[name],
          plain.count == 2, models.count == 2
        else { throw BenchFailure("no figure for “\(name)”") }
        results[index].plainNanoseconds.append(Double(plain[0]))
        results[index].modelsNanoseconds.append(Double(models[0]))
        results[index].ratio.append(Double(models[0]) / Double(max(1, plain[0])))
        results[index].processorRatio.append(Double(models[1]) / Double(max(1, plain[1])))
        if results[index].work == .readAll, let memory = measured[.models]?[ModelsWorker.memory],
          memory.count == 2
        {
          results[index].bytesPerRow.append(Double(memory[0] - memory[1]) / Double(settings.rows))
        }
      }
    }
    var table = TextTable(titles: [
      "work", "plain C, ms", "models, ms", "× C", "CPU × C", "target", "bytes a row",
    ])
    for result in results {
      table.append([
        .text(result.work.rawValue), Figure.milliseconds(Median.of(result.plainNanoseconds)),
        Figure.milliseconds(Median.of(result.modelsNanoseconds)),
        Figure.decimal(Median.of(result.ratio)), Figure.decimal(Median.of(result.processorRatio)),
        Figure.decimal(result.work.target),
        result.bytesPerRow.isEmpty ? .text("") : Figure.count(Median.of(result.bytesPerRow)),
      ])
    }
    return BenchReport(
      notes: ["\(settings.rows) rows, medians of \(run.rounds) rounds"],
      tables: [("Blackbird's models and plain C", table)], results: results)
  }
}
