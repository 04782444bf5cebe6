import StressFaults
import StressHistory
import StressReport

/// Who made a row, as it stands in the row itself: what a workload writes into its journal so that each
/// operation can be found again.
struct EntryID: Hashable, Sendable {
  /// The process, by the number of its start.
  var process: Int
  /// The number of the operation in its process.
  var number: Int

  init(_ process: Int, _ number: Int) {
    self.process = process
    self.number = number
  }

  init(_ operation: OperationRecord) {
    process = operation.process
    number = operation.number
  }
}

/// Compares what was acknowledged with what is there.
enum Acknowledged {
  /// Checks that each operation stands in the journal if and only if it may.
  ///
  /// - Parameters:
  ///   - entries: the journal, in commit order.
  ///   - names: the names of the operations that write into it.
  static func violations(
    entries: [EntryID], names: Set<String>, _ run: RunContext, _ history: History
  ) -> [Violation] {
    var violations: [Violation] = []
    let operations = history.operations.filter { names.contains($0.name) }
    let byID = Dictionary(operations.map { (EntryID($0), $0) }) { first, _ in first }
    var places: [EntryID: Int] = [:]
    for (place, entry) in entries.enumerated() {
      guard let operation = byID[entry] else {
        violations.append(
          Violation(
            check: "unknown entry",
            text: "entry \(entry.number) of process \(entry.process) was never asked for"))
        continue
      }
      if operation.outcome == .refused {
        violations.append(
          Violation(
            check: "refused and done",
            text: "\(operation.name) was refused (\(operation.error ?? "")), but it is there",
            operations: [operation]))
      }
      if places.updateValue(place, forKey: entry) != nil {
        violations.append(
          Violation(
            check: "done twice", text: "\(operation.name) is there twice", operations: [operation]))
      }
    }
    let done = operations.filter { $0.outcome == .done }
    for operation in done where places[EntryID(operation)] == nil {
      guard !mayBeLost(operation, run) else { continue }
      violations.append(
        Violation(
          check: "lost commit",
          text:
            "\(operation.name) of process \(operation.process) was acknowledged, and is not there",
          operations: [operation]))
    }
    return violations
  }

  /// Whether a power cut may have undone an acknowledged operation: one that struck later, where a commit
  /// does not wait for the disk.
  static func mayBeLost(_ operation: OperationRecord, _ run: RunContext) -> Bool {
    guard ["off", "normal"].contains(run.plan.synchronous), let ended = operation.ended else {
      return false
    }
    return run.faults.contains { $0.event.kind == .powerCut && $0.didStrike && $0.ended >= ended }
  }
}
