import BoutiqueDB
import CommandLineSupport
import Foundation

/// `boutique status`: who has the database open, who writes, who waits, how big the log is.
enum StatusCommand: Subcommand {
  struct Settings: Sendable {
    var common = CommonSettings()
    var writesJSON = false
  }

  static let initialSettings = Settings()

  static let syntax = CommandSyntax<Settings>(
    name: "boutique status",
    summary: "Show who has a database open, who writes, who waits, and the state of its log.",
    operands: [Operand("DB", help: "The database file.")],
    options: [
      .flag("json", short: "j", help: "Write one JSON object.") { $0.writesJSON = true }
    ] + CommonSettings.options { (settings, change) in change(&settings.common) })

  static func run(
    _ settings: Settings, _ operands: [String], _ context: CommandContext
  ) async throws -> ExitStatus {
    let status = try await settings.common.withDatabase(
      operands[0], for: .reading, command: "status"
    ) { database in
      // Only who observes has a bell, and can tell whether it works here.
      var observer = database.observe { _ in 0 }.makeAsyncIterator()
      _ = try await observer.next()
      let status = try await database.status()
      return withExtendedLifetime(observer) { status }
    }
    if settings.writesJSON {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let text = String(decoding: try encoder.encode(status), as: UTF8.self)
      try context.output.write(text + "\n")
    } else {
      for line in status.lines(context.outputStyle) { try context.output.write(line + "\n") }
    }
    return .success
  }
}
