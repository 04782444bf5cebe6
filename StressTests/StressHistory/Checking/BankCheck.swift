/// Whether money moved between accounts has been made or lost.
///
/// A transfer has two additions that cancel out and one `insert` of its own number in the ledger; a look
/// reads accounts. O(size of the history).
package struct BankCheck: Sendable {
  /// What each account had at first; these are all the accounts.
  package var initial: [String: Int64]
  /// Whether the rule of the bank allows a balance under 0.
  package var mayOverdraw: Bool

  /// Describes a bank.
  package init(initial: [String: Int64], mayOverdraw: Bool = false) {
    self.initial = initial
    self.mayOverdraw = mayOverdraw
  }

  /// Looks at the operations, in order of their beginnings.
  ///
  /// - Parameters:
  ///   - final: the accounts when all had ended.
  ///   - ledger: the numbers of the transfers that are in the ledger then.
  package func violations(
    _ operations: [OperationRecord], final: [String: Int64], ledger: [String]
  ) -> [Violation] {
    var found = Findings(operations)
    let total = initial.values.reduce(0, +)
    checkLooks(operations, total, &found)

    let present = Set(ledger)
    if present.count != ledger.count {
      found.add("twice in the ledger", "\(ledger.count - present.count) transfers are there twice")
    }
    var explained = initial
    var known: Set<String> = []
    for (index, operation) in operations.enumerated() {
      guard let number = operation.steps.first(where: { $0.kind == .insert })?.key else { continue }
      known.insert(number)
      let isThere = present.contains(number)
      if operation.outcome == .done && !isThere {
        found.add(
          "lost transfer", "\(operation.place) was acknowledged and is not in the ledger", [index])
      }
      if operation.outcome == .refused && isThere {
        found.add(
          "refused and done",
          "\(operation.place) was refused and is in the ledger: "
            + (operation.error ?? ""), [index])
      }
      guard isThere else { continue }
      for step in operation.steps where step.kind == .add {
        if case .integer(let amount) = step.value { explained[step.key, default: 0] += amount }
      }
    }
    if let stranger = present.subtracting(known).min() {
      found.add("phantom", "the ledger has transfer \(stranger), which nobody asked for")
    }
    for (account, balance) in final.sorted(by: { $0.key < $1.key })
    where explained[account] != balance {
      let takers = operations.indices.filter { place in
        operations[place].steps.contains { $0.kind == .add && $0.key == account }
      }
      found.add(
        "wrong balance",
        "account \(account) ends at \(balance); by the ledger it has \(explained[account] ?? 0)",
        Array(takers.suffix(5)))
    }
    if final.count != initial.count || final.values.reduce(0, +) != total {
      found.add(
        "total",
        "at the end \(final.count) accounts have \(final.values.reduce(0, +)), not \(total)")
    }
    return found.violations
  }

  private func checkLooks(
    _ operations: [OperationRecord], _ total: Int64, _ found: inout Findings
  ) {
    for (index, operation) in operations.enumerated() where operation.outcome == .done {
      var seen: [String: Int64] = [:]
      for step in operation.steps {
        guard step.kind == .read, case .integer(let balance) = step.value else { continue }
        if balance < 0, !mayOverdraw {
          found.add(
            "overdrawn", "\(operation.place) found \(balance) in account \(step.key)", [index])
        }
        if let before = seen.updateValue(balance, forKey: step.key), before != balance,
          !operation.steps.contains(where: { $0.kind == .add && $0.key == step.key })
        {
          found.add(
            "unrepeatable read",
            "\(operation.place) found \(before) and then \(balance) in account \(step.key)",
            [index])
        }
      }
      guard seen.count == initial.count else { continue }
      let sum = seen.values.reduce(0, +)
      if sum != total {
        found.add(
          "total", "\(operation.place) found \(sum) in all accounts together, not \(total)",
          [index])
      }
    }
  }
}
