import CommandLineSupport

/// One subcommand: how its command line looks and what it does.
protocol Subcommand {
  /// What the options set.
  associatedtype Settings: Sendable

  /// The settings before any option.
  static var initialSettings: Settings { get }

  /// The command line.
  static var syntax: CommandSyntax<Settings> { get }

  /// The signals that the command takes with a ``StopSwitch``; they end other commands as usual.
  static var signals: [Int32] { get }

  /// Does the work. Errors are reported by the caller.
  static func run(
    _ settings: Settings, _ operands: [String], _ context: CommandContext
  ) async throws -> ExitStatus
}

extension Subcommand {
  static var signals: [Int32] { [] }
}

/// A subcommand in the list of all.
struct SubcommandEntry {
  let name: String
  let summary: String
  let signals: [Int32]
  private let body: (_ arguments: [String], _ context: CommandContext) async throws -> ExitStatus

  init<Command: Subcommand>(_ command: Command.Type) {
    let syntax = Command.syntax
    name = syntax.name.split(separator: " ").last.map { String($0) } ?? syntax.name
    summary = syntax.summary
    signals = Command.signals
    body = { arguments, context in
      switch try syntax.parse(arguments, into: Command.initialSettings) {
      case .help:
        try context.output.write(syntax.helpText(width: context.helpWidth))
        return .success
      case .version:
        try context.output.write("\(Program.name) \(Program.version)\n")
        return .success
      case .run(let settings, let operands):
        return try await Command.run(settings, operands, context)
      }
    }
  }

  func run(_ arguments: [String], _ context: CommandContext) async throws -> ExitStatus {
    try await body(arguments, context)
  }
}
