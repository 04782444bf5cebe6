import BoutiqueDB
package import StressFaults
package import StressHistory

/// Many want the same names at the same time: one gets each.
package struct RegistrationWorkload: Workload {
  package static let name = "registration"
  package static let summary =
    "many want the same name: one gets it, the others are told, and it stays his"
  package static let faults = FaultKind.allCases

  package init() {}

  private static let clients = 4
  /// For how long the same names are wanted, in nanoseconds.
  private static let season: Int64 = 20_000_000

  package func prepare(_ run: RunContext) async throws {
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "prepare"))
    try await db.write { connection in
      try connection.execute(
        """
        CREATE TABLE member (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
          owner TEXT NOT NULL)
        """)
    }
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    try await WorkloadClient.run(worker, count: Self.clients) { client in
      var count = 0
      while !client.shouldEnd {
        count += 1
        await Self.operate(&client, owner: "\(worker.start)/\(client.number)/\(count)")
      }
    }
  }

  /// A name that others want at this moment, or have wanted a moment ago.
  private static func name(_ client: inout WorkloadClient) -> String {
    let season = HistoryLog.now() / season - (client.random.chance(20) ? 1 : 0)
    return "\(season).\(client.random.int(0...3))"
  }

  /// Whether an error says that somebody else has the name.
  private static func isTaken(_ error: any Error) -> Bool {
    let uniqueViolation = 2067
    guard case BoutiqueError.sql(let code, _) = error else { return false }
    return code == uniqueViolation
  }

  private static func operate(_ client: inout WorkloadClient, owner: String) async {
    let name = Self.name(&client)
    let insert = Step(.insert, name, .text(owner))
    let sql = "INSERT INTO member (name, owner) VALUES (?, ?)"
    switch client.random.int(0...9) {
    case 0...2:
      await client.operate("register", [insert], expects: Self.isTaken) { db in
        _ = try await client.write(db) { try $0.execute(sql, name, owner) }
        return [insert]
      }
    case 3, 4:
      await client.operate("register if free", [insert]) { db in
        try await client.write(db) { connection in
          guard try connection.queryOne("SELECT 1 FROM member WHERE name = ?", name) == nil else {
            throw DeliberateRollback("UNIQUE: \(name) is taken")
          }
          try connection.execute(sql, name, owner)
        }
        return [insert]
      }
    case 5:
      await client.operate("register or ignore", [insert]) { db in
        try await client.write(db) { connection in
          let count = try Member.insert(or: .ignore) { Member.Draft(name: name, owner: owner) }
            .execute(connection)
          if count == 0 { throw DeliberateRollback("UNIQUE: \(name) is taken") }
        }
        return [insert]
      }
    case 6:
      let other = Step(.insert, Self.name(&client), .text(owner + "b"))
      guard other.key != name else { return }
      await client.operate("register two", [insert, other], expects: Self.isTaken) { db in
        try await client.write(db) { connection in
          try connection.execute(sql, name, owner)
          try connection.execute(sql, other.key, owner + "b")
        }
        return [insert, other]
      }
    case 7:
      let microseconds = client.random.int(0...15_000)
      func isExpected(_ error: any Error) -> Bool {
        Self.isTaken(error) || WorkloadClient.isCancellation(error)
      }
      await client.operate("register, cancelled", [insert], expects: isExpected) { db in
        _ = try await client.writeCancelled(db, after: microseconds) {
          try $0.execute(sql, name, owner)
        }
        return [insert]
      }
    default:
      await client.operate("look", [Step(.read, name)]) { db in
        try await db.read { connection in
          let member = try Member.where { $0.name.eq(name) }.fetchOne(connection)
          return [Step(.read, name, member.map { .text($0.owner) } ?? .none)]
        }
      }
    }
  }

  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    let state = try await FinalState.read(
      run, ["members": "SELECT name, owner FROM member ORDER BY id"])
    var final: [String: [String]] = [:]
    for row in state.texts("members") where row.count == 2 {
      final[row[0], default: []].append(row[1])
    }
    return state.violations + RegistrationCheck.violations(history.operations, final: final)
  }
}

/// A name and who has it.
@Table struct Member: Sendable {
  let id: Int
  var name: String
  var owner: String
}
