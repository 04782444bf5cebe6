import CommandLineSupport
import Foundation
import Glibc
import LockInspection

/// The program: reads its command line, looks, shows, and ends with 0, 1 or 2.
enum LocksCommand {
  static let name = "boutique-locks"
  static let version = "0.1.0"

  /// In which form the result is shown.
  enum Form: Sendable, Equatable {
    case text
    case json
    case tree
    case explanation
  }

  struct Settings: Sendable {
    var form = Form.text
    /// Two forms that exclude each other, when they were given.
    var formConflict: (String, String)?
    var watches = false
    var probes = false
    var bound = Duration.seconds(5)
    var interval = Duration.seconds(1)
    var readsLongLogs = false

    mutating func show(_ form: Form, _ option: String) {
      let names: [(Form, String)] = [
        (.json, "--json"), (.tree, "--tree"), (.explanation, "--explain"),
      ]
      if self.form != .text, self.form != form,
        let other = names.first(where: { $0.0 == self.form })
      {
        formConflict = (other.1, option)
      }
      self.form = form
    }
  }

  static let syntax = CommandSyntax<Settings>(
    name: name,
    summary: """
      Show who has a database open, who holds which lock and for how long, who waits for whom, and what a \
      person can do when things hang. It takes no lock and changes no file.
      """,
    operands: [
      Operand(
        "DB", .repeated,
        help: """
          Database files, or directories for all databases in them. Without one: every database that a \
          process on this machine has open through BoutiqueDB.
          """)
    ],
    options: [
      .flag("explain", short: "e", help: "Say in a paragraph what is wrong and what can be done.") {
        $0.show(.explanation, "--explain")
      },
      .flag("tree", short: "t", help: "Draw who waits for whom; a ring of waits is marked.") {
        $0.show(.tree, "--tree")
      },
      .flag("json", short: "j", help: "Write one JSON object; the manual page describes it.") {
        $0.show(.json, "--json")
      },
      .flag(
        "watch", short: "w",
        help: """
          Look again and again: on a terminal on the whole screen, elsewhere again when something has \
          changed. Ctrl-C ends it.
          """
      ) { $0.watches = true },
      .value(
        "interval", short: "i", "SECONDS", help: "How often --watch looks; 1 if not given."
      ) { (settings, text) throws(InvalidValue) in
        let interval = try OptionValue.seconds(text)
        if interval < .milliseconds(50) { throw InvalidValue(expected: "at least 0.05 seconds") }
        settings.interval = interval
      },
      .value(
        "bound", short: "b", "SECONDS",
        help: "How long a wait may be before it counts as too long; 5 if not given."
      ) { (settings, text) throws(InvalidValue) in settings.bound = try OptionValue.seconds(text) },
      .flag(
        "probe", short: "p",
        help: """
          Ask for the write lease itself, and give it back at once: does a write come to its turn within \
          the bound? This alone takes a lock.
          """
      ) { $0.probes = true },
      .flag(
        "long-logs",
        help: """
          Read the change log's ends however long the write-ahead log is; without it not beyond 256 MiB.
          """
      ) { $0.readsLongLogs = true },
    ],
    notes: [
      """
      The exit status is 0 when all is free or normal, 1 when somebody waits longer than the bound (or \
      holds a lock longer while others wait), 2 when it could not look or the command line is wrong.
      """,
      """
      Without root it sees one's own processes, and says what it could not see.
      """,
    ],
    examples: [
      "boutique-locks app.db", "boutique-locks --explain /srv/app", "boutique-locks --watch",
      "boutique-locks --json app.db | jq '.databases[0].queue'",
      "boutique-locks --probe --bound 2 app.db || page-somebody",
    ])

  /// Whether a command line asks to go on until stopped, so that signals have to be taken early.
  static func watches(_ arguments: [String]) -> Bool {
    guard case .run(let settings, _)? = try? syntax.parse(arguments, into: Settings()) else {
      return false
    }
    return settings.watches
  }

  static func run(_ arguments: [String]) -> Int32 {
    let context = LocksContext.ofThisProcess()
    var status: Int32
    do {
      status = try run(arguments, context)
    } catch {
      status = report(error, context)
    }
    do {
      try context.output.flush()
    } catch {
      status = report(error, context)
    }
    return status
  }

  private static func run(_ arguments: [String], _ context: LocksContext) throws -> Int32 {
    switch try syntax.parse(arguments, into: Settings()) {
    case .help:
      try context.output.write(syntax.helpText(width: min(context.style.columns ?? 80, 100)))
      return 0
    case .version:
      try context.output.write("\(name) \(version)\n")
      return 0
    case .run(let settings, let operands):
      if let (first, second) = settings.formConflict { throw UsageError.conflict(first, second) }
      if settings.probes {
        if settings.watches { throw UsageError.conflict("--probe", "--watch") }
        if settings.form == .tree { throw UsageError.conflict("--probe", "--tree") }
        return try ProbeRun.run(operands, settings, context)
      }
      var inspector = Inspector(
        scope: operands.isEmpty ? .inUse : .named(operands), bound: settings.bound.inSeconds)
      if settings.readsLongLogs { inspector.logLimit = .max }
      if settings.watches { return try WatchLoop.run(inspector, settings, context) }
      let inspection = inspector.inspect()
      try show(inspection, settings.form, context)
      return inspection.exitStatus
    }
  }

  private static func show(
    _ inspection: Inspection, _ form: Form, _ context: LocksContext
  ) throws {
    for line in lines(inspection, form, context.style) { try context.output.write(line + "\n") }
    // What was named and could not be looked at is an error too, wherever the output goes.
    guard inspection.exitStatus == 2 else { return }
    try context.output.flush()
    for unseen in inspection.unseen { context.complain("\(name): \(unseen.why)\n") }
  }

  /// The result in its form, as lines without line ends.
  static func lines(_ inspection: Inspection, _ form: Form, _ style: TerminalStyle) -> [String] {
    switch form {
    case .text: TextReport(inspection, style).lines
    case .json: [JSONReport.text(inspection)]
    case .tree: TreeReport(inspection, style).lines
    case .explanation: Explanation(inspection, style).lines
    }
  }

  private static func report(_ error: any Error, _ context: LocksContext) -> Int32 {
    switch error {
    case OutputError.readerGone: return 0
    case let error as UsageError:
      context.complain("\(name): \(error)\nTry “\(name) --help”.\n")
    default:
      context.complain("\(name): \(error)\n")
    }
    return 2
  }
}

/// What the program has around it: where output goes and how it may look.
struct LocksContext: Sendable {
  let output: TextOutput
  let errors: TextOutput
  let style: TerminalStyle
  let environment: [String: String]

  static func ofThisProcess() -> LocksContext {
    let environment = ProcessInfo.processInfo.environment
    return LocksContext(
      output: TextOutput(fileDescriptor: STDOUT_FILENO),
      errors: TextOutput(fileDescriptor: STDERR_FILENO),
      style: .detect(fileDescriptor: STDOUT_FILENO, environment: environment),
      environment: environment)
  }

  /// Writes to standard error at once.
  ///
  /// What cannot even be said there is given up.
  func complain(_ text: String) {
    try? errors.write(text)
    try? errors.flush()
  }
}
