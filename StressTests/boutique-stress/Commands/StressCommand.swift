import CommandLineSupport

/// A command of the program.
protocol StressCommand: Sendable {
  /// The word on the command line.
  static var word: String { get }
  /// One sentence for lists.
  static var summary: String { get }

  /// Runs it with the words after its own and returns the program's exit status.
  static func run(_ words: [String], _ environment: CommandEnvironment) async throws -> Int32
}

/// What commands run in.
struct CommandEnvironment: Sendable {
  let console: Console
  /// The path of this program, which plays the workers too.
  let program: String
}

extension CommandSyntax {
  /// Parses the words; tells help or version itself and returns nothing then.
  func settings(
    _ words: [String], _ initial: Settings, _ console: Console
  ) throws -> (settings: Settings, operands: [String])? {
    switch try parse(words, into: initial) {
    case .help:
      try console.write(helpText(width: console.helpWidth))
      return nil
    case .version:
      try console.write("\(StressProgram.name) \(StressProgram.version)\n")
      return nil
    case .run(let settings, let operands): return (settings, operands)
    }
  }
}
