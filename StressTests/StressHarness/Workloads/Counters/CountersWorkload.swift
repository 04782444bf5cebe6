import BoutiqueDB
package import StressFaults
package import StressHistory

/// Counters that are read, added to and written in one transaction: no update may be lost.
package struct CountersWorkload: Workload {
  package static let name = "counters"
  package static let summary = "read, add one, write: the end is the number of increments"
  package static let faults = FaultKind.allCases

  package init() {}

  private static let count = 4

  package func prepare(_ run: RunContext) async throws {
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "prepare"))
    try await db.write { connection in
      try connection.execute(
        "CREATE TABLE counters (id INTEGER PRIMARY KEY, value INTEGER NOT NULL)")
      for id in 0..<Self.count {
        try connection.execute("INSERT INTO counters VALUES (?, 0)", Int64(id))
      }
    }
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    let db = try await worker.open()
    var random = worker.random("work")
    while !worker.shouldEnd {
      let id = Int64(random.int(0...Self.count - 1))
      await worker.operate("increment", [Step(.add, "\(id)", .integer(1))]) {
        let value = try await db.write { connection in
          let row = try connection.query("SELECT value FROM counters WHERE id = ?", id)
          let value = try row.first?.decode("value", as: Int64.self) ?? 0
          try connection.execute(
            "UPDATE counters SET value = ? WHERE id = ?", value + 1, id)
          return value
        }
        return [Step(.read, "\(id)", .integer(value)), Step(.add, "\(id)", .integer(1))]
      }
    }
    await db.close()
  }

  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    let state = try await FinalState.read(
      run, ["counters": "SELECT id, value FROM counters ORDER BY id"])
    return state.violations
  }
}
