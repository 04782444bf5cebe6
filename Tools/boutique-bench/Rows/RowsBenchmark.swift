import CommandLineSupport

/// `boutique-bench rows`: one process that writes and reads many rows, beside plain C doing the same.
enum RowsBenchmark: Benchmark {
  struct Settings: Sendable, Codable {
    var common = CommonSettings()
    var rows = 200_000
    var singles = 20_000
    var keys = 100_000
    var opens = 50
    /// What is measured; the parts of names that the user gave, nil for everything.
    var only: [String]?

    var works: [RowsWork] {
      guard let only else { return RowsWork.allCases }
      return RowsWork.allCases.filter { work in
        only.contains { work.rawValue.lowercased().contains($0.lowercased()) }
      }
    }
  }

  /// One kind of work; each list has a number for each round.
  struct Result: Codable, Sendable {
    let work: RowsWork
    var plainNanoseconds: [Double] = []
    var libraryNanoseconds: [Double] = []
    /// The library's time divided by plain C's of the same round.
    var ratio: [Double] = []
    /// The same of the processor time of all threads.
    var processorRatio: [Double] = []
    /// The same with capture switched off; empty where that is not measured.
    var uncapturedProcessorRatio: [Double] = []
    /// The library's processor time divided by its own without capture.
    var captureRatio: [Double] = []
    var target: Double
  }

  static var initialSettings: Settings { Settings() }

  static let syntax = CommandSyntax<Settings>(
    name: "\(Program.name) rows",
    summary: "What it costs to write and read many rows, beside plain C on libsqlite3.",
    operands: [],
    options: [
      .value("rows", "N", help: "How many rows the table has; 200000 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.rows = try OptionValue.positiveInteger(text)
      },
      .value("singles", "N", help: "How many are written one by one; 20000 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.singles = try OptionValue.positiveInteger(text)
      },
      .value("keys", "N", help: "How many are read by key; 100000 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.keys = try OptionValue.positiveInteger(text)
      },
      .value(
        "only", "LIST",
        help:
          "Only what has one of these, separated by commas, in its name, for example insert all."
      ) { (settings, text) throws(InvalidValue) in
        settings.only = text.split(separator: ",").map(String.init)
        guard !settings.works.isEmpty else {
          throw InvalidValue(expected: "a part of the name of something that is measured")
        }
      },
    ] + CommonSettings.options { settings, change in change(&settings.common) },
    notes: [
      """
      Rows have an integer key, two texts, a real and an integer. “Plain C” prepares each statement once \
      and binds it anew, on one connection in WAL mode; it has the file for itself. The library's figures \
      contain everything: statement, lease, capture, commit, bell, and the way back to the task that \
      awaits. “Off” is the same with the table's capture mode off.
      """, CommonSettings.note,
    ], examples: ["\(Program.name) rows --rows=20000 --rounds=5"])

  static func common(_ settings: Settings) -> CommonSettings { settings.common }

  static func run(_ settings: Settings, _ run: BenchRun) throws -> BenchReport {
    let works = settings.works
    var results = works.map { Result(work: $0, target: $0.target) }
    let bulk = works.filter(RowsWork.bulk.contains)
    let variants = RowsVariant.allCases.filter { $0 != .uncaptured || !bulk.isEmpty }
    for round in 1...run.rounds {
      var measured: [RowsVariant: WorkerMessage] = [:]
      for variant in run.shuffled(variants) {
        run.progress("round \(round) of \(run.rounds): \(variant.rawValue)")
        measured[variant] = try run.withDatabase { path in
          let orders = RowsOrders(
            path: path, variant: variant, works: variant == .uncaptured ? bulk : works,
            rows: settings.rows, singles: settings.singles,
            keys: settings.keys, opens: settings.opens, synced: max(64, settings.singles / 10))
          return try WorkerCrew.results(
            of: [(label: variant.rawValue, orders: .rows(orders))], run
          ).first
        }
      }
      for index in results.indices {
        let name = results[index].work.rawValue
        guard let plain = measured[.plain]?[name], let library = measured[.library]?[name],
          plain.count == 2, library.count == 2
        else { throw BenchFailure("no figure for “\(name)”") }
        results[index].plainNanoseconds.append(Double(plain[0]))
        results[index].libraryNanoseconds.append(Double(library[0]))
        results[index].ratio.append(Double(library[0]) / Double(max(1, plain[0])))
        results[index].processorRatio.append(Double(library[1]) / Double(max(1, plain[1])))
        if let off = measured[.uncaptured]?[name], off.count == 2 {
          results[index].uncapturedProcessorRatio.append(Double(off[1]) / Double(max(1, plain[1])))
          results[index].captureRatio.append(Double(library[1]) / Double(max(1, off[1])))
        }
      }
    }
    var table = TextTable(titles: [
      "work", "plain C, ms", "library, ms", "× C", "CPU × C", "off, CPU × C", "CPU ÷ off",
      "target",
    ])
    for result in results {
      table.append([
        .text(result.work.rawValue), Figure.milliseconds(Median.of(result.plainNanoseconds)),
        Figure.milliseconds(Median.of(result.libraryNanoseconds)),
        Figure.decimal(Median.of(result.ratio)), Figure.decimal(Median.of(result.processorRatio)),
        result.captureRatio.isEmpty
          ? .text("") : Figure.decimal(Median.of(result.uncapturedProcessorRatio)),
        result.captureRatio.isEmpty ? .text("") : Figure.decimal(Median.of(result.captureRatio)),
        Figure.decimal(result.target),
      ])
    }
    return BenchReport(
      notes: ["\(settings.rows) rows, medians of \(run.rounds) rounds"],
      tables: [("the library and plain C", table)], results: results)
  }
}
