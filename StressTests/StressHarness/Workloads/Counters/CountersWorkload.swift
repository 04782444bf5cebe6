import BoutiqueDB
package import StressFaults
package import StressHistory

/// Counters that are read, added to and written in one transaction: no update may be lost.
package struct CountersWorkload: Workload {
  package static let name = "counters"
  package static let summary =
    "read, add, write: no update is lost, and nobody finds an older value"
  package static let faults = FaultKind.allCases

  package init() {}

  static let count = 4
  private static let clients = 4

  package func prepare(_ run: RunContext) async throws {
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "prepare"))
    try await db.write { connection in
      try connection.execute(
        "CREATE TABLE counter (id INTEGER PRIMARY KEY, value INTEGER NOT NULL)")
      for id in 0..<Self.count {
        try connection.execute("INSERT INTO counter VALUES (?, 0)", Int64(id))
      }
    }
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    try await WorkloadClient.run(worker, count: Self.clients) { client in
      while !client.shouldEnd { await Self.operate(&client) }
    }
  }

  private static func operate(_ client: inout WorkloadClient) async {
    let id = Int64(client.random.int(0...count - 1))
    let other = (id + 1) % Int64(count)
    let amount = Int64(client.random.int(1...3))
    let add = Step(.add, "\(id)", .integer(amount))
    switch client.random.int(0...9) {
    case 0...3:
      await client.operate("increment", [add]) { db in
        let value = try await client.write(db) { try $0.increment(id, by: amount) }
        return [Step(.read, "\(id)", .integer(value)), add]
      }
    case 4:
      await client.operate("increment at once", [add]) { db in
        let row = try await client.write(db) { connection in
          try connection.queryOne(
            "UPDATE counter SET value = value + ? WHERE id = ? RETURNING value", amount, id)
        }
        let value = try row?.decode(0, as: Int64.self) ?? 0
        return [Step(.read, "\(id)", .integer(value - amount)), add]
      }
    case 5:
      let second = Step(.add, "\(other)", .integer(1))
      await client.operate("increment two", [add, second]) { db in
        let values = try await client.write(db) { connection in
          let first = try connection.increment(id, by: amount)
          return (first, try connection.increment(other, by: 1))
        }
        return [
          Step(.read, "\(id)", .integer(values.0)), add,
          Step(.read, "\(other)", .integer(values.1)), second,
        ]
      }
    case 6:
      await client.operate("increment after a savepoint", [add]) { db in
        let value = try await client.write(db) { connection in
          try? connection.savepoint {
            _ = try connection.increment(id, by: 1000)
            throw DeliberateRollback()
          }
          return try connection.increment(id, by: amount)
        }
        return [Step(.read, "\(id)", .integer(value)), add]
      }
    case 7:
      let microseconds = client.random.int(0...15_000)
      await client.operate("increment, cancelled", [add], expects: WorkloadClient.isCancellation) {
        db in
        let value = try await client.writeCancelled(db, after: microseconds) {
          try $0.increment(id, by: amount)
        }
        return [Step(.read, "\(id)", .integer(value)), add]
      }
    case 8:
      // Nothing is asked for: what is there of it comes from nowhere, though the process dies.
      await client.operate("undo") { db in
        try await client.write(db) { connection in
          _ = try connection.increment(id, by: amount)
          throw DeliberateRollback()
        }
      }
    default:
      await client.operate("look") { db in
        try await db.read { connection in
          try connection.query("SELECT id, value FROM counter ORDER BY id").map { row in
            Step(.read, "\(try row.decode(0, as: Int64.self))", .integer(try row.decode(1)))
          }
        }
      }
    }
  }

  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    let state = try await FinalState.read(
      run, ["counters": "SELECT id, value FROM counter ORDER BY id"])
    var final: [String: Int64] = [:]
    for row in state.integers("counters") where row.count == 2 { final["\(row[0])"] = row[1] }
    return state.violations + CounterCheck.violations(history.operations, final: final)
  }
}

extension BoutiqueConnection {
  /// Adds to a counter in the plain way, and returns what it was before.
  fileprivate func increment(_ id: Int64, by amount: Int64) throws -> Int64 {
    let row = try queryOne("SELECT value FROM counter WHERE id = ?", id)
    let value = try row?.decode("value", as: Int64.self) ?? 0
    try execute("UPDATE counter SET value = ? WHERE id = ?", value + amount, id)
    return value
  }
}
