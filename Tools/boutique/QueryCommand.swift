import BoutiqueDB
import CommandLineSupport

/// `boutique query`: prints what a statement reads, from one snapshot.
enum QueryCommand: Subcommand {
  struct Settings: Sendable {
    var common = CommonSettings()
    var format: RowFormat?
    var showsHeader = true
    var file: String?
    var named: [String: SQLValue] = [:]
  }

  static let initialSettings = Settings()

  static let syntax = CommandSyntax<Settings>(
    name: "boutique query",
    summary: "Print the rows that a statement reads.",
    operands: [
      Operand("DB", help: "The database file."),
      Operand("SQL", .optional, help: "The statement; “-” or nothing reads standard input."),
      Operand("ARGUMENT", .repeated, help: "The values for ?, in order."),
    ],
    options: RowFormat.options { $0.format = $1 } + [
      .flag("header", help: "Begin with the names of the columns; the default.") {
        $0.showsHeader = true
      },
      .flag("no-header", help: "Leave the names of the columns out.") { $0.showsHeader = false },
      StatementArguments.option { $0.named[$1] = $2 },
      .value("file", short: "f", "FILE", help: "Read the statement from a file.") {
        $0.file = $1
      },
    ] + CommonSettings.options { (settings, change) in change(&settings.common) },
    notes: [
      """
      All rows come from one snapshot: what other processes commit meanwhile is not mixed in. The \
      statement cannot change anything. Rows are written while they are read, so a result of any \
      size takes little memory.
      """,
      """
      An argument is bound as a number when it is written as SQLite would write that number (42, \
      0.5), else as text. Blobs are written as x'…', infinities as 9e999.
      """,
    ],
    examples: [
      "boutique query app.db 'SELECT * FROM note WHERE id = ?' 42",
      "boutique query app.db --json -p word=%milk% 'SELECT * FROM note WHERE body LIKE :word'",
    ])

  static func run(
    _ settings: Settings, _ operands: [String], _ context: CommandContext
  ) async throws -> ExitStatus {
    let (sql, words) = try StatementSource.read(
      words: operands.dropFirst(), file: settings.file)
    let arguments = try StatementArguments(words: words, named: settings.named)
    let format = settings.format ?? (context.outputStyle.isTerminal ? .table : .tsv)
    try await settings.common.withDatabase(operands[0], for: .reading, command: "query") {
      database in
      try await database.read { connection in
        let statement = try connection.prepare(sql)
        var writer = format.makeWriter(
          context.output, style: context.outputStyle, showsHeader: settings.showsHeader)
        var hasBegun = false
        try arguments.forEachRow(of: statement) { row in
          if !hasBegun { try writer.begin(columns: row.columns) }
          hasBegun = true
          try writer.write(row.values)
        }
        if !hasBegun { try writer.begin(columns: try connection.columnNames(of: sql)) }
        try writer.end()
      }
    }
    return .success
  }
}
