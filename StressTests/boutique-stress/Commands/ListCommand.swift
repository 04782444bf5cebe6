import CommandLineSupport
import FaultPoints
import StressFaults
import StressHarness
import StressReport

/// `boutique-stress list`: what there is to run.
enum ListCommand: StressCommand {
  static let word = "list"
  static let summary =
    "Lists the workloads with the faults they bear, the faults, the named places, and the sabotages."

  private struct Settings: Sendable {
    var isJSON = false
  }

  private static let syntax = CommandSyntax<Settings>(
    name: "\(StressProgram.name) \(word)", summary: summary, operands: [],
    options: [
      .flag("json", short: "j", help: "Write one JSON object instead of text.") {
        $0.isJSON = true
      }
    ])

  static func run(_ words: [String], _ environment: CommandEnvironment) async throws -> Int32 {
    let console = environment.console
    guard let (settings, _) = try syntax.settings(words, Settings(), console) else {
      return StressStatus.clean
    }
    try console.write(settings.isJSON ? json : text(console))
    return StressStatus.clean
  }

  private static func text(_ console: Console) -> String {
    let width = console.helpWidth
    let style = console.style
    let workloads = Workloads.all.map { type in
      (term: type.name, help: "\(type.summary). \(crew(of: type))Bears \(borne(by: type)).")
    }
    let faults = FaultKind.allCases.map { (term: $0.rawValue, help: $0.summary) }
    let sabotages = Sabotage.allCases.map { (term: $0.rawValue, help: $0.summary) }
    var blocks = [
      style.paint("Workloads", .bold) + "\n" + HelpLayout.definitions(workloads, width: width),
      style.paint("Faults", .bold) + "\n" + HelpLayout.definitions(faults, width: width),
      style.paint("Sabotages", .bold) + ": bugs to build in, so that the checks are seen to fail\n"
        + HelpLayout.definitions(sabotages, width: width),
    ]
    if hasFaultPoints {
      let points = FaultPoint.allCases.map { (term: $0.rawValue, help: $0.summary) }
      blocks.insert(
        style.paint("Named places", .bold) + ": where killAtPoint kills, besides SQLite's writes\n"
          + HelpLayout.definitions(points, width: width), at: 2)
    } else {
      blocks.append("This is a release build: it has neither sabotages nor named places to die at.")
    }
    return blocks.joined(separator: "\n\n") + "\n"
  }

  /// How many processes it has where that is not the usual number.
  private static func crew(of type: any Workload.Type) -> String {
    let usual = RunPlan(workload: "").processes
    return type.usualProcesses == usual ? "" : "\(type.usualProcesses) processes. "
  }

  private static func borne(by type: any Workload.Type) -> String {
    let missing = FaultKind.allCases.filter { !type.faults.contains($0) }
    if missing.isEmpty { return "all faults" }
    if type.faults.isEmpty { return "no faults" }
    let isLong = missing.count < type.faults.count
    return isLong
      ? "all faults but " + missing.map(\.rawValue).joined(separator: ", ")
      : type.faults.map(\.rawValue).joined(separator: ", ")
  }

  private static var json: String {
    let workloads = Workloads.all.map { type in
      JSONText.object([
        ("name", JSONText.string(type.name)), ("summary", JSONText.string(type.summary)),
        ("processes", "\(type.usualProcesses)"),
        ("faults", JSONText.array(type.faults.map { JSONText.string($0.rawValue) })),
      ])
    }
    func named(_ name: String, _ summary: String) -> String {
      JSONText.object([
        ("name", JSONText.string(name)), ("summary", JSONText.string(summary)),
      ])
    }
    return JSONText.object([
      ("workloads", JSONText.array(workloads)),
      ("faults", JSONText.array(FaultKind.allCases.map { named($0.rawValue, $0.summary) })),
      ("points", JSONText.array(FaultPoint.allCases.map { named($0.rawValue, $0.summary) })),
      ("sabotages", JSONText.array(Sabotage.allCases.map { named($0.rawValue, $0.summary) })),
      ("hasFaultPoints", hasFaultPoints ? "true" : "false"),
    ]) + "\n"
  }
}
