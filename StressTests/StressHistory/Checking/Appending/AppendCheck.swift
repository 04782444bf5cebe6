/// Whether a history of appends to lists and reads of whole lists is strictly serializable: as if the
/// operations had happened one after the other, each between its beginning and its end.
///
/// Each value is appended once in the whole history, so that a list tells the order of its versions and who made
/// each (Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental Observations"). From that
/// follows which operation must come before which; a cycle shows that there is no order.
///
/// An operation whose outcome is unknown counts when one of its values was seen, and has no end.
/// O(n log n) for a history of size n.
package enum AppendCheck {
  /// How many violations of one kind are described; the rest are the same again.
  static let bound = 3

  /// Looks at the operations, in order of their beginnings.
  ///
  /// - Parameter final: the lists when all had ended; a list that is not there is empty.
  package static func violations(
    _ operations: [OperationRecord], final: [String: [Int64]]? = nil
  ) -> [Violation] {
    let history = AppendHistory(operations, final: final)
    var found = Findings(operations)
    for (index, operation) in operations.enumerated() where operation.outcome == .done {
      checkOwnView(operation, index, &found)
    }
    for list in history.lists { checkList(list, history, &found) }
    checkWholeness(history, &found)
    // Where the orders themselves contradict each other, dependencies mean nothing.
    if !found.has("incompatible orders") && !found.has("duplicate append") {
      checkOrder(history, &found)
    }
    return found.violations
  }

  /// An operation must see its own appends, and the same list twice.
  private static func checkOwnView(
    _ operation: OperationRecord, _ index: Int, _ found: inout Findings
  ) {
    guard operation.steps.count > 1 else { return }
    var known: [String: [Int64]] = [:]
    var appended: [String: [Int64]] = [:]
    for step in operation.steps {
      switch (step.kind, step.value) {
      case (.append, .integer(let value)):
        known[step.key]?.append(value)
        appended[step.key, default: []].append(value)
      case (.read, .list(let list)):
        let isExpected =
          known[step.key].map { $0 == list }
          ?? list.suffix(appended[step.key]?.count ?? 0).elementsEqual(appended[step.key] ?? [])
        if !isExpected {
          found.add(
            "internal",
            "\(operation.place) read \(list.short) of \(step.key) and must have seen "
              + (known[step.key] ?? appended[step.key] ?? []).short, [index])
        }
        known[step.key] = list
      default: break
      }
    }
  }

  /// Some of what an operation wrote being there, all of it must be.
  private static func checkWholeness(_ history: AppendHistory, _ found: inout Findings) {
    for list in history.lists where list.final != nil {
      let missing = list.writers.filter { value, writer in
        list.positions[value] == nil && history.isSeen[writer]
          && history.operations[writer].outcome == .unknown
      }
      for (value, writer) in missing.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
        found.add(
          "partial commit",
          "\(value) is not in \(list.key), though another append of \(history.operations[writer].place) is there",
          [writer])
      }
    }
  }

  private static func checkOrder(_ history: AppendHistory, _ found: inout Findings) {
    for cycle in Cycle.find(history.graph(), atMost: bound) {
      let steps = cycle.steps.map { step in
        let place = history.operations[step.operation].place
        let thing = step.thing < 0 ? "" : " on \(history.lists[step.thing].key)"
        return "\(place) –(\(step.reason.sign)\(thing))→ "
      }
      let first = cycle.steps.first.map { history.operations[$0.operation].place } ?? ""
      found.add(
        cycle.name, "each must come before the next: " + steps.joined() + first,
        cycle.steps.map(\.operation),
        order: cycle.steps.map { step in
          let thing = step.thing < 0 ? "" : " \(history.lists[step.thing].key)"
          return (step.operation, step.reason.sign + thing)
        })
    }
  }
}
