import CommandLineSupport

/// A word of the command line with what it does: a benchmark, or something over several of them.
struct ProgramCommand {
  let name: String
  let summary: String
  let run: (_ arguments: [String], _ output: BenchOutput) throws -> Void

  /// One benchmark by itself.
  init(_ entry: BenchmarkEntry) {
    name = entry.name
    summary = entry.summary
    run = entry.run
  }

  /// A command with settings of its own.
  ///
  /// - Parameter body: runs it, with the settings that the words have made.
  init<Settings: Sendable>(
    _ syntax: CommandSyntax<Settings>, _ initial: Settings,
    _ body: @escaping (_ settings: Settings, _ output: BenchOutput) throws -> Void
  ) {
    name = syntax.name.split(separator: " ").last.map { String($0) } ?? syntax.name
    summary = syntax.summary
    run = { arguments, output in
      switch try syntax.parse(arguments, into: initial) {
      case .help: try output.write(syntax.helpText(width: output.helpWidth))
      case .version: try output.write("\(Program.name) \(Program.version)\n")
      case .run(let settings, _): try body(settings, output)
      }
    }
  }
}
