import CommandLineSupport

/// `boutique-bench all`: every benchmark, one after the other.
enum AllCommand {
  struct Settings: Sendable {
    var common = CommonSettings()
    var isQuick = false
    var only: [String] = []
  }

  static let syntax = CommandSyntax<Settings>(
    name: "\(Program.name) all",
    summary: "Every benchmark with its standard sizes; with --quick, only to see that they work.",
    operands: [],
    options: [
      .flag(
        "quick", short: "q",
        help: """
          Sizes so small that all together take less than a minute: shows that the benchmarks work. Their \
          figures say nothing.
          """
      ) { $0.isQuick = true },
      .value("only", "LIST", help: "Only these benchmarks.") {
        (settings, text) throws(InvalidValue) in
        settings.only = try text.split(separator: ",").map { word throws(InvalidValue) in
          guard let entry = BenchmarkList.named(String(word)) else {
            let names = BenchmarkList.all.map(\.name).joined(separator: ", ")
            throw InvalidValue(expected: "a list of these words: \(names)")
          }
          return entry.name
        }
      },
    ] + CommonSettings.options { settings, change in change(&settings.common) },
    notes: [
      """
      Each benchmark measures in interleaved rounds and shows medians. With --quick there is one round, and \
      the JSON says that its figures are not to be compared.
      """, CommonSettings.note,
    ], examples: ["\(Program.name) all --json", "\(Program.name) --quick"])

  /// What is known when all have run.
  struct Report: Encodable {
    let benchmark = "all"
    let machine: MachineFacts
    let seed: UInt64
    /// False for sizes that are too small to be judged by.
    let isComparable: Bool
    let reports: [Part]

    private enum CodingKeys: String, CodingKey {
      case benchmark, machine, seed, isComparable, reports
    }
  }

  /// One benchmark's part of it.
  struct Part: Encodable {
    let measured: MeasuredBenchmark

    private enum Key: String, CodingKey {
      case benchmark, settings, notes, results
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(measured.name, forKey: .benchmark)
      try measured.settings.encode(to: container.superEncoder(forKey: .settings))
      try container.encode(measured.report.notes, forKey: .notes)
      try measured.report.results.encode(to: container.superEncoder(forKey: .results))
    }
  }

  static func run(_ settings: Settings, _ output: BenchOutput) throws {
    var common = settings.common
    if settings.isQuick {
      common.rounds = 1
      common.timeout = min(common.timeout, quickTimeout)
    }
    let run = try BenchRun(common, output)
    defer { run.keeper.clear() }
    let machine = MachineFacts.collect(directory: run.directory)
    if !common.isJSON {
      try output.write(machine.lines.map { $0 + "\n" }.joined() + "seed \(run.seed)\n")
      if settings.isQuick { try output.write(quickNote + "\n") }
    }
    var parts: [Part] = []
    for entry in BenchmarkList.all
    where settings.only.isEmpty || settings.only.contains(entry.name) {
      let part = BenchRun(partOf: run, named: entry.name)
      let measured = try entry.measure(settings.isQuick ? entry.quick : [], part)
      parts.append(Part(measured: measured))
      // At once: the whole takes long, and what is there should be seen when a later one fails.
      if !common.isJSON { try output.write(title: entry.name, measured.report) }
    }
    if common.isJSON {
      try output.write(
        json: Report(
          machine: machine, seed: run.seed, isComparable: !settings.isQuick, reports: parts))
    }
  }

  /// Seconds that a step of so small a size may take on a loaded machine.
  private static let quickTimeout = 120.0

  private static let quickNote =
    "quick: sizes too small to be judged by; the figures only show that the benchmarks work"
}
