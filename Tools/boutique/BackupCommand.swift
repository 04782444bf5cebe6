import BoutiqueDB
import CommandLineSupport
import Foundation

/// `boutique backup`: a consistent copy while others read and write.
enum BackupCommand: Subcommand {
  struct Settings: Sendable {
    var common = CommonSettings()
    var overwrites = false
  }

  static let initialSettings = Settings()

  static let syntax = CommandSyntax<Settings>(
    name: "boutique backup",
    summary: "Copy a database to another file while others use it.",
    operands: [
      Operand("DB", help: "The database file."),
      Operand("DEST", help: "The file to make; it is there whole or not at all."),
    ],
    options: [
      .flag("overwrite", help: "Replace DEST when it is there.") { $0.overwrites = true }
    ] + CommonSettings.options { (settings, change) in change(&settings.common) },
    notes: [
      """
      The copy is the state at one moment. Never copy a database in use with cp or rsync: the copy \
      can be damaged, and so can the original when it is overwritten.
      """
    ])

  static func run(
    _ settings: Settings, _ operands: [String], _ context: CommandContext
  ) async throws -> ExitStatus {
    if isPart(operands[1], of: operands[0]) {
      throw CommandFailure("\(operands[1]) is the database itself or one of its side files")
    }
    try await settings.common.withDatabase(operands[0], for: .reading, command: "backup") {
      database in
      try await database.backup(
        to: URL(filePath: operands[1]), overwrite: settings.overwrites)
    }
    return .success
  }

  /// Whether a path names the database or a file that SQLite or the library keeps beside it.
  ///
  /// Writing a copy over one of those, which `--overwrite` would allow, loses commits.
  private static func isPart(_ path: String, of database: String) -> Bool {
    let own = resolved(database)
    let wanted = resolved(path)
    return ["", "-wal", "-shm", "-journal", "-lock"].contains { wanted == own + $0 }
  }

  /// The path without links; of a file that does not exist, its directory is resolved.
  private static func resolved(_ path: String) -> String {
    let file = URL(filePath: path)
    let directory = file.deletingLastPathComponent().resolvingSymlinksInPath()
    return directory.appending(path: file.lastPathComponent).resolvingSymlinksInPath().path
  }
}
