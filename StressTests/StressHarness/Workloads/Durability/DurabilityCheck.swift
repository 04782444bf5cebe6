import BoutiqueDB
import StressFaults
package import StressHistory

extension DurabilityWorkload {
  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    // First, so that it is this that recovers what the last ones left.
    var violations = try await FinalState.read(run, [:]).violations
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "check"))
    let links = try await db.read { try ChainLink.all($0, "ORDER BY position") }
    let tally = try await db.read { connection in
      try connection.query("SELECT id, own FROM tally").map {
        (try $0.decode(0, as: Int64.self), try $0.decode(1, as: Int64.self))
      }
    }
    await db.close()

    if let problem = ChainLink.problem(links, isWhole: true) {
      violations.append(Violation(check: "chain", text: problem))
    }
    violations += Self.ownNumbers(links, tally)
    violations += Acknowledged.violations(
      entries: links.map { EntryID(Int($0.process), Int($0.number)) }, names: ["commit"], run,
      history)
    violations += Self.places(links, history)
    violations += Self.holes(links, run, history)
    return violations
  }

  /// Each process has counted its own commits, and counted on from what was there.
  private static func ownNumbers(
    _ links: [ChainLink], _ tally: [(Int64, Int64)]
  ) -> [Violation] {
    var counts: [Int64: Int64] = [:]
    var violations: [Violation] = []
    for link in links {
      let count = (counts[link.process] ?? 0) + 1
      counts[link.process] = count
      if link.own != count {
        violations.append(
          Violation(
            check: "own number",
            text: "commit \(count) of process \(link.process) has the number \(link.own)"))
      }
    }
    if counts != Dictionary(tally, uniquingKeysWith: { first, _ in first }) {
      violations.append(
        Violation(check: "tally", text: "the tally \(tally) is not that of the rows, \(counts)"))
    }
    return violations
  }

  /// What was acknowledged with a place has that place.
  private static func places(_ links: [ChainLink], _ history: History) -> [Violation] {
    let positions = Dictionary(
      links.map { (EntryID(Int($0.process), Int($0.number)), $0.position) }
    ) { first, _ in first }
    return history.operations.compactMap { operation in
      guard operation.name == "commit", operation.outcome == .done,
        let position = positions[EntryID(operation)], let step = operation.steps.first,
        step.key != "\(position)"
      else { return nil }
      return Violation(
        check: "moved", text: "acknowledged at position \(step.key), found at \(position)",
        operations: [operation])
    }
  }

  /// What a power cut has undone is the end of what was acknowledged before it, and no part of its midst.
  private static func holes(
    _ links: [ChainLink], _ run: RunContext, _ history: History
  ) -> [Violation] {
    let cuts = run.faults.filter { $0.event.kind == .powerCut && $0.didStrike }.map(\.ended)
      .sorted()
    let there = Set(links.map { EntryID(Int($0.process), Int($0.number)) })
    var lost: [Int64: OperationRecord] = [:]
    var kept: [Int64: OperationRecord] = [:]
    func position(_ operation: OperationRecord) -> Int64 {
      operation.steps.first.flatMap { Int64($0.key) } ?? 0
    }
    for operation in history.operations where operation.name == "commit" {
      guard operation.outcome == .done, let ended = operation.ended,
        let cut = cuts.first(where: { $0 >= ended })
      else { continue }
      if there.contains(EntryID(operation)) {
        if kept[cut].map({ position($0) < position(operation) }) ?? true { kept[cut] = operation }
      } else if lost[cut].map({ position($0) > position(operation) }) ?? true {
        lost[cut] = operation
      }
    }
    return cuts.compactMap { cut in
      guard let first = lost[cut], let last = kept[cut], position(first) < position(last) else {
        return nil
      }
      return Violation(
        check: "hole",
        text: "a power cut took position \(position(first)) and left \(position(last))",
        operations: [first, last])
    }
  }
}
