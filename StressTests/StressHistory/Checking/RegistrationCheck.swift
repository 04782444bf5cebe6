/// Whether each name has exactly one owner: who was told that he has it, and nobody else.
///
/// A registration is one `insert` of a name with the owner's own text. Refused because the name is taken is
/// an outcome `refused` whose error names a unique constraint; that says that the name was somebody's, for
/// good. A look is a `read` of a name, with its owner or none. O(n log n).
package enum RegistrationCheck {
  private struct Attempt {
    let operation: Int
    let owner: String
  }

  /// Looks at the operations, in order of their beginnings.
  ///
  /// - Parameter final: the owners when all had ended, by name; more than one is a violation.
  package static func violations(
    _ operations: [OperationRecord], final: [String: [String]]
  ) -> [Violation] {
    var found = Findings(operations)
    var attempts: [String: [Attempt]] = [:]
    var looks: [String: [Attempt]] = [:]
    for (index, operation) in operations.enumerated() {
      for step in operation.steps {
        switch (step.kind, step.value) {
        case (.insert, .text(let owner)):
          attempts[step.key, default: []].append(Attempt(operation: index, owner: owner))
        case (.read, .text(let owner)) where operation.outcome == .done:
          looks[step.key, default: []].append(Attempt(operation: index, owner: owner))
        case (.read, .none) where operation.outcome == .done:
          looks[step.key, default: []].append(Attempt(operation: index, owner: ""))
        default: break
        }
      }
    }
    for name in Set(attempts.keys).union(final.keys).union(looks.keys).sorted() {
      let tried = attempts[name] ?? []
      checkOwner(name, tried, final[name] ?? [], operations, &found)
      checkRefused(name, tried, operations, &found)
      checkLooks(name, looks[name] ?? [], tried, final[name]?.first, operations, &found)
    }
    checkWholeness(operations, final, &found)
    return found.violations
  }

  /// Of names that were asked for together, all are there or none.
  private static func checkWholeness(
    _ operations: [OperationRecord], _ final: [String: [String]], _ found: inout Findings
  ) {
    for (index, operation) in operations.enumerated() where operation.outcome == .unknown {
      let asked = operation.steps.filter { $0.kind == .insert }
      let there = asked.filter { step in
        guard case .text(let owner) = step.value else { return false }
        return final[step.key]?.contains(owner) == true
      }
      if !there.isEmpty, there.count < asked.count {
        found.add(
          "partial commit", "of \(operation.place) only \(there.map(\.key)) is there", [index])
      }
    }
  }

  private static func checkOwner(
    _ name: String, _ tried: [Attempt], _ owners: [String], _ operations: [OperationRecord],
    _ found: inout Findings
  ) {
    let winners = tried.filter { operations[$0.operation].outcome == .done }
    if winners.count > 1 {
      found.add(
        "two winners", "\(winners.count) were told that \(name) is theirs",
        winners.prefix(2).map(\.operation))
    }
    if owners.count > 1 { found.add("two owners", "\(name) is there \(owners.count) times") }
    if let winner = winners.first, owners.isEmpty {
      found.add(
        "lost registration",
        "\(operations[winner.operation].place) was told that \(name) is its own, and it is not there",
        [winner.operation])
    }
    guard let owner = owners.first else { return }
    guard let his = tried.first(where: { $0.owner == owner }) else {
      found.add("phantom", "\(name) belongs to \(owner), who never asked for it")
      return
    }
    if operations[his.operation].outcome == .refused {
      found.add(
        "refused and done",
        "\(name) belongs to \(owner), who was refused: \(operations[his.operation].error ?? "")",
        [his.operation])
    }
    if let winner = winners.first, winner.owner != owner, winners.count == 1 {
      found.add(
        "wrong owner", "\(name) belongs to \(owner), and \(winner.owner) was told to have it",
        [winner.operation, his.operation])
    }
  }

  /// Whoever was told that a name is taken, must have lost to somebody who had begun before that.
  private static func checkRefused(
    _ name: String, _ tried: [Attempt], _ operations: [OperationRecord], _ found: inout Findings
  ) {
    for loser in tried where operations[loser.operation].saysTaken {
      let ended = operations[loser.operation].ended ?? .max
      let hasRival = tried.contains {
        operations[$0.operation].outcome != .refused && operations[$0.operation].began < ended
      }
      if !hasRival {
        found.add(
          "refused without a winner",
          "\(operations[loser.operation].place) was told that \(name) is taken, and nobody can have had it",
          [loser.operation])
      }
    }
  }

  private static func checkLooks(
    _ name: String, _ looks: [Attempt], _ tried: [Attempt], _ owner: String?,
    _ operations: [OperationRecord], _ found: inout Findings
  ) {
    // From when on the name is certainly somebody's: by who was told so, or saw it.
    var taken: (time: Int64, operation: Int)?
    for witness in tried.filter({
      operations[$0.operation].outcome == .done || operations[$0.operation].saysTaken
    }) + looks.filter({ !$0.owner.isEmpty }) {
      let ended = operations[witness.operation].ended ?? .max
      if ended < taken?.time ?? .max { taken = (ended, witness.operation) }
    }
    for look in looks {
      let operation = operations[look.operation]
      if look.owner.isEmpty {
        if let taken, taken.time < operation.began {
          found.add(
            "stale read",
            "\(operation.place) found \(name) free, though it had been taken before that",
            [taken.operation, look.operation])
        }
        continue
      }
      if look.owner != owner {
        found.add(
          "lost registration",
          "\(operation.place) found that \(name) belongs to \(look.owner); at the end it is "
            + (owner ?? "nobody's"), [look.operation])
      }
      let his = tried.first { $0.owner == look.owner }
      if let his, let ended = operation.ended, operations[his.operation].began > ended {
        found.add(
          "read from the future",
          "\(operation.place) found \(name) with \(look.owner), who asked for it later",
          [look.operation, his.operation])
      }
    }
  }
}

extension OperationRecord {
  /// Whether it was told that what it wanted to make is there already; of two names it is not known which.
  fileprivate var saysTaken: Bool {
    outcome == .refused && error?.contains("UNIQUE") == true
      && steps.count { $0.kind == .insert } == 1
  }
}
