import CommandLineSupport

/// One subcommand: how its command line looks and what it measures.
protocol Benchmark {
  /// What the options set.
  associatedtype Settings: Sendable, Encodable

  /// The settings before any option.
  static var initialSettings: Settings { get }

  /// The command line.
  static var syntax: CommandSyntax<Settings> { get }

  /// The settings that all subcommands have.
  static func common(_ settings: Settings) -> CommonSettings

  /// Measures. Blocks the thread; errors are reported by the caller.
  static func run(_ settings: Settings, _ run: BenchRun) throws -> BenchReport
}

/// What a subcommand found out.
struct BenchReport {
  /// Sentences that stand before the tables.
  var notes: [String] = []
  /// For people.
  var tables: [(title: String, table: TextTable)]
  /// For programs, in the same order.
  var results: any Encodable & Sendable
}

/// What a benchmark found out, and with which settings.
struct MeasuredBenchmark {
  let name: String
  let settings: any Encodable
  let report: BenchReport
}

/// A subcommand in the list of all.
struct BenchmarkEntry {
  let name: String
  let summary: String
  /// The words that make it small.
  let quick: [String]
  let run: (_ arguments: [String], _ output: BenchOutput) throws -> Void
  /// Measures as a part of a run that is under way.
  let measure: (_ arguments: [String], _ part: BenchRun) throws -> MeasuredBenchmark

  init<Command: Benchmark>(_ command: Command.Type, quick: [String]) {
    let syntax = Command.syntax
    name = syntax.name.split(separator: " ").last.map { String($0) } ?? syntax.name
    summary = syntax.summary
    self.quick = quick
    let name = name
    run = { arguments, output in
      switch try syntax.parse(arguments, into: Command.initialSettings) {
      case .help:
        try output.write(syntax.helpText(width: output.helpWidth))
      case .version:
        try output.write("\(Program.name) \(Program.version)\n")
      case .run(let settings, _):
        let common = Command.common(settings)
        let run = try BenchRun(common, output)
        defer { run.keeper.clear() }
        let machine = MachineFacts.collect(directory: run.directory)
        if !common.isJSON { try output.write(machine.lines.map { $0 + "\n" }.joined()) }
        let report = try Command.run(settings, run)
        try output.write(
          name: name, machine: machine, settings: settings, seed: run.seed, report,
          asJSON: common.isJSON)
      }
    }
    measure = { arguments, part in
      guard case .run(let settings, _) = try syntax.parse(arguments, into: Command.initialSettings)
      else { throw BenchFailure("\(name) measures nothing with \(arguments)") }
      return MeasuredBenchmark(
        name: name, settings: settings, report: try Command.run(settings, part))
    }
  }
}
