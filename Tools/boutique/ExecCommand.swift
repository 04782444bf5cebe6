import BoutiqueDB
import CommandLineSupport

/// `boutique exec`: runs statements that change the database, all in one transaction.
enum ExecCommand: Subcommand {
  struct Settings: Sendable {
    var common = CommonSettings()
    var file: String?
    var creates = false
    var isQuiet = false
    var named: [String: SQLValue] = [:]
  }

  static let initialSettings = Settings()

  static let syntax = CommandSyntax<Settings>(
    name: "boutique exec",
    summary: "Run statements in one transaction: all of them take effect, or none.",
    operands: [
      Operand("DB", help: "The database file."),
      Operand(
        "SQL", .optional,
        help: "One or more statements, parted by “;”. “-” or nothing reads standard input."),
      Operand("ARGUMENT", .repeated, help: "The values for ?, in order; for one statement only."),
    ],
    options: [
      .value("file", short: "f", "FILE", help: "Read the statements from a file.") {
        $0.file = $1
      },
      StatementArguments.option { $0.named[$1] = $2 },
      .flag("create", help: "Make the database when there is none.") { $0.creates = true },
      .flag("quiet", short: "q", help: "Do not print the number of rows changed.") {
        $0.isQuiet = true
      },
    ] + CommonSettings.options { (settings, change) in change(&settings.common) },
    notes: [
      """
      Prints how many rows were changed, those changed by triggers included. Rows that a statement \
      returns are not printed; use “boutique query” to read. BEGIN and COMMIT are not needed and \
      not allowed: the whole script is one transaction, made in turn with other processes.
      """
    ],
    examples: [
      "boutique exec app.db \"UPDATE note SET title = ? WHERE id = ?\" Milk 42",
      "boutique exec app.db --create -f schema.sql",
    ])

  static func run(
    _ settings: Settings, _ operands: [String], _ context: CommandContext
  ) async throws -> ExitStatus {
    let (sql, words) = try StatementSource.read(
      words: operands.dropFirst(), file: settings.file)
    let arguments = try StatementArguments(words: words, named: settings.named)
    let use: DatabaseUse = settings.creates ? .creating : .writing
    let changed = try await settings.common.withDatabase(
      operands[0], for: use, command: "exec"
    ) { database in
      try await database.write { connection in
        let before = try totalChanges(connection)
        if arguments.isEmpty {
          try connection.executeScript(sql)
        } else {
          _ = try arguments.run(connection.prepare(sql))
        }
        return try totalChanges(connection) - before
      }
    }
    if !settings.isQuiet {
      try context.output.write("\(changed) row\(changed == 1 ? "" : "s") changed\n")
    }
    return .success
  }

  private static func totalChanges(_ connection: BoutiqueConnection) throws -> Int64 {
    guard case .integer(let count)? = try connection.queryOne("SELECT total_changes()")?[0] else {
      return 0
    }
    return count
  }
}
