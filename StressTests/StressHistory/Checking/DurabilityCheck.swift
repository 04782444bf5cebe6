/// Whether what was acknowledged has outlived power cuts, as far as `synchronous` promises it.
///
/// Commits of one chain number themselves: each reads the last number and inserts the next, with who it is. So the
/// numbers are the order of the commits, and after a cut that lost some the same numbers come again from others.
///
/// Under `full` nothing acknowledged may be lost. Under `normal` the end may be lost by a cut, and never a part
/// before what has remained. Without a cut nothing may be lost under either. O(n log n).
package struct DurabilityCheck: Sendable {
  /// A row of the chain.
  package struct Link: Sendable, Hashable {
    package var number: Int64
    /// Who wrote it: the text of the operation's `insert` step.
    package var writer: String

    /// Describes a row.
    package init(number: Int64, writer: String) {
      self.number = number
      self.writer = writer
    }
  }

  /// Whether a commit is synced before it is acknowledged: `full` and `extra`.
  package var syncsEachCommit: Bool
  /// When the power was cut: no process was alive then.
  package var cuts: [Int64]

  /// Describes a run.
  package init(syncsEachCommit: Bool, cuts: [Int64]) {
    self.syncsEachCommit = syncsEachCommit
    self.cuts = cuts.sorted()
  }

  /// Looks at one chain's operations, in order of their beginnings.
  ///
  /// An operation has one step: `insert`, its own text as the key, and the number when it is known.
  ///
  /// - Parameter final: the rows when all had ended, in any order.
  package func violations(_ operations: [OperationRecord], final: [Link]) -> [Violation] {
    var found = Findings(operations)
    var byWriter: [String: Int] = [:]
    for (index, operation) in operations.enumerated() {
      if let step = operation.steps.first(where: { $0.kind == .insert }) {
        byWriter[step.key] = index
      }
    }
    let rows = final.sorted { $0.number < $1.number }
    checkRows(rows, byWriter, operations, &found)
    checkLost(rows, operations, &found)
    return found.violations
  }

  /// The rows must be one chain without gaps, in the order of the times between cuts.
  private func checkRows(
    _ rows: [Link], _ byWriter: [String: Int], _ operations: [OperationRecord],
    _ found: inout Findings
  ) {
    var last: Int?
    for (place, row) in rows.enumerated() {
      let writer = byWriter[row.writer]
      if row.number != Int64(place) + 1 {
        found.add(
          "gap", "number \(row.number) stands at place \(place + 1) of the chain",
          [writer ?? -1])
        // Everything after it is one off as well.
        return
      }
      guard let writer else {
        found.add("phantom", "number \(row.number) is of \(row.writer), whom nobody knows")
        continue
      }
      let operation = operations[writer]
      if operation.outcome == .refused {
        found.add(
          "refused and done",
          "\(operation.place) was refused and is there: \(operation.error ?? "")", [writer])
      }
      if operation.outcome == .done, operation.number(of: row.writer) ?? row.number != row.number {
        found.add("torn", "\(operation.place) is there with another number", [writer])
      }
      if let last, period(of: operations[writer]) < period(of: operations[last]) {
        found.add(
          "gap",
          "number \(row.number) is of before a power cut, and the number before it of after it",
          [last, writer])
      }
      last = writer
    }
  }

  private func checkLost(
    _ rows: [Link], _ operations: [OperationRecord], _ found: inout Findings
  ) {
    let present = Set(rows.map(\.writer))
    for (index, operation) in operations.enumerated() where operation.outcome == .done {
      guard let step = operation.steps.first(where: { $0.kind == .insert }),
        !present.contains(step.key)
      else { continue }
      let ended = operation.ended ?? .max
      let mayBeLost = !syncsEachCommit && cuts.contains { $0 >= ended }
      if !mayBeLost {
        found.add(
          "lost commit", "\(operation.place) was acknowledged and is not there", [index])
      }
    }
  }

  /// Between which cuts an operation lies: how many there were before it began.
  private func period(of operation: OperationRecord) -> Int {
    cuts.count { $0 < operation.began }
  }
}

extension OperationRecord {
  fileprivate func number(of writer: String) -> Int64? {
    guard let step = steps.first(where: { $0.kind == .insert && $0.key == writer }),
      case .integer(let number) = step.value
    else { return nil }
    return number
  }
}
