import CommandLineSupport
import FaultPoints
import StressFaults
import StressHarness

/// Names on the command line, looked up, with the nearest right one for a slip.
enum Names {
  /// Workloads of a list with commas.
  static func workloads(_ text: String) throws(InvalidValue) -> [String] {
    try list(text, among: Workloads.all.map { $0.name }, "workload")
  }

  /// Kinds of faults of a list with commas; `all` and `none` stand for themselves.
  static func faults(_ text: String) throws(InvalidValue) -> FaultChoice {
    if text == "all" { return .all }
    if text == "none" { return .kinds([]) }
    let names = try list(
      text, among: FaultKind.allCases.map(\.rawValue), "fault", besides: ["all", "none"])
    return .kinds(names.compactMap(FaultKind.init))
  }

  /// A known bug.
  static func sabotage(_ text: String) throws(InvalidValue) -> Sabotage {
    let names = try list(text, among: Sabotage.allCases.map(\.rawValue), "sabotage")
    guard names.count == 1, let sabotage = Sabotage(rawValue: names[0]) else {
      throw InvalidValue(expected: "one sabotage")
    }
    return sabotage
  }

  /// A named place of the library.
  static func point(_ text: String) throws(InvalidValue) -> FaultPoint {
    let names = try list(text, among: FaultPoint.allCases.map(\.rawValue), "place")
    guard names.count == 1, let point = FaultPoint(rawValue: names[0]) else {
      throw InvalidValue(expected: "one place")
    }
    return point
  }

  private static func list(
    _ text: String, among known: [String], _ what: String, besides: [String] = []
  ) throws(InvalidValue) -> [String] {
    var names: [String] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let name = String(part)
      guard known.contains(name) else {
        throw InvalidValue(expected: expected(instead: name, known, what, besides))
      }
      if !names.contains(name) { names.append(name) }
    }
    return names
  }

  private static func expected(
    instead name: String, _ known: [String], _ what: String, _ besides: [String]
  ) -> String {
    if let nearest = Suggestion.nearest(to: name, among: known + besides) {
      return "a known \(what); did you mean \(nearest)?"
    }
    return "a known \(what): \((known + besides).joined(separator: ", "))"
  }
}

/// Which faults a run is to have.
enum FaultChoice: Sendable {
  /// All that the workload bears.
  case all
  /// These; none is a run without.
  case kinds([FaultKind])
}
