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
    var consumer: String?
    var acknowledges = false
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
        help: """
          Begin after this token, as an earlier listing gave it, or with the “oldest” kept, which is where \
          a listing begins without this option.
          """
      ) { $0.since = $1 },
      .value(
        "consumer", short: "c", "NAME",
        help: """
          List what the durable consumer NAME has not acknowledged. A new one is made; --since says where \
          it begins.
          """
      ) { $0.consumer = $1 },
      .flag(
        "acknowledge", short: "a",
        help: "With --consumer: acknowledge each commit once its line has been written."
      ) { $0.acknowledges = true },
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
      """
      A JSON object has token, time, origin, everything, tables, wholeTables, and for each row its table, \
      kind, key and the names of the columns that changed; where the database keeps them also the values \
      before and after.
      """,
      """
      A durable consumer's place is kept in the database, and so are the records that it has not \
      acknowledged. One process at a time consumes under a name.
      """,
      "SIGINT, SIGTERM and SIGHUP end the command with exit status 0.",
    ])

  static func run(
    _ settings: Settings, _ operands: [String], _ context: CommandContext
  ) async throws -> ExitStatus {
    if settings.acknowledges, settings.consumer == nil {
      throw UsageError.other("--acknowledge needs --consumer")
    }
    try await StopSwitch().run {
      try await settings.common.withDatabase(
        operands[0], for: settings.consumer == nil ? .reading : .writing, command: "changes"
      ) { database in
        try await list(database, settings, context)
      }
    }
    return .success
  }

  private static func list(
    _ database: BoutiqueDB, _ settings: Settings, _ context: CommandContext
  ) async throws {
    var start: ChangeToken?
    if let since = settings.since, since != "oldest" {
      start = try token(since, like: try await database.currentToken())
    } else if settings.since != nil || !settings.follows {
      start = try await database.oldestToken()
    }
    var names = ColumnNames(database: database)
    var count = 0
    func write(_ change: BoutiqueChange) async throws {
      if settings.writesJSON {
        try await names.learn(change)
        try context.output.write(change.jsonText(names) + "\n")
      } else {
        try context.output.write(change.line(context.outputStyle) + "\n")
      }
      count += 1
    }
    if let consumer = settings.consumer {
      let changes = database.changes(since: start, consumer: consumer, following: settings.follows)
      var last: DurableChange?
      for try await change in changes {
        try await write(change.change)
        if settings.acknowledges {
          // Whoever reads the output has it, as far as can be told from here.
          try context.output.flush()
          change.acknowledgeSoon()
          last = change
        } else if settings.follows {
          try context.output.flush()
        }
        if count == settings.count { break }
      }
      try await last?.acknowledge()
      return
    }
    for try await change in database.changes(since: start, following: settings.follows) {
      try await write(change)
      if settings.follows { try context.output.flush() }
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
}
