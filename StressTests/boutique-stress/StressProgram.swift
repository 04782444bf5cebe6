import CommandLineSupport
import StressHarness
import StressReport

/// The program as users know it: finds the command, runs it, turns errors into messages and an exit status.
enum StressProgram {
  static let name = "boutique-stress"
  static let version = "0.1.0"

  private static let commands: [any StressCommand.Type] = [
    ListCommand.self, RunCommand.self, ReplayCommand.self, ReportCommand.self,
  ]

  /// Runs the program and returns its exit status.
  static func run(_ words: [String], program: String) async -> Int32 {
    let console = Console()
    var command: (any StressCommand.Type)?
    do {
      guard let word = words.first else {
        try console.write(help(console))
        return StressStatus.clean
      }
      switch word {
      case "--version":
        try console.write("\(name) \(version)\n")
        return StressStatus.clean
      case "--help", "-h", "help":
        try console.write(help(console))
        return StressStatus.clean
      case _ where word.hasPrefix("-"):
        throw UsageError.unknownOption(
          word, suggestion: Suggestion.nearest(to: word, among: ["--help", "--version"]))
      default:
        let found = try named(word)
        command = found
        return try await found.run(
          Array(words.dropFirst()), CommandEnvironment(console: console, program: program))
      }
    } catch OutputError.readerGone {
      return StressStatus.clean
    } catch let error as UsageError {
      let help = [name, command?.word, "--help"].compactMap(\.self).joined(separator: " ")
      console.complain("\(error)\nTry “\(help)”.")
      return StressStatus.usage
    } catch let error as VoidRun {
      console.complain("\(error)")
      return StressStatus.void
    } catch {
      console.complain(FileProblem.textWithPath(error))
      return StressStatus.failed
    }
  }

  private static func named(_ word: String) throws -> any StressCommand.Type {
    for command in commands where command.word == word { return command }
    let words = commands.map { $0.word }
    throw UsageError.unknownCommand(word, suggestion: Suggestion.nearest(to: word, among: words))
  }

  private static func help(_ console: Console) -> String {
    let width = console.helpWidth
    let introduction = """
      Works on one database with many processes, disturbs them, writes down what each was told and when, and \
      checks that every promise was kept.
      """
    let rows = commands.map { (term: $0.word, help: $0.summary) }
    return """
      usage: \(name) COMMAND [OPTION]...

      \(HelpLayout.wrap(introduction, width: width))

      Commands:
      \(HelpLayout.definitions(rows, width: width))

      \(HelpLayout.wrap(StressStatus.note, width: width))

      Examples:
        \(name) run --workload counters --faults kill,pause --seconds 10
        \(name) run --all --seconds 60 --html report.html
        \(name) COMMAND --help

      """
  }
}

/// The numbers the program ends with.
enum StressStatus {
  /// Every promise was kept.
  static let clean: Int32 = 0
  /// A promise was broken.
  static let violated: Int32 = 1
  /// The command line was wrong; nothing was tried.
  static let usage: Int32 = 2
  /// Something could not be run.
  static let failed: Int32 = 3
  /// A run shows nothing: its history could not be written or read.
  static let void: Int32 = 4

  static let note = """
    The exit status is 0 when every promise was kept, 1 when one was broken, 2 when the command line is \
    wrong, 3 when something could not be run, 4 when a run was void, since its history could not be written, \
    and 128 and the signal's number when a signal ended the \
    run before its time and nothing was found until then.
    """
}
