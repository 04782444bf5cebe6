import CommandLineSupport

/// The program as a whole: finds the subcommand, runs it, turns its errors into messages and an exit
/// status.
enum Program {
  static let name = "boutique-bench"
  static let version = "0.1.0"

  private static var commands: [ProgramCommand] {
    BenchmarkList.all.map { ProgramCommand($0) } + [
      ProgramCommand(AllCommand.syntax, AllCommand.Settings(), AllCommand.run),
      ProgramCommand(GrowthCommand.syntax, GrowthCommand.Settings(), GrowthCommand.run),
    ]
  }

  /// Runs the program on the thread that calls, which blocks.
  static func run(_ arguments: [String]) -> ExitStatus {
    let output = BenchOutput()
    var command: ProgramCommand?
    do {
      guard let word = arguments.first else {
        output.complain(helpText(output))
        return .usage
      }
      switch word {
      case "--version":
        try output.write("\(name) \(version)\n")
      case "--help", "-h", "help":
        try output.write(helpText(output))
      case "--quick", "-q":
        // The short way to `all --quick`.
        command = try entry(named: "all")
        try command?.run(arguments, output)
      case _ where word.hasPrefix("-"):
        throw UsageError.unknownOption(
          word, suggestion: Suggestion.nearest(to: word, among: ["--help", "--version", "--quick"]))
      default:
        command = try entry(named: word)
        try command?.run(Array(arguments.dropFirst()), output)
      }
      return .success
    } catch OutputError.readerGone {
      return .success
    } catch let error as UsageError {
      let help = [name, command?.name, "--help"].compactMap(\.self).joined(separator: " ")
      output.complain("\(name): \(error)\nTry “\(help)”.\n")
      return .usage
    } catch {
      output.complain("\(name): \(error)\n")
      return .failure
    }
  }

  private static func entry(named word: String) throws(UsageError) -> ProgramCommand {
    guard let entry = commands.first(where: { $0.name == word }) else {
      throw .unknownCommand(
        word, suggestion: Suggestion.nearest(to: word, among: commands.map(\.name)))
    }
    return entry
  }

  private static func helpText(_ output: BenchOutput) -> String {
    let width = output.helpWidth
    let list = HelpLayout.definitions(
      commands.map { (term: $0.name, help: $0.summary) }, width: width)
    let introduction = """
      Measures BoutiqueDB beside plain SQLite doing the same work in the same run, with real processes \
      on a real file, and shows the ratios.
      """
    return """
      usage: \(name) COMMAND [OPTION]...
             \(name) --quick [--json]

      \(HelpLayout.wrap(introduction, width: width))

      Commands:
      \(list)

      \(HelpLayout.wrap("“\(name) COMMAND --help” tells more about a command.", width: width))

      """
  }
}
