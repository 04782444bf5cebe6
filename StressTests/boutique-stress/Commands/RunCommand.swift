import CommandLineSupport
import FaultPoints
import StressFaults
import StressHarness
import StressReport

/// `boutique-stress run`: runs workloads.
enum RunCommand: StressCommand {
  static let word = "run"
  static let summary = "Runs workloads and checks what they did."

  struct Settings: Sendable {
    var workloads: [String] = []
    var isAll = false
    var faults: FaultChoice?
    var processes: Int?
    var seconds: Double?
    var seed: UInt64?
    var synchronous: Synchronous?
    var point: FaultPoint?
    var sabotage: Sabotage?
    var rounds: Int?
    var output = OutputSettings()
  }

  enum Synchronous: String, CaseIterable, Sendable {
    case normal
    case full
  }

  private static let syntax = CommandSyntax<Settings>(
    name: "\(StressProgram.name) \(word)",
    summary: """
      Starts worker processes on one database, disturbs them, and checks what each was told and what is left \
      at the end.
      """,
    operands: [],
    options: [
      .value("workload", short: "w", "LIST", help: "What to do; see “\(StressProgram.name) list”.")
      { (settings, text) throws(InvalidValue) in
        settings.workloads += try Names.workloads(text)
      },
      .flag(
        "all",
        help: """
          Every workload, each with a few of the faults that it bears, others from round to round. The seconds \
          are divided among them.
          """
      ) { $0.isAll = true },
      .value(
        "faults", short: "f", "LIST",
        help: "Kinds of faults, all (which the workload bears; the default), or none."
      ) { (settings, text) throws(InvalidValue) in
        settings.faults = try Names.faults(text)
      },
      .value("processes", short: "p", "N", help: "Processes at a time (mostly 4); up to 64.") {
        (settings, text) throws(InvalidValue) in
        guard let number = Int(text), (1...64).contains(number) else {
          throw InvalidValue(expected: "a whole number from 1 to 64")
        }
        settings.processes = number
      },
      .value(
        "seconds", short: "t", "T",
        help: "How long a workload works (5), or with --all, all of them together (60)."
      ) { (settings, text) throws(InvalidValue) in
        let seconds = try OptionValue.seconds(text).inSeconds
        guard seconds > 0 else { throw InvalidValue(expected: "more than 0 seconds") }
        settings.seconds = seconds
      },
      .value("seed", short: "s", "N", help: "The first seed; drawn and told when not given.") {
        (settings, text) throws(InvalidValue) in
        guard let seed = UInt64(text) else {
          throw InvalidValue(expected: "a whole number from 0 up")
        }
        settings.seed = seed
      },
      .value("synchronous", "WORD", help: "What a commit waits for: normal or full (normal).") {
        (settings, text) throws(InvalidValue) in
        settings.synchronous = try OptionValue.choice(text)
      },
      .value(
        "rounds", short: "n", "N",
        help: "Every workload N times, each time with the next seed (1; with --all by the time)."
      ) { (settings, text) throws(InvalidValue) in
        settings.rounds = try OptionValue.positiveInteger(text)
      },
      .value(
        "point", "NAME",
        help: "Where killAtPoint kills; drawn each time when not given (debug builds)."
      ) { (settings, text) throws(InvalidValue) in
        settings.point = try Names.point(text)
      },
      .value(
        "sabotage", "NAME",
        help: "Build a known bug into the library, to see that the checks find it (debug builds)."
      ) { (settings, text) throws(InvalidValue) in
        settings.sabotage = try Names.sabotage(text)
      },
    ] + OutputSettings.options { settings, change in change(&settings.output) },
    notes: [
      StressStatus.note,
      """
      A run that broke a promise keeps its directory, with all that every process did, the database, and a \
      report; the last lines say where, and how to run it again. What is done comes from the seed; when it is \
      done does not, so the same seed may find something else, or nothing.
      """,
    ],
    examples: [
      "boutique-stress run --workload bank,counters --faults kill,pause --seconds 20",
      "boutique-stress run --workload durability --faults powerCut --synchronous full",
      "boutique-stress run --all --seconds 3600 --json long.json --html long.html",
    ])

  static func run(_ words: [String], _ environment: CommandEnvironment) async throws -> Int32 {
    guard let (settings, _) = try syntax.settings(words, Settings(), environment.console) else {
      return StressStatus.clean
    }
    let plans = try plans(settings)
    let session = RunSession(settings.output, environment)
    return try await session.run(plans)
  }

  // MARK: Plans

  private static func plans(_ settings: Settings) throws(UsageError) -> [RunPlan] {
    if settings.isAll, !settings.workloads.isEmpty { throw .conflict("--all", "--workload") }
    if !settings.isAll, settings.workloads.isEmpty {
      throw .other("say what to run: --workload LIST or --all")
    }
    if settings.sabotage != nil, !hasFaultPoints {
      throw .other("a release build has no sabotages; use a debug build")
    }
    if settings.point != nil, !hasFaultPoints {
      throw .other("a release build has no named places to die at; use a debug build")
    }
    let seed = settings.seed ?? UInt64.random(in: 0...999_999)
    let types = try settings.isAll ? Workloads.all : chosen(settings)
    let complete: (inout RunPlan) -> Void = { plan in
      plan.processes =
        settings.processes ?? Workloads.named(plan.workload)?.usualProcesses ?? plan.processes
      if let synchronous = settings.synchronous { plan.synchronous = synchronous.rawValue }
      plan.point = settings.point?.rawValue
      plan.sabotage = settings.sabotage?.rawValue
    }
    if settings.isAll {
      let entries = types.map { RunRotation.Entry(name: $0.name, faults: faults(of: $0, settings)) }
      return RunRotation(
        entries: entries.count, seconds: settings.seconds ?? 60, rounds: settings.rounds
      ).plans(of: entries, seed: seed, change: complete)
    }
    return (0..<(settings.rounds ?? 1)).flatMap { round in
      types.map { type in
        var plan = RunPlan(
          workload: type.name, faults: faults(of: type, settings),
          seconds: settings.seconds ?? 5, seed: seed &+ UInt64(round))
        complete(&plan)
        return plan
      }
    }
  }

  private static func chosen(_ settings: Settings) throws(UsageError) -> [any Workload.Type] {
    let types = settings.workloads.compactMap { Workloads.named($0) }
    guard case .kinds(let kinds) = settings.faults else { return types }
    if kinds.contains(.killAtPoint), !hasFaultPoints {
      throw .other("a release build has no named places to die at; use a debug build")
    }
    for type in types {
      for kind in kinds where !type.faults.contains(kind) {
        throw .other(
          "\(type.name) does not bear \(kind.rawValue): what it promises does not hold then")
      }
    }
    return types
  }

  /// What a workload bears of the kinds that were asked for, less what this build has not.
  private static func faults(of type: any Workload.Type, _ settings: Settings) -> [FaultKind] {
    let possible = type.faults.filter { hasFaultPoints || $0 != .killAtPoint }
    switch settings.faults ?? .all {
    case .all: return possible
    case .kinds(let kinds): return possible.filter(kinds.contains)
    }
  }
}
