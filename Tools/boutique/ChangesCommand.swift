import BoutiqueDB
import CommandLineSupport

/// `boutique changes`: lists what was committed, by whom, and goes on listing if asked to.
enum ChangesCommand: Subcommand {
  struct Settings: Sendable {
    var common = CommonSettings()
    var follows = false
    var since: String?
    var writesJSON = false
    var count: Int?
  }

  static let initialSettings = Settings()

  static let signals = StopSwitch.signals

  static let syntax = CommandSyntax<Settings>(
    name: "boutique changes",
    summary: "List the commits of all processes: what each changed, and who made it.",
    operands: [Operand("DB", help: "The database file.")],
    options: [
      .flag("follow", short: "F", help: "Go on with new commits; without --since, only those.") {
        $0.follows = true
      },
      .value(
        "since", short: "s", "TOKEN",
        help: "Begin after this token, as an earlier listing gave it; else with the oldest kept."
      ) { $0.since = $1 },
      .flag("json", short: "j", help: "Write one JSON object a commit and line.") {
        $0.writesJSON = true
      },
      .value("count", short: "n", "N", help: "End after N commits.") {
        (settings, text) throws(InvalidValue) in
        settings.count = try OptionValue.positiveInteger(text)
      },
    ] + CommonSettings.options { (settings, change) in change(&settings.common) },
    notes: [
      """
      Each line gives the token, the time by the writer's clock, the process, and for each table how \
      many rows were inserted (+), updated (~) and deleted (-). “everything” stands where more cannot \
      be told, nor by whom: a commit by a program without this library, or a part of the log that is \
      gone.
      """,
      "SIGINT, SIGTERM and SIGHUP end the command with exit status 0.",
    ])

  static func run(
    _ settings: Settings, _ operands: [String], _ context: CommandContext
  ) async throws -> ExitStatus {
    try await StopSwitch().run {
      try await settings.common.withDatabase(
        operands[0], for: .reading, command: "changes"
      ) { database in
        try await list(database, settings, context)
      }
    }
    return .success
  }

  private static func list(
    _ database: BoutiqueDB, _ settings: Settings, _ context: CommandContext
  ) async throws {
    let head = try await database.currentToken()
    let start = try settings.since.map { try token($0, like: head) }
    if settings.follows {
      try await follow(database.changes(since: start), settings, context)
      return
    }
    let first = start ?? ChangeToken(generation: head.generation, number: 0)
    if first == head { return }
    var count = 0
    for try await change in database.changes(since: first) {
      try write(change, settings, context)
      count += 1
      if count == settings.count || change.token.number >= head.number { return }
    }
  }

  private static func follow(
    _ changes: ChangeFeed, _ settings: Settings, _ context: CommandContext
  ) async throws {
    var count = 0
    for try await change in changes {
      try write(change, settings, context)
      try context.output.flush()
      count += 1
      if count == settings.count { return }
    }
  }

  /// Reads a token; a bare number counts in the file as it is now.
  private static func token(
    _ text: String, like head: ChangeToken
  ) throws(UsageError) -> ChangeToken {
    if let number = Int64(text), number >= 0 {
      return ChangeToken(generation: head.generation, number: number)
    }
    guard let token = ChangeToken(text) else {
      throw .invalidValue(
        option: "--since", value: text, expected: "a token as “boutique changes” prints it")
    }
    return token
  }

  private static func write(
    _ change: BoutiqueChange, _ settings: Settings, _ context: CommandContext
  ) throws {
    let line =
      settings.writesJSON ? change.jsonText : change.line(context.outputStyle)
    try context.output.write(line + "\n")
  }
}
