import CommandLineSupport
import ConvergenceChecker
import Foundation
import Glibc

/// The program as users know it.
enum ConvergeProgram {
  struct Settings: Sendable {
    var options = ScenarioOptions()
    var seed: UInt64?
    var seconds: Duration?
    var script: String?
    var shrinks = false
    var keep: String?
    var report: String?
    var tries = 1
    var patience = Duration.seconds(10)
    var onlyPrints = false
  }

  static let name = "boutique-converge"
  private static let version = "0.1.0"

  private static let syntax = CommandSyntax<Settings>(
    name: name,
    summary: """
      Runs random writers, live queries and change feeds in several processes, disturbs them, and checks at \
      quiet points that everybody has arrived at the truth and nobody has seen anything else on the way.
      """,
    operands: [],
    options: [
      .value("seed", "S", help: "The first seed; drawn and told when it is not given.") {
        (settings, text) throws(InvalidValue) in
        guard let seed = UInt64(text) else {
          throw InvalidValue(expected: "a whole number from 0 up")
        }
        settings.seed = seed
      },
      .value("rounds", "N", help: "How often writers write and pause with each seed (5).") {
        (settings, text) throws(InvalidValue) in
        settings.options.rounds = try OptionValue.positiveInteger(text)
      },
      .value("seconds", "T", help: "Go on with the next seeds for T seconds.") {
        (settings, text) throws(InvalidValue) in
        settings.seconds = try OptionValue.seconds(text)
      },
      .value(
        "writers", "LIST", help: "Writers by kind (library=2,python=1,shell=1)."
      ) { (settings, text) throws(InvalidValue) in
        settings.options.writers = try writers(text)
      },
      .value("observers", "N", help: "Observing processes (2).") {
        (settings, text) throws(InvalidValue) in
        settings.options.observers = try OptionValue.positiveInteger(text)
      },
      .value("operations", "N", help: "Transactions of each writer in each round (8).") {
        (settings, text) throws(InvalidValue) in
        settings.options.operations = try OptionValue.positiveInteger(text)
      },
      .value("queries", "N", help: "Live queries in each observer (8).") {
        (settings, text) throws(InvalidValue) in
        settings.options.queries = try OptionValue.positiveInteger(text)
      },
      .value("feeds", "N", help: "Change feeds in each observer (2).") {
        (settings, text) throws(InvalidValue) in
        settings.options.feeds = try OptionValue.positiveInteger(text)
      },
      .value(
        "disturb", "LIST",
        help: "What may go wrong: kill, stop, reopen, deleteLockFile, or none (all of them)."
      ) { (settings, text) throws(InvalidValue) in
        settings.options.disturbances = try disturbances(text)
      },
      .value("patience", "T", help: "Seconds without any movement before a difference counts (10).")
      {
        (settings, text) throws(InvalidValue) in
        settings.patience = try OptionValue.seconds(text)
      },
      .value("script", "FILE", help: "Run this script instead of one made from a seed.") {
        $0.script = $1
      },
      .value("tries", "N", help: "Run it N times, until it fails: interleavings differ (1).") {
        (settings, text) throws(InvalidValue) in
        settings.tries = try OptionValue.positiveInteger(text)
      },
      .flag("shrink", help: "Make a script that fails as short as it goes, for up to ten minutes.")
      {
        $0.shrinks = true
      },
      .flag("print", help: "Write the script to standard output instead of running it.") {
        $0.onlyPrints = true
      },
      .value("keep", "DIR", help: "Leave databases and scripts there, also of what went well.") {
        $0.keep = $1
      },
      .value("report", "FILE", help: "Write a report of all runs as JSON.") { $0.report = $1 },
    ],
    notes: [
      """
      The exit status is 0 when everything agreed, 1 when something did not, 2 when the command line is \
      wrong. A script that failed is kept, and the last lines say how to run it again. What each process \
      does comes from the seed; when it does it does not, so a failure may need several tries.
      """
    ],
    examples: [
      "boutique-converge --seed 7", "boutique-converge --seconds 60 --report report.json",
      "boutique-converge --script failed.jsonl --tries 20 --shrink",
    ])

  private static func writers(_ text: String) throws(InvalidValue) -> [ProcessPlan.Role: Int] {
    var writers: [ProcessPlan.Role: Int] = [:]
    for part in text.split(separator: ",") {
      let words = part.split(separator: "=")
      guard words.count == 2, let role = ProcessPlan.Role(rawValue: String(words[0])),
        role != .observer, let count = Int(words[1]), (0...64).contains(count)
      else { throw InvalidValue(expected: "a list such as library=2,python=1,shell=1") }
      writers[role] = count
    }
    return writers
  }

  private static func disturbances(
    _ text: String
  ) throws(InvalidValue) -> Set<Disturbance.Kind> {
    if text == "none" { return [] }
    var kinds: Set<Disturbance.Kind> = []
    for word in text.split(separator: ",") {
      kinds.insert(try OptionValue.choice(String(word)))
    }
    return kinds
  }

  /// Runs the program and returns its exit status.
  static func run(_ words: [String]) async -> Int32 {
    var words = words
    var initial = Settings()
    // Not in the help text: a fault of our own, to see the checks fail.
    if words.count > 1, words[0] == "--plant", let plant = Plant(rawValue: words[1]) {
      initial.options.plant = plant
      words.removeFirst(2)
    }
    do {
      switch try syntax.parse(words, into: initial) {
      case .help: print(syntax.helpText(width: 80), terminator: "")
      case .version: print("\(name) \(version)")
      case .run(let settings, _): return try await Session(settings: settings).run().rawValue
      }
      return ExitStatus.success.rawValue
    } catch let error as UsageError {
      complain("\(error)\nTry “\(name) --help”.")
      return ExitStatus.usage.rawValue
    } catch {
      complain("\(error)")
      return ExitStatus.failure.rawValue
    }
  }

  private static func complain(_ text: String) {
    let output = TextOutput(fileDescriptor: STDERR_FILENO)
    try? output.write("\(name): \(text)\n")
    try? output.flush()
  }
}
