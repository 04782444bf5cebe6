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

/// A subcommand in the list of all.
struct BenchmarkEntry {
  let name: String
  let summary: String
  let run: (_ arguments: [String], _ output: BenchOutput) throws -> Void

  init<Command: Benchmark>(_ command: Command.Type) {
    let syntax = Command.syntax
    name = syntax.name.split(separator: " ").last.map { String($0) } ?? syntax.name
    summary = syntax.summary
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
  }
}
