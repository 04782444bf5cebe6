import Foundation
import StressFaults
import StressHistory
import StressReport

/// A run of which everything is known.
enum KnownRun {
  static let began: Int64 = 1_000_000_000_000

  private static func operation(
    _ process: Int, _ number: Int, _ name: String, at milliseconds: Int64, for length: Int64?,
    _ outcome: OperationRecord.Outcome
  ) -> OperationRecord {
    let start = began + milliseconds * 1_000_000
    return OperationRecord(
      process: process, number: number, name: name, steps: [Step(.read, "k", .list([1, 2]))],
      began: start, ended: length.map { start + $0 * 1_000_000 }, outcome: outcome)
  }

  /// Ten seconds; places 0, 1 and 2, of which the first was killed and started again, and the last did nothing.
  static var result: RunResult {
    var operations: [OperationRecord] = []
    for index in 0..<40 {
      operations.append(
        operation(
          [0, 1, 3, 1][index % 4], index, index % 2 == 0 ? "write" : "read",
          at: Int64(index) * 100, for: Int64(index) + 1, .done))
    }
    for index in 0..<2 {
      operations.append(operation(1, 100 + index, "write", at: 500, for: 7, .refused))
    }
    for index in 0..<2 {
      operations.append(operation(0, 200 + index, "write", at: 700, for: 7, .unknown))
    }
    operations.append(operation(0, 300, "write", at: 9000, for: nil, .unknown))
    let samples = [
      Sample(.lockWait, process: 0, time: began + 1_000_000, value: 5_000_000),
      Sample(.refresh, process: 1, time: began + 2_000_000, value: 70_000),
      Sample(.logBytes, process: 1, time: began + 3_000_000, value: 8192),
      Sample(.logBytes, process: 1, time: began + 4_000_000, value: 4096),
    ]
    let notes = (0..<2).map {
      Note(.trouble, process: 0, time: began + Int64($0), subject: "open", text: "no descriptor")
    }
    let faults = [
      FaultRecord(
        event: FaultEvent(kind: .kill, time: 1, target: 0), began: began + 1_000_000_000,
        ended: began + 1_000_000_000),
      FaultRecord(
        event: FaultEvent(kind: .kill, time: 2, target: 1), began: began + 2_000_000_000,
        ended: began + 2_000_000_000, didStrike: false),
      FaultRecord(
        event: FaultEvent(kind: .pause, time: 3, duration: 0.5, target: 1),
        began: began + 3_000_000_000, ended: began + 3_500_000_000),
    ]
    return RunResult(
      plan: RunPlan(workload: "counters", faults: [.kill, .pause], processes: 3, seconds: 10),
      began: began, ended: began + 10_000_000_000, faults: faults, violations: [],
      history: History(operations: operations, samples: samples, notes: notes),
      places: [0, 1, 2, 0])
  }

  /// Text that must not become markup.
  static let wicked = "<script>alert('\"1\" & 2')</script>\u{0}\u{8}\u{1B}[31m\u{202E}]]>&amp;"

  /// The known run with a violation in which everything that comes from outside is wicked.
  static var violated: RunResult {
    var result = result
    var operations = [
      operation(0, 1, "append " + wicked, at: 10, for: 5, .done),
      operation(1, 2, "read", at: 12, for: 10, .done),
      operation(1, 3, "write", at: 40, for: nil, .unknown),
      operation(0, 4, "write", at: 50, for: 5, .refused),
    ]
    operations[1].steps = (0..<30).map { Step(.set, "\(wicked)\($0)", .text(wicked)) }
    operations[3].error = wicked
    result.plan.sabotage = wicked
    result.violations = [
      Violation(
        check: wicked, text: wicked, operations: operations,
        edges: [
          ViolationEdge(from: 0, to: 1, reason: wicked),
          ViolationEdge(from: 1, to: 0, reason: "rw"), ViolationEdge(from: 1, to: 2, reason: "rt"),
          ViolationEdge(from: 7, to: 0, reason: "no such operation"),
        ]),
      Violation(check: "stuck", text: "place 2 did not end"),
    ]
    result.history.notes.append(
      Note(.trouble, process: 0, time: began, subject: wicked, text: wicked))
    result.faults[2].text = wicked
    return result
  }

  static let machine = MachineFacts(
    cores: 2, processor: wicked, kernel: "6.1", sqlite: "3.40.1", build: "debug")

  static func report(_ results: [RunResult]) -> SavedReport {
    SavedReport(
      date: Date(timeIntervalSince1970: 1_700_000_000), machine: machine,
      runs: results.map { SavedRun($0, directory: "/tmp/it's \(wicked.prefix(8))") })
  }
}

/// Writing and reading of values.
enum Saved {
  static func again<Value: Codable>(_ value: Value) throws -> Value {
    try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
  }

  static func decoded<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
  }
}
