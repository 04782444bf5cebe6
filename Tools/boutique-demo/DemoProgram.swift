import CommandLineSupport
import Foundation
import Glibc

/// The program as users know it: reads the command line, runs the demo, says what went wrong.
enum DemoProgram {
  /// What the command line asks for.
  struct Settings: Sendable {
    var isQuick = false
    var keeps = false
    var seconds: Duration?
    var database: String?
  }

  static let name = "boutique-demo"
  private static let version = "0.1.0"

  private static let syntax = CommandSyntax<Settings>(
    name: "Tools/demo",
    summary: """
      Shows several processes with one live database: two indexers write what is in a directory tree, \
      a reporter keeps a table by kind up to date, and a plain sqlite3 shell writes in between.
      """,
    operands: [Operand("DIR", .optional, help: "The tree; /usr/share if not given.")],
    options: [
      .flag("quick", help: "A smaller tree and less time, about ten seconds in all.") {
        $0.isQuick = true
      },
      .flag("keep", help: "Leave the database and say how to look at it.") { $0.keeps = true },
      .value(
        "seconds", "N",
        help: """
          Go through the tree again and again for N seconds (20, with --quick 4). The first pass is \
          always finished.
          """
      ) { (settings, text) throws(InvalidValue) in
        settings.seconds = try OptionValue.seconds(text)
      },
      .value("database", "PATH", help: "Make the database there, and leave it.") {
        $0.database = $1
        $0.keeps = true
      },
    ],
    notes: [
      """
      At the end the reporter's last live value is compared with a fresh query and with the tree \
      itself. The exit status is 0 when all agree, 1 when something differs or fails, 2 when the \
      command line is wrong. Ctrl-C ends all processes in order.
      """
    ],
    examples: ["Tools/demo", "Tools/demo --quick", "Tools/demo ~/src --seconds 60 --keep"])

  /// Runs the program and returns its exit status.
  static func run(_ words: [String]) async -> Int32 {
    let style = TerminalStyle.detect(
      fileDescriptor: STDOUT_FILENO, environment: ProcessInfo.processInfo.environment)
    let output = TextOutput(fileDescriptor: STDOUT_FILENO)
    do {
      switch try syntax.parse(words, into: Settings()) {
      case .help:
        try output.write(syntax.helpText(width: min(style.columns ?? 80, 100)))
      case .version:
        try output.write("\(name) \(version)\n")
      case .run(let settings, let operands):
        let interruption = Interruption()
        let place = try DemoPlace(settings, directory: operands.first.map(RawArgument.bytes))
        let coordinator = Coordinator(
          place: place, settings: settings, interruption: interruption, output: output, style: style
        )
        return try await coordinator.run()
      }
      try output.flush()
      return ExitStatus.success.rawValue
    } catch OutputError.readerGone {
      return ExitStatus.failure.rawValue
    } catch let error as UsageError {
      complain("\(error)\nTry “Tools/demo --help”.")
      return ExitStatus.usage.rawValue
    } catch {
      complain("\(error)")
      return ExitStatus.failure.rawValue
    }
  }

  private static func complain(_ text: String) {
    let output = TextOutput(fileDescriptor: STDERR_FILENO)
    try? output.write("\(name): \(text)\n")
    try? output.flush()
  }
}

/// The bytes behind an argument, which Swift's list of arguments repairs to be text.
enum RawArgument {
  /// Returns the bytes of the first argument that reads like `text`.
  static func bytes(_ text: String) -> [UInt8] {
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let word = CommandLine.unsafeArgv[index] else { continue }
      let bytes = Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
      if String(decoding: bytes, as: UTF8.self) == text { return bytes }
    }
    return Array(text.utf8)
  }
}
