import CommandLineSupport

/// `boutique-bench contention`: processes that write without pause.
enum ContentionBenchmark: Benchmark {
  struct Settings: Sendable, Codable {
    var common = CommonSettings()
    var writers = [2, 4, 8, 16]
    var transactions = 10_000
    var tasks = 64
    var synchronous = SynchronousMode.normal
    var variants: [ContentionVariant] = [.baseline, .single, .many, .grouped, .lease]
  }

  static var initialSettings: Settings { Settings() }

  static let syntax = CommandSyntax<Settings>(
    name: "\(Program.name) contention",
    summary: "Several processes write one-row transactions without pause.",
    operands: [],
    options: [
      .value("writers", "LIST", help: "How many processes write; 2,4,8,16 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.writers = try ListValue.positiveIntegers(text)
      },
      .value("transactions", "N", help: "Transactions of each process; 10000 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.transactions = try OptionValue.positiveInteger(text)
      },
      .value(
        "tasks", "N",
        help: "Tasks with a write waiting in each process, where there are many; 64 if not given."
      ) { (settings, text) throws(InvalidValue) in
        settings.tasks = try OptionValue.positiveInteger(text)
      },
      .value("synchronous", "MODE", help: "What a commit waits for: normal (if not given) or full.")
      { (settings, text) throws(InvalidValue) in
        settings.synchronous = try OptionValue.choice(text)
      },
      .value(
        "variants", "LIST",
        help: """
          Which of: baseline (busy_timeout, always measured), single (the library, one task a process), \
          many (64 tasks, no grouping), grouped (64 tasks, group commit), lease (the lease around plain \
          transactions), logged (the same with a row like the change log's), handover (the lease, handed \
          over each time). All but the last two if not given.
          """
      ) { (settings, text) throws(InvalidValue) in
        settings.variants = try ListValue.choices(text)
      },
    ] + CommonSettings.options { settings, change in change(&settings.common) },
    notes: [
      """
      A wait is from asking for a write to its commit; a stall is a time without any commit of a process \
      that has something to write. “÷ base” is a fraction of the baseline's in the same round.
      """, CommonSettings.note,
    ],
    examples: [
      "\(Program.name) contention",
      "\(Program.name) contention --writers=8 --synchronous=full --transactions=2000",
    ])

  static func common(_ settings: Settings) -> CommonSettings { settings.common }

  static func run(_ settings: Settings, _ run: BenchRun) throws -> BenchReport {
    let others = settings.variants.filter { $0 != .baseline }
    let variants = [ContentionVariant.baseline] + others
    var results: [ContentionResult] = []
    for writers in settings.writers {
      var rounds: [ContentionVariant: [ContentionRound]] = [:]
      for round in 1...run.rounds {
        var found: [ContentionVariant: ContentionRound] = [:]
        for variant in run.shuffled(variants) {
          run.progress("\(writers) writers, round \(round) of \(run.rounds): \(variant.title)")
          found[variant] = try measure(variant, writers: writers, settings, run)
        }
        guard let baseline = found[.baseline] else { continue }
        for (variant, figures) in found {
          rounds[variant, default: []].append(figures.compared(with: baseline))
        }
      }
      for variant in variants {
        results.append(
          ContentionResult(writers: writers, variant: variant, rounds: rounds[variant] ?? []))
      }
    }
    return BenchReport(
      notes: [
        "\(settings.transactions) transactions a process, synchronous = \(settings.synchronous), "
          + "\(settings.tasks) tasks where there are many, medians of \(run.rounds) rounds"
      ], tables: [("contention", ContentionResult.table(results))], results: results)
  }

  private static func measure(
    _ variant: ContentionVariant, writers: Int, _ settings: Settings, _ run: BenchRun
  ) throws -> ContentionRound {
    try run.withDatabase { path in
      try BenchTable.create(at: path)
      let orders = (0..<writers).map { index in
        (
          label: "\(index) (\(variant.title))",
          orders: WorkerOrders.contention(
            ContentionOrders(
              path: path, variant: variant, index: index, transactions: settings.transactions,
              tasks: settings.tasks, synchronous: settings.synchronous))
        )
      }
      let reports = try WorkerCrew.results(of: orders, run)
      try BenchTable.check(at: path, rows: writers * settings.transactions)
      return try ContentionRound(reports)
    }
  }
}
