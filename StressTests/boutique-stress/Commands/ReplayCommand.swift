import CommandLineSupport
import Foundation
import StressHarness
import StressHistory
import StressReport

/// `boutique-stress replay`: looks at a run that was kept once more, and runs it again.
enum ReplayCommand: StressCommand {
  static let word = "replay"
  static let summary =
    "Checks a run that was kept once more, and runs its plan until it fails again."

  private struct Settings: Sendable {
    var tries = 10
    var number: Int?
    var output = OutputSettings()
  }

  private static let syntax = CommandSyntax<Settings>(
    name: "\(StressProgram.name) \(word)", summary: summary,
    operands: [
      Operand(
        "FILE",
        help: "The report.json in the directory of a run, or what “run --json FILE” has written.")
    ],
    options: [
      .value(
        "tries", short: "n", "N",
        help: "Run the plan N times at most (10); 0 only checks the recorded history."
      ) { (settings, text) throws(InvalidValue) in
        guard let tries = Int(text), tries >= 0 else {
          throw InvalidValue(expected: "a whole number from 0 up")
        }
        settings.tries = tries
      },
      .value(
        "run", "N",
        help: "Which run of the file, from 1; the first that broke a promise if not given."
      ) { (settings, text) throws(InvalidValue) in
        settings.number = try OptionValue.positiveInteger(text)
      },
    ] + OutputSettings.options { settings, change in change(&settings.output) },
    notes: [
      """
      First the recorded history and the database that the run left behind are checked again, on a copy: that \
      says the same without any luck, and tells whether a change of a check has changed the verdict. Then the \
      plan is run with its seed until one of the same checks fails.
      """,
      """
      The exit status is 0 when nothing was broken any more, 1 when the recorded history or a new run broke a \
      promise, 2 when the command line is wrong, 3 when something could not be run.
      """,
    ])

  static func run(_ words: [String], _ environment: CommandEnvironment) async throws -> Int32 {
    let console = environment.console
    guard let (settings, operands) = try syntax.settings(words, Settings(), console) else {
      return StressStatus.clean
    }
    let file = operands[0]
    let saved = try chosen(try SavedReport.read(file), settings.number)
    let session = RunSession(settings.output, environment)
    let isStillBroken = try await checkAgain(saved, file, environment)
    guard settings.tries > 0 else {
      guard let isStillBroken else {
        console.complain("nothing was checked")
        return StressStatus.failed
      }
      return isStillBroken ? StressStatus.violated : StressStatus.clean
    }
    let checks = Set(saved.violations.map(\.check))
    let found = try await session.run(saved.plan, tries: settings.tries) { run in
      checks.isEmpty ? !run.isClean : run.violations.contains { checks.contains($0.check) }
    }
    if let found {
      try console.say("try \(found.attempt) of \(settings.tries): it is back\n")
      try write(found.run, settings.output)
      return StressStatus.violated
    }
    try console.say(
      "it did not come back in \(FigureText.amount(settings.tries, "try", plural: "tries"))\n")
    if isStillBroken == true { return StressStatus.violated }
    return session.interruptedStatus ?? StressStatus.clean
  }

  private static func chosen(_ report: SavedReport, _ number: Int?) throws -> SavedRun {
    if let number {
      guard report.runs.indices.contains(number - 1) else {
        throw UsageError.other(
          "there is no run \(number): the file has \(FigureText.amount(report.runs.count, "run"))")
      }
      return report.runs[number - 1]
    }
    guard let run = report.runs.first(where: { !$0.isClean }) ?? report.runs.first else {
      throw UsageError.other("the file has no run")
    }
    return run
  }

  // MARK: The recorded history

  /// Checks what the run left behind and returns whether a promise is still broken there; nil without it.
  private static func checkAgain(
    _ saved: SavedRun, _ file: String, _ environment: CommandEnvironment
  ) async throws -> Bool? {
    let console = environment.console
    guard let directory = directory(of: saved, file) else {
      try console.say("recorded: the run's directory has not been kept\n")
      return nil
    }
    let copy =
      FileManager.default.temporaryDirectory.path
      + "/boutique-stress-copy-\(UUID().uuidString.lowercased())"
    defer { try? FileManager.default.removeItem(atPath: copy) }
    try FileManager.default.copyItem(atPath: directory, toPath: copy)
    let recorded = try RecordedRun(
      directory: copy, program: environment.program, faults: saved.faults)
    let violations = try await recorded.violations()
    let before = Set(saved.violations.map(\.check))
    let now = Set(violations.map(\.check))
    try console.say("recorded: \(verdict(before: before, now: now))\n")
    for violation in violations.prefix(5) {
      try console.say(SummaryText.text(violation, of: saved, console.style))
    }
    return !violations.isEmpty
  }

  private static func verdict(before: Set<String>, now: Set<String>) -> String {
    func list(_ checks: Set<String>) -> String {
      checks.isEmpty ? "nothing" : checks.sorted().joined(separator: ", ")
    }
    if before == now { return "the same (\(list(now)))" }
    // What the leading process saw, such as a worker that ended by itself, is in no history.
    let lost = before.subtracting(now)
    var text = "now \(list(now)), then \(list(before))"
    if !lost.isEmpty, now.isSubset(of: before) {
      text += "; the rest may have been seen by the leading process alone"
    }
    return text
  }

  /// The run's directory: where it was, or where the file lies now.
  private static func directory(of run: SavedRun, _ file: String) -> String? {
    // `path` keeps the slash of a directory, with which `copyItem` copies nothing.
    let beside = URL(filePath: file).standardizedFileURL.deletingLastPathComponent()
      .standardizedFileURL.path
    if URL(filePath: file).lastPathComponent == SavedReport.fileName,
      RecordedRun.isDirectory(beside)
    {
      return beside
    }
    return run.directory.flatMap { RecordedRun.isDirectory($0) ? $0 : nil }
  }

  private static func write(_ run: SavedRun, _ output: OutputSettings) throws {
    let report = SavedReport(date: Date(), machine: .ofThisMachine(), runs: [run])
    if let json = output.json { try report.write(json) }
    if let html = output.html { try ReportFile.write(ReportPage.html(report), html) }
  }
}
