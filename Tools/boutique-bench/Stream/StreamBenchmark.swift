import CommandLineSupport

/// `boutique-bench stream`: the memory that a long result takes when it is read row by row.
enum StreamBenchmark: Benchmark {
  struct Settings: Sendable, Codable {
    var common = CommonSettings()
    var megabytes = 1024
    var rowBytes = 1024
  }

  /// One way of reading; each list has a number for each round.
  struct Result: Codable, Sendable {
    let work: StreamWork
    var nanoseconds: [Double] = []
    var processorNanoseconds: [Double] = []
    /// The most memory above that before the reading, in bytes.
    var peakBytes: [Double] = []
  }

  static var initialSettings: Settings { Settings() }

  static let syntax = CommandSyntax<Settings>(
    name: "\(Program.name) stream",
    summary: "The memory that a long result takes when it is read row by row.",
    operands: [],
    options: [
      .value("megabytes", "N", help: "How long the result is; 1024 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.megabytes = try OptionValue.positiveInteger(text)
      },
      .value("row-bytes", "N", help: "How long the text of a row is; 1024 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.rowBytes = try OptionValue.positiveInteger(text)
      },
    ] + CommonSettings.options { settings, change in change(&settings.common) },
    notes: [
      """
      The memory is the peak that the kernel has seen (VmHWM) above what the process had before, after a \
      reading of some rows; so it is what grows with the result, and should be next to nothing.
      """, CommonSettings.note,
    ], examples: ["\(Program.name) stream --megabytes=100 --rounds=1"])

  static func common(_ settings: Settings) -> CommonSettings { settings.common }

  static func run(_ settings: Settings, _ run: BenchRun) throws -> BenchReport {
    var results = StreamWork.allCases.map { Result(work: $0) }
    for round in 1...run.rounds {
      run.progress("round \(round) of \(run.rounds)")
      let message = try run.withDatabase { path in
        let orders = StreamOrders(
          path: path, rows: max(1, settings.megabytes << 20 / settings.rowBytes),
          rowBytes: settings.rowBytes)
        return try WorkerCrew.results(of: [(label: "reader", orders: .stream(orders))], run).first
      }
      for index in results.indices {
        guard let figures = message?[results[index].work.rawValue], figures.count == 3 else {
          throw BenchFailure("no figure for “\(results[index].work.rawValue)”")
        }
        results[index].nanoseconds.append(Double(figures[0]))
        results[index].processorNanoseconds.append(Double(figures[1]))
        results[index].peakBytes.append(Double(figures[2]))
      }
    }
    var table = TextTable(titles: ["read by", "ms", "CPU, ms", "MB/s", "memory, KiB"])
    for result in results {
      let time = Median.of(result.nanoseconds)
      table.append([
        .text(result.work.rawValue), Figure.milliseconds(time),
        Figure.milliseconds(Median.of(result.processorNanoseconds)),
        Figure.count(Double(settings.megabytes) / (time / 1e9)),
        Figure.count(Median.of(result.peakBytes) / 1024),
      ])
    }
    return BenchReport(
      notes: [
        "\(settings.megabytes) MiB in rows of \(settings.rowBytes) bytes, medians of \(run.rounds) rounds"
      ],
      tables: [("reading row by row", table)], results: results)
  }
}
