import CommandLineSupport
import Foundation
import Glibc

/// Standard output for results, standard error for everything else.
struct Console: Sendable {
  private let output = TextOutput(fileDescriptor: STDOUT_FILENO)
  private let errors = TextOutput(fileDescriptor: STDERR_FILENO)
  /// How results may look.
  let style: TerminalStyle
  /// How the progress line may look.
  let progressStyle: TerminalStyle

  init() {
    let environment = ProcessInfo.processInfo.environment
    style = .detect(fileDescriptor: STDOUT_FILENO, environment: environment)
    progressStyle = .detect(fileDescriptor: STDERR_FILENO, environment: environment)
  }

  var helpWidth: Int { min(style.columns ?? 80, 100) }

  /// Writes to standard output at once.
  func write(_ text: String) throws {
    try output.write(text)
    try output.flush()
  }

  /// Writes to standard output at once; a reader that has gone changes nothing of what was found.
  func say(_ text: String) throws {
    do {
      try write(text)
    } catch OutputError.readerGone {
      return
    }
  }

  /// Writes to standard error at once; what cannot even be said there is given up.
  func tell(_ text: String) {
    try? errors.write(text)
    try? errors.flush()
  }

  /// Says what is wrong.
  func complain(_ text: String) { tell("\(StressProgram.name): \(text)\n") }
}
