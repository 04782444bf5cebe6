import BoutiqueDB
import StressFaults
package import StressHistory
import StressReport

extension CrowdWorkload {
  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    // First, so that it is this that recovers what the last ones left.
    let violations = try await FinalState.read(run, [:]).violations
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "check"))
    let entries = try await db.read { connection in
      try connection.query("SELECT process, number FROM hit ORDER BY id").map {
        EntryID(try $0.decode(0), try $0.decode(1))
      }
    }
    await db.close()
    return violations
      + Acknowledged.violations(entries: entries, names: ["hit"], run, history)
      + Self.starvation(run, history)
  }

  /// Who worked from the beginning to the end of all work has not done far less than the others.
  ///
  /// Turns come in order of arrival, so all that have the same to do get about the same. A fifth of the median
  /// leaves room for a scheduler that is not as fair; faults that strike single processes leave room for
  /// anything, and then a process that never got a turn is all that is looked for.
  private static func starvation(_ run: RunContext, _ history: History) -> [Violation] {
    let hits = Dictionary(grouping: history.operations.filter { $0.name == "hit" }, by: \.process)
    guard let end = history.operations.compactMap(\.ended).max(),
      let begin = history.operations.map(\.began).min(), end > begin
    else { return [] }
    let span = end.minus(begin)
    var counts: [Int: Int] = [:]
    for (process, operations) in hits {
      guard let first = operations.first?.began, let last = operations.last?.ended ?? nil,
        first.minus(begin) < span / 4, end.minus(last) < span / 4
      else { continue }
      counts[process] = operations.count { $0.outcome == .done }
    }
    let median = counts.values.sorted().dropFirst(counts.count / 2).first ?? 0
    let isPlain = run.plan.faults.allSatisfy { [.kill, .killAtPoint].contains($0) }
    let least = isPlain ? median / 5 : 0
    return counts.filter { median >= 10 && ($0.value < least || $0.value == 0) }.map {
      Violation(
        check: "starvation",
        text: "process \($0.key) did \($0.value) writes, the median of \(counts.count) is \(median)"
      )
    }
  }
}
