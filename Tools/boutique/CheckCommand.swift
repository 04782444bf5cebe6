import BoutiqueDB
import CommandLineSupport

/// `boutique check`: looks for damage and for rows whose foreign keys point nowhere.
enum CheckCommand: Subcommand {
  private static let longestList = 100

  struct Settings: Sendable {
    var common = CommonSettings()
    var isQuiet = false
  }

  static let initialSettings = Settings()

  static let syntax = CommandSyntax<Settings>(
    name: "boutique check",
    summary: "Check a database for damage and for broken foreign keys.",
    operands: [Operand("DB", help: "The database file.")],
    options: [
      .flag("quiet", short: "q", help: "Print nothing; the exit status tells.") {
        $0.isQuiet = true
      }
    ] + CommonSettings.options { (settings, change) in change(&settings.common) },
    notes: ["The exit status is 0 when nothing is wrong and 1 otherwise. Nothing is changed."])

  static func run(
    _ settings: Settings, _ operands: [String], _ context: CommandContext
  ) async throws -> ExitStatus {
    let faults = try await settings.common.withDatabase(
      operands[0], for: .reading, command: "check"
    ) { database in
      try await database.integrityCheck()
    }
    if !settings.isQuiet {
      for fault in faults.prefix(longestList) { try context.output.write(fault + "\n") }
      if faults.count > longestList {
        try context.output.write("… and \(faults.count - longestList) more\n")
      }
      if faults.isEmpty { try context.output.write("ok\n") }
    }
    return faults.isEmpty ? .success : .failure
  }
}
