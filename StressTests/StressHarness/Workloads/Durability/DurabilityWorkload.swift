import BoutiqueDB
package import StressFaults
package import StressHistory
import StressReport

/// Commits that number themselves: what was acknowledged outlives whatever happens, as far as is promised.
///
/// Opened with the run's own `synchronous`, unlike the others, which take `full` when the power may be cut.
package struct DurabilityWorkload: Workload {
  package static let name = "durability"
  package static let summary =
    "numbered commits: after a power cut all are there (full) or all but the last ones (normal)"
  package static let faults = FaultKind.allCases

  package init() {}

  private static let chains = 3
  private static let clients = 4

  package func prepare(_ run: RunContext) async throws {
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "prepare"))
    try await db.write { connection in
      try connection.execute(
        """
        CREATE TABLE link (chain INTEGER NOT NULL, number INTEGER NOT NULL, writer TEXT NOT NULL,
          size INTEGER NOT NULL, payload TEXT NOT NULL, PRIMARY KEY (chain, number))
        """)
    }
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    try await WorkloadClient.run(worker, count: Self.clients, keepsSetting: true) { client in
      var count = 0
      while !client.shouldEnd {
        count += 1
        let chain = client.random.int(0...Self.chains - 1)
        let writer = "\(chain)/\(worker.start)/\(client.number)/\(count)"
        // Some of it reaches over several pages.
        let size = client.random.chance(20) ? client.random.int(100...2000) : 1
        await client.operate("commit", [Step(.insert, writer)]) { db in
          let number = try await client.write(db) { connection in
            let row = try connection.queryOne(
              "SELECT coalesce(max(number), 0) + 1 FROM link WHERE chain = ?", chain)
            let number = try row?.decode(0, as: Int64.self) ?? 1
            try connection.execute(
              "INSERT INTO link VALUES (?, ?, ?, ?, ?)", chain, number, writer, size,
              String(repeating: writer, count: size))
            return number
          }
          return [Step(.insert, writer, .integer(number))]
        }
      }
    }
  }

  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    let state = try await FinalState.read(
      run,
      [
        "links": "SELECT chain, number, writer FROM link ORDER BY chain, number",
        "torn": """
        SELECT writer FROM link WHERE payload <> replace(hex(zeroblob(size)), '00', writer)
          ORDER BY writer
        """,
      ])
    var violations = state.violations
    for row in state.texts("torn") {
      violations.append(Violation(check: "torn", text: "the row of \(row) is not what was written"))
    }
    let check = DurabilityCheck(
      syncsEachCommit: ["full", "extra"].contains(run.plan.synchronous),
      cuts: history.notes.filter { $0.subject == Note.powerCut }.map(\.time))
    for chain in 0..<Self.chains {
      let rows = state.texts("links").filter { $0.count == 3 && $0[0] == "\(chain)" }
      violations += check.violations(
        history.operations.filter { $0.steps.first?.key.hasPrefix("\(chain)/") == true },
        final: rows.map { .init(number: Int64($0[1]) ?? 0, writer: $0[2]) })
    }
    return violations
  }
}
