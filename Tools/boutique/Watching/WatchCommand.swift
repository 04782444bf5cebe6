import BoutiqueDB
import CommandLineSupport
import Glibc
import StructuredQueries
import Synchronization

/// `boutique watch`: shows what a statement reads, again after every commit that changes it, whoever
/// made it.
enum WatchCommand: Subcommand {
  struct Settings: Sendable {
    var common = CommonSettings()
    var writesJSON = false
    var count: Int?
    var interval: Duration?
    var file: String?
    var named: [String: SQLValue] = [:]
  }

  static let initialSettings = Settings()

  static let syntax = CommandSyntax<Settings>(
    name: "boutique watch",
    summary: "Show what a statement reads, again whenever any process changes it.",
    operands: [
      Operand("DB", help: "The database file."),
      Operand("SQL", .optional, help: "The statement; “-” or nothing reads standard input."),
      Operand("ARGUMENT", .repeated, help: "The values for ?, in order."),
    ],
    options: [
      .flag(
        "json", short: "j",
        help: "Write one line a value: an object with number, time and rows, each row an object."
      ) { $0.writesJSON = true },
      .value("count", short: "n", "N", help: "End after N values; the first comes at once.") {
        (settings, text) throws(InvalidValue) in
        settings.count = try OptionValue.positiveInteger(text)
      },
      .value(
        "interval", short: "i", "SECONDS",
        help: "Look at least this often, in case nothing rings; 0.25 if not given."
      ) { (settings, text) throws(InvalidValue) in
        let interval = try OptionValue.seconds(text)
        if interval == .zero { throw InvalidValue(expected: "more than 0 seconds") }
        settings.interval = interval
      },
      StatementArguments.option { $0.named[$1] = $2 },
      .value("file", short: "f", "FILE", help: "Read the statement from a file.") {
        $0.file = $1
      },
    ] + CommonSettings.options { (settings, change) in change(&settings.common) },
    notes: [
      """
      On a terminal the table is drawn on the whole screen; Ctrl-C ends it. Elsewhere, without \
      --json, each value is a table under a line with its number and time. Values come in order; \
      when commits come faster than they can be shown, those in between are left out. SIGINT, \
      SIGTERM and SIGHUP end the command with exit status 0.
      """
    ],
    examples: [
      "boutique watch app.db 'SELECT id, title FROM note ORDER BY id DESC LIMIT 20'",
      "boutique watch app.db --json 'SELECT count(*) AS n FROM job' | jq '.rows[0].n'",
    ])

  static func run(
    _ settings: Settings, _ operands: [String], _ context: CommandContext
  ) async throws -> ExitStatus {
    let (sql, words) = try StatementSource.read(
      words: operands.dropFirst(), file: settings.file)
    let arguments = try StatementArguments(words: words, named: settings.named)
    let isFullScreen = context.outputStyle.isTerminal && !settings.writesJSON
    let screen = isFullScreen ? LiveScreen(title: sql, context) : nil
    let stopSwitch = StopSwitch(others: isFullScreen ? [SIGWINCH, SIGTSTP] : []) { signal in
      screen?.handle(signal)
    }
    defer { screen?.leave() }
    try await stopSwitch.run {
      try await settings.common.withDatabase(
        operands[0], for: .reading, command: "watch", pollInterval: settings.interval
      ) { database in
        let limit = isFullScreen ? LiveScreen.rowLimit : nil
        let results = database.observe { connection in
          try WatchedResult.fetch(sql, arguments, limit: limit, on: connection)
        }
        var number = 0
        for try await result in results {
          number += 1
          if let screen {
            try screen.show(result, number: number)
          } else {
            try write(result, number: number, asJSON: settings.writesJSON, context)
          }
          if number == settings.count { break }
        }
      }
    }
    return .success
  }

  private static func write(
    _ result: WatchedResult, number: Int, asJSON: Bool, _ context: CommandContext
  ) throws {
    let time = ClockText.now
    if asJSON {
      let names = JSONRowWriter.distinct(result.columns)
      let rows = result.rows.map { JSONRowWriter.object(names, $0) }
      let line = JSONText.object([
        ("number", String(number)), ("time", JSONText.string(ClockText.utc(time))),
        ("rows", JSONText.array(rows)),
      ])
      try context.output.write(line + "\n")
    } else {
      var table = TextTable(titles: result.columns)
      for row in result.rows { table.append(row.map(\.tableCell)) }
      let lines = ["-- \(number)  \(ClockText.localDate(time))"] + table.lines(context.outputStyle)
      try context.output.write(lines.joined(separator: "\n") + "\n")
    }
    try context.output.flush()
  }
}
