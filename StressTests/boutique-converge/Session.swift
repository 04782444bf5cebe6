import CommandLineSupport
import ConvergenceChecker
import Foundation
import Glibc

/// One call of the program: runs seeds or a script, tells each round, keeps what failed.
struct Session: Sendable {
  let settings: ConvergeProgram.Settings

  private var program: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
  }

  func run() async throws -> ExitStatus {
    let directory =
      settings.keep
      ?? FileManager.default.temporaryDirectory.path
      + "/boutique-converge-\(UUID().uuidString.lowercased())"
    var reports: [RunReport] = []
    let clock = ContinuousClock()
    let end = clock.now + (settings.seconds ?? .zero)
    var seed = settings.seed ?? UInt64.random(in: 0...999_999)
    var status = ExitStatus.success
    var count = 0
    repeat {
      let scenario =
        try settings.script.map(ScriptFile.read)
        ?? settings.options.plant.map(ScenarioGenerator.specimen)
        ?? ScenarioGenerator.scenario(seed: seed, options: settings.options)
      if settings.onlyPrints {
        print(try ScriptFile.text(of: scenario), terminator: "")
        return .success
      }
      let place = directory + "/\(scenario.seed)-\(count)"
      let report = try await ConvergenceRun(
        scenario, in: place, program: program, patience: settings.patience
      ).run { tell($0, of: scenario) }
      reports.append(report)
      count += 1
      if !report.violations.isEmpty {
        try await failed(scenario, report, place)
        status = .failure
      } else if settings.keep == nil {
        try? FileManager.default.removeItem(atPath: place)
      }
      seed &+= 1
    } while status == .success && (clock.now < end || count < settings.tries)
    if status == .success, settings.keep == nil {
      try? FileManager.default.removeItem(atPath: directory)
    }
    if let path = settings.report {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      try encoder.encode(reports).write(to: URL(filePath: path), options: .atomic)
    }
    return status
  }

  private func tell(_ report: RunReport, of scenario: Scenario) {
    let result =
      report.violations.isEmpty ? "agreed" : "\(report.violations.count) VIOLATIONS"
    say(
      "seed \(report.seed) round \(report.rounds) of \(scenario.rounds): \(result); "
        + "\(report.commits) commits, \(report.refusals) refused, \(report.kills) killed, "
        + "\(report.deliveries) values, \(report.changes) changes "
        + "(\(report.everythings) of everything), \(report.comparedMoments) moments compared")
  }

  private func failed(_ scenario: Scenario, _ report: RunReport, _ place: String) async throws {
    for violation in report.violations {
      say(
        "  \(violation.check.rawValue) in round \(violation.round + 1), \(violation.process): "
          + violation.text)
    }
    say("kept: \(place)")
    if let seed = settings.script == nil ? scenario.seed : nil {
      say("again: \(ConvergeProgram.name) --seed \(seed) \(arguments)--tries 1")
    }
    say("again: \(ConvergeProgram.name) --script \(place)/script.jsonl --tries 20")
    guard settings.shrinks else { return }
    say("shrinking: \(Shrinker.size(of: scenario))")
    let shortest = await Shrinker(
      checks: Set(report.violations.map(\.check)), directory: place, program: program
    ) { say("  \($0)") }.shortest(scenario)
    let script = place + "/shortest.jsonl"
    try ScriptFile.write(shortest, to: script)
    say("shortest: \(ConvergeProgram.name) --script \(script) --tries 20")
  }

  /// The options without which the seed would make another scenario.
  private var arguments: String {
    let options = settings.options
    let writers = options.writers.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\($0.key.rawValue)=\($0.value)" }.joined(separator: ",")
    let disturbances = options.disturbances.map(\.rawValue).sorted().joined(separator: ",")
    return "--rounds \(options.rounds) --writers \(writers) --observers \(options.observers) "
      + "--operations \(options.operations) --queries \(options.queries) --feeds \(options.feeds) "
      + "--disturb \(disturbances.isEmpty ? "none" : disturbances) "
  }

  /// Writes a line at once, whatever standard output is.
  private func say(_ text: String) {
    let output = TextOutput(fileDescriptor: STDOUT_FILENO)
    try? output.write(text + "\n")
    try? output.flush()
  }
}
