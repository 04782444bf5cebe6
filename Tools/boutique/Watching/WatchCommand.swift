import BoutiqueDB
import CommandLineSupport
import Glibc
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

  static let signals = StopSwitch.signals + LiveScreen.signals

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
    let stopSwitch = StopSwitch(others: LiveScreen.signals) { signal in
      if let screen {
        screen.take(signal)
      } else if signal == SIGTSTP {
        kill(getpid(), SIGSTOP)
      }
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
        var iterator = results.makeAsyncIterator()
        var number = 0
        while number < settings.count ?? .max {
          do {
            guard let result = try await iterator.next() else { return }
            number += 1
            try show(result, number, on: screen, asJSON: settings.writesJSON, context)
          } catch let error as BoutiqueError where number > 0 && error.mayPass {
            try show(error, on: screen, asJSON: settings.writesJSON, context)
          }
        }
      }
    }
    return .success
  }

  private static func show(
    _ result: WatchedResult, _ number: Int, on screen: LiveScreen?, asJSON: Bool,
    _ context: CommandContext
  ) throws {
    if let screen {
      try screen.show(result, number: number)
      return
    }
    let time = ClockText.now
    if asJSON {
      let names = JSONRowWriter.names(result.columns)
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

  private static func show(
    _ error: BoutiqueError, on screen: LiveScreen?, asJSON: Bool, _ context: CommandContext
  ) throws {
    if let screen {
      try screen.show(error)
    } else if asJSON {
      let line = JSONText.object([
        ("time", JSONText.string(ClockText.utc(ClockText.now))),
        ("error", JSONText.string(error.description)),
      ])
      try context.output.write(line + "\n")
      try context.output.flush()
    } else {
      context.complain("\(Program.name): \(error)\n")
    }
  }
}

extension BoutiqueError {
  /// Whether the next change can make the same statement work again: a table that was dropped comes
  /// back, a lock is given up.
  fileprivate var mayPass: Bool {
    switch self {
    case .sql, .invalidStatement, .lockTimeout: true
    default: false
    }
  }
}
