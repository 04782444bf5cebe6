import CommandLineSupport
import Foundation
import Glibc

/// What a command has around it: where output goes and how it may look.
struct CommandContext: Sendable {
  let output: TextOutput
  let errors: TextOutput
  let outputStyle: TerminalStyle
  let errorStyle: TerminalStyle
  let environment: [String: String]

  static func ofThisProcess() -> CommandContext {
    let environment = ProcessInfo.processInfo.environment
    return CommandContext(
      output: TextOutput(fileDescriptor: STDOUT_FILENO),
      errors: TextOutput(fileDescriptor: STDERR_FILENO),
      outputStyle: .detect(fileDescriptor: STDOUT_FILENO, environment: environment),
      errorStyle: .detect(fileDescriptor: STDERR_FILENO, environment: environment),
      environment: environment)
  }

  var helpWidth: Int { min(outputStyle.columns ?? 80, 100) }

  /// Writes to standard error at once.
  ///
  /// What cannot even be said there is given up.
  func complain(_ text: String) {
    try? errors.write(text)
    try? errors.flush()
  }
}

/// Something that went wrong, told in a sentence for the user.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
