import BoutiqueDB
package import StressHistory
import StressReport

extension LongReadersWorkload {
  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    // First, so that it is this that recovers what the last ones left.
    var violations = try await FinalState.read(run, [:]).violations
    var configuration = run.configuration(label: "check")
    Self.configure(&configuration)
    let db = try await BoutiqueDB.open(path: run.database, configuration: configuration)
    let sums = try await db.read { try SlotSums($0) }
    let totals = try await db.read { connection in
      try connection.query("SELECT id, hits FROM total").reduce(into: [Int: Int]()) {
        $0[try $1.decode(0)] = try $1.decode(1)
      }
    }
    await db.close()

    if let problem = sums.problem() { violations.append(Violation(check: "sums", text: problem)) }
    // Rows are written over, so what is lost shows in the numbers of a process and not in a row.
    for (process, operations) in Dictionary(
      grouping: history.operations.filter { $0.name == "write" }, by: \.process)
    {
      let done = operations.count {
        $0.outcome == .done && !Acknowledged.mayBeLost($0, run)
      }
      let most = operations.count { $0.outcome != .refused }
      let found = (totals[process] ?? 0) / 4
      if found < done || found > most {
        violations.append(
          Violation(
            check: "lost commit",
            text:
              "process \(process) was told of \(done) writes and asked for \(most); \(found) are there"
          ))
      }
    }
    for process in totals.keys where !history.operations.contains(where: { $0.process == process })
    {
      violations.append(
        Violation(check: "unknown entry", text: "process \(process) never wrote, and has a total"))
    }
    return violations
  }
}
