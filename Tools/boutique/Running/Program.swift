import BoutiqueDB
import CommandLineSupport

/// The program as a whole: finds the subcommand, runs it, turns its errors into messages and an
/// exit status.
enum Program {
  static let name = "boutique"
  static let version = "0.1.0"

  static var commands: [SubcommandEntry] {
    [
      SubcommandEntry(ImportCommand.self), SubcommandEntry(QueryCommand.self),
      SubcommandEntry(ExecCommand.self), SubcommandEntry(WatchCommand.self),
      SubcommandEntry(ChangesCommand.self), SubcommandEntry(StatusCommand.self),
      SubcommandEntry(BackupCommand.self), SubcommandEntry(CheckCommand.self),
    ]
  }

  static func run(_ arguments: [String], _ context: CommandContext) async -> ExitStatus {
    var status: ExitStatus
    var command: SubcommandEntry?
    do {
      if let word = arguments.first, !word.hasPrefix("-"), word != "help" {
        command = try entry(named: word)
        status = try await command?.run(Array(arguments.dropFirst()), context) ?? .usage
      } else {
        status = try await runWithoutCommand(arguments, context)
      }
    } catch {
      status = report(error, command, context)
    }
    do {
      try context.output.flush()
    } catch {
      status = report(error, command, context)
    }
    return status
  }

  /// The signals that the command of a command line takes itself.
  static func signals(takenBy arguments: [String]) -> [Int32] {
    commands.first { $0.name == arguments.first }?.signals ?? []
  }

  private static func entry(named word: String) throws(UsageError) -> SubcommandEntry {
    guard let entry = commands.first(where: { $0.name == word }) else {
      throw .unknownCommand(
        word, suggestion: Suggestion.nearest(to: word, among: commands.map(\.name)))
    }
    return entry
  }

  private static func runWithoutCommand(
    _ arguments: [String], _ context: CommandContext
  ) async throws -> ExitStatus {
    switch arguments.first {
    case nil:
      context.complain(helpText(context))
      return .usage
    case "--version":
      try context.output.write("\(name) \(version)\n")
      return .success
    case "help" where arguments.count > 1:
      return try await entry(named: arguments[1]).run(["--help"], context)
    case "help", "--help", "-h":
      try context.output.write(helpText(context))
      return .success
    case let word?:
      throw UsageError.unknownOption(
        word, suggestion: Suggestion.nearest(to: word, among: ["--help", "--version"]))
    }
  }

  private static func helpText(_ context: CommandContext) -> String {
    let width = context.helpWidth
    let list = HelpLayout.definitions(
      commands.map { (term: $0.name, help: $0.summary) }, width: width)
    let introduction = """
      Works with SQLite databases that several processes use at the same time: every change is \
      made in one transaction, in turn with the other processes, and seen by them at once.
      """
    let closing = """
      “\(name) COMMAND --help” tells more about a command. The exit status is 0 when all went well, \
      1 when something failed, 2 when the command line is wrong.
      """
    return """
      usage: \(name) COMMAND [OPTION]... [OPERAND]...

      \(HelpLayout.wrap(introduction, width: width))

      Commands:
      \(list)

      \(HelpLayout.wrap(closing, width: width))

      """
  }

  private static func report(
    _ error: any Error, _ command: SubcommandEntry?, _ context: CommandContext
  ) -> ExitStatus {
    switch error {
    case OutputError.readerGone:
      // Whoever read the output has had enough, as `head` does: nothing is wrong.
      return .success
    case let error as UsageError:
      let help = [name, command?.name, "--help"].compactMap(\.self).joined(separator: " ")
      context.complain("\(name): \(error)\nTry “\(help)”.\n")
      return .usage
    case is CancellationError:
      context.complain("\(name): interrupted\n")
      return .failure
    default:
      context.complain("\(name): \(error)\n")
      return .failure
    }
  }
}
