import CommandLineSupport

/// `boutique-bench live`: from a commit to the live value.
enum LiveBenchmark: Benchmark {
  struct Settings: Sendable, Codable {
    var common = CommonSettings()
    var queries = [1, 100, 1000]
    var samples = 300
    var pauseSeconds = 0.005
    var stormSeconds = 3.0
  }

  static var initialSettings: Settings { Settings() }

  static let syntax = CommandSyntax<Settings>(
    name: "\(Program.name) live",
    summary: "How long a commit takes to become a live value, and what a storm of commits costs.",
    operands: [],
    options: [
      .value("queries", "LIST", help: "How many live queries there are; 1,100,1000 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.queries = try ListValue.positiveIntegers(text)
      },
      .value("samples", "N", help: "Commits that are measured one at a time; 300 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.samples = try OptionValue.positiveInteger(text)
      },
      .value("pause", "SECONDS", help: "The pause between those; 0.005 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.pauseSeconds = try OptionValue.seconds(text).inSeconds
      },
      .value(
        "storm", "SECONDS", help: "How long another process commits without pause; 3 if not given."
      ) { (settings, text) throws(InvalidValue) in
        settings.stormSeconds = try OptionValue.seconds(text).inSeconds
      },
    ] + CommonSettings.options { settings, change in change(&settings.common) },
    notes: [
      """
      Each query reads ten rows of its own; single commits change a row of the first. The time is from \
      just before the UPDATE, in the closure of the write, to the value in the loop that observes. The \
      poll interval is an hour. After a storm the run fails unless the last commit is seen.
      """, CommonSettings.note,
    ], examples: ["\(Program.name) live --queries=1 --samples=1000"])

  static func common(_ settings: Settings) -> CommonSettings { settings.common }

  static func run(_ settings: Settings, _ run: BenchRun) throws -> BenchReport {
    var results = settings.queries.map { LiveResult(queries: $0) }
    for round in 1...run.rounds {
      for index in run.shuffled(Array(results.indices)) {
        let measurement = LiveMeasurement(settings: settings, queries: results[index].queries)
        for writer in run.shuffled([ObserverOrders.Writer.own, .other, .storm]) {
          run.progress(
            "round \(round) of \(run.rounds): \(measurement.queries) queries, \(writer.rawValue)")
          try measurement.run(writer, run, &results[index])
        }
      }
    }
    return BenchReport(
      notes: ["\(settings.samples) single commits, medians of \(run.rounds) rounds"],
      tables: [
        ("from the UPDATE to the live value", LiveResult.latencyTable(results)),
        ("another process commits without pause", LiveResult.stormTable(results)),
      ], results: results)
  }
}

/// One measurement with a number of live queries.
struct LiveMeasurement {
  let settings: LiveBenchmark.Settings
  let queries: Int

  /// Measures and adds the figures of a round.
  func run(
    _ writer: ObserverOrders.Writer, _ run: BenchRun, _ result: inout LiveResult
  ) throws {
    try run.withDatabase { path in
      let rows = queries * LiveTable.rowsPerQuery
      try BenchTable.create(at: path, rows: rows)
      let observer = WorkerOrders.observer(
        ObserverOrders(
          path: path, writer: writer, queries: queries, samples: settings.samples, pause: pause))
      let other = WorkerOrders.liveWriter(
        LiveWriterOrders(
          path: path, rows: rows,
          storm: writer == .storm ? Int64(settings.stormSeconds * 1e9) : nil))
      var orders = [(label: "the observer", orders: observer)]
      if writer != .own { orders.append((label: "the writer", orders: other)) }
      let crew = try WorkerCrew(orders, run)
      try crew.start()
      switch writer {
      case .own:
        let report = try crew.results()[0]
        result.add(own: report)
      case .other:
        result.add(other: try steps(of: crew))
      case .storm:
        let (index, storm) = try crew.next(for: "the end of the storm")
        guard index == 1, storm.event == .result else {
          throw BenchFailure("the observer ended before the storm")
        }
        try crew.workers[0].send("until \(try storm.number("stamp"))\n")
        let (_, report) = try crew.next(for: "the observer to see the last commit")
        try result.add(storm: storm, seenBy: report)
      }
      try BenchTable.check(at: path, rows: rows)
    }
  }

  private var pause: Int64 { Int64(settings.pauseSeconds * 1e9) }

  /// Lets the writer commit once for each value that the observer has seen.
  private func steps(of crew: WorkerCrew) throws -> WorkerMessage {
    for _ in 0..<settings.samples {
      Pause.nanoseconds(pause)
      try crew.workers[1].send("go\n")
      _ = try crew.next(for: "the observer to see a commit")
    }
    try crew.workers[1].send("stop\n")
    return try crew.results()[0]
  }
}
