/// Whether numbers that are read, added to and written in one transaction have lost an addition.
///
/// Of an operation's steps, a read of a key followed by an addition to it is an increment that found that
/// value; a read without one is a look. The numbers begin at 0 and additions are positive, so each increment
/// covers the range from the value that it read to the one that it wrote: ranges must not overlap, and what
/// lies between them must be the work of operations with an unknown outcome. Values never go back in real
/// time. O(n log n).
package enum CounterCheck {
  private struct Access {
    let operation: Int
    let value: Int64
    /// What was added; 0 for a look.
    let amount: Int64
    var after: Int64 { value + amount }
  }

  /// Looks at the operations, in order of their beginnings.
  ///
  /// - Parameter final: the numbers when all had ended.
  package static func violations(
    _ operations: [OperationRecord], final: [String: Int64]
  ) -> [Violation] {
    var found = Findings(operations)
    var accesses: [String: [Access]] = [:]
    var open: [String: [(operation: Int, amount: Int64)]] = [:]
    for (index, operation) in operations.enumerated() {
      var read: [String: Int64] = [:]
      for step in operation.steps {
        switch (step.kind, step.value, operation.outcome) {
        case (.read, .integer(let value), .done):
          if let value = read.updateValue(value, forKey: step.key) {
            accesses[step.key, default: []].append(
              Access(operation: index, value: value, amount: 0))
          }
        case (.add, .integer(let amount), .done):
          guard let value = read.removeValue(forKey: step.key) else { continue }
          accesses[step.key, default: []].append(
            Access(operation: index, value: value, amount: amount))
        case (.add, .integer(let amount), .unknown):
          open[step.key, default: []].append((index, amount))
        default: break
        }
      }
      for (key, value) in read {
        accesses[key, default: []].append(Access(operation: index, value: value, amount: 0))
      }
    }
    for key in Set(accesses.keys).union(final.keys).union(open.keys).sorted() {
      let all = accesses[key] ?? []
      checkRanges(key, all, open[key] ?? [], final: final[key] ?? 0, operations, &found)
      checkTime(key, all, operations, &found)
    }
    return found.violations
  }

  private static func checkRanges(
    _ key: String, _ accesses: [Access], _ open: [(operation: Int, amount: Int64)], final: Int64,
    _ operations: [OperationRecord], _ found: inout Findings
  ) {
    let increments = accesses.filter { $0.amount > 0 }.sorted {
      ($0.value, $0.operation) < ($1.value, $1.operation)
    }
    var end: Int64 = 0
    var last: Access?
    var gaps: Int64 = 0
    for increment in increments {
      if increment.value < end, let last {
        found.add(
          "lost update",
          "\(operations[increment.operation].place) found \(increment.value) in \(key), though "
            + "\(operations[last.operation].place) had made \(last.after) of \(last.value)",
          [last.operation, increment.operation])
      } else {
        gaps += increment.value - end
      }
      if increment.after > end {
        end = increment.after
        last = increment
      }
    }
    if final < end, let last {
      found.add(
        "lost update",
        "\(key) ends at \(final), though \(operations[last.operation].place) had made it "
          + "\(last.after)", [last.operation])
    }
    gaps += max(0, final - end)
    let unknown = open.reduce(0) { $0 + $1.amount }
    if gaps > unknown {
      found.add(
        "update from nowhere",
        "\(key) ends at \(final); of that \(gaps) are no acknowledged addition, and those of unknown "
          + "outcome come to \(unknown)", open.prefix(10).map(\.operation))
    }
    if let early = accesses.first(where: { $0.amount == 0 && $0.value > final }) {
      found.add(
        "lost update",
        "\(key) ends at \(final), though \(operations[early.operation].place) had read "
          + "\(early.value)", [early.operation])
    }
  }

  /// Who begins after another has ended must find at least what that one left.
  private static func checkTime(
    _ key: String, _ accesses: [Access], _ operations: [OperationRecord], _ found: inout Findings
  ) {
    let ended = accesses.filter { operations[$0.operation].ended != nil }.sorted {
      operations[$0.operation].ended ?? 0 < operations[$1.operation].ended ?? 0
    }
    let begun = accesses.sorted {
      operations[$0.operation].began < operations[$1.operation].began
    }
    var next = 0
    var highest: Access?
    for access in begun {
      while next < ended.count,
        operations[ended[next].operation].ended ?? 0 < operations[access.operation].began
      {
        if ended[next].after > highest?.after ?? -1 { highest = ended[next] }
        next += 1
      }
      guard let highest, access.value < highest.after else { continue }
      found.add(
        "stale read",
        "\(operations[access.operation].place) found \(access.value) in \(key), though "
          + "\(operations[highest.operation].place) had left \(highest.after) before it began",
        [highest.operation, access.operation])
    }
  }
}
