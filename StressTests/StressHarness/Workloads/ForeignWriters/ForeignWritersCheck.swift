import BoutiqueDB
import ProcessHarness
import StressFaults
package import StressHistory

extension ForeignWritersWorkload {
  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    // First, so that it is this that recovers what the last ones left.
    var violations = try await FinalState.read(run, [:]).violations
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "check"))
    let state = try await db.read { try ForeignLedger.State($0) }
    let entries = try await db.read { connection in
      try connection.query("SELECT process, number FROM entry ORDER BY id").map {
        EntryID(try $0.decode(0), try $0.decode(1))
      }
    }
    await db.close()

    if let problem = state.problem() {
      violations.append(Violation(check: "ledger", text: "at the end " + problem))
    }
    violations += try await Self.foreignView(run, state)
    violations += Acknowledged.violations(entries: entries, names: ["move"], run, history)
    if !run.faults.contains(where: { $0.event.kind == .powerCut }) {
      violations += CounterBounds.violations(history, reads: "look", additions: "move")
    }
    return violations
  }

  /// What ours wrote is there for others, too.
  private static func foreignView(
    _ run: RunContext, _ ours: ForeignLedger.State
  ) async throws -> [Violation] {
    let text = """
      db = connect()
      column = lambda sql: [r[0] for r in db.execute(sql)]
      say(counters=column("SELECT value FROM counter ORDER BY id"),
          sum=column("SELECT sum(balance) FROM account")[0],
          entries=[column("SELECT count(*) FROM entry WHERE counter = %d" % c)[0]
              for c in range(\(ForeignLedger.counters))],
          check=column("PRAGMA integrity_check"))

      """
    let answer = try await ForeignProgram.result(text, database: run.database)
    func list(_ name: String) -> [Int64] {
      answer[name]?.list?.compactMap { $0.int.map(Int64.init) } ?? []
    }
    var violations: [Violation] = []
    if answer["check"] != ["ok"] {
      violations.append(Violation(check: "integrity", text: "Python finds \(answer)"))
    }
    let theirs = ForeignLedger.State(
      counters: list("counters"), sum: Int64(answer["sum"]?.int ?? 0), entries: list("entries"))
    if theirs != ours {
      violations.append(
        Violation(check: "foreign view", text: "Python finds \(theirs), the library \(ours)"))
    }
    return violations
  }
}

/// Counters that only grow, read while others add to them: a read must show all that had ended before it
/// began, and none that began after it had ended.
enum CounterBounds {
  static func violations(
    _ history: History, reads: String, additions: String
  ) -> [Violation] {
    var ends: [String: [Int64]] = [:]
    var begins: [String: [Int64]] = [:]
    for operation in history.operations where operation.name == additions {
      guard let key = operation.steps.first?.key, operation.outcome != .refused else { continue }
      begins[key, default: []].append(operation.began)
      if operation.outcome == .done, let ended = operation.ended {
        ends[key, default: []].append(ended)
      }
    }
    for key in ends.keys { ends[key]?.sort() }
    for key in begins.keys { begins[key]?.sort() }
    var violations: [Violation] = []
    for operation in history.operations
    where operation.name == reads && operation.outcome == .done {
      guard let ended = operation.ended else { continue }
      for case let step in operation.steps {
        guard case .integer(let value) = step.value else { continue }
        let least = count(ends[step.key] ?? [], below: operation.began)
        let most = count(begins[step.key] ?? [], below: ended)
        if value < least || value > most {
          violations.append(
            Violation(
              check: value < least ? "stale read" : "read from the future",
              text: "counter \(step.key) was read as \(value); at least \(least) additions had "
                + "ended before, at most \(most) begun", operations: [operation]))
        }
      }
    }
    return violations
  }

  /// How many numbers of a sorted list are below a bound.
  private static func count(_ sorted: [Int64], below bound: Int64) -> Int64 {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < bound { low = middle + 1 } else { high = middle }
    }
    return Int64(low)
  }
}
