import BoutiqueDB
import Foundation
package import StressFaults
package import StressHistory

/// Transfers between accounts: the total is the same in every snapshot, and nobody goes below zero.
package struct BankWorkload: Workload {
  package static let name = "bank"
  package static let summary =
    "transfers: every snapshot has the same total, and no account less than nothing"
  package static let faults = FaultKind.allCases

  package init() {}

  private static let accounts = 8
  private static let deposit = 100
  private static let clients = 4

  package func prepare(_ run: RunContext) async throws {
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "prepare"))
    try await db.write { connection in
      try connection.execute(
        "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)")
      try connection.execute(
        """
        CREATE TABLE transfer (id TEXT PRIMARY KEY NOT NULL, source INTEGER NOT NULL REFERENCES account,
          destination INTEGER NOT NULL REFERENCES account, amount INTEGER NOT NULL)
        """)
      for id in 0..<Self.accounts {
        try Account.insert { Account(id: id, balance: Self.deposit) }.execute(connection)
      }
    }
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    try await WorkloadClient.run(worker, count: Self.clients) { client in
      var count = 0
      while !client.shouldEnd {
        count += 1
        if client.random.chance(70) {
          await Self.transfer(&client, "\(worker.start)/\(client.number)/\(count)")
        } else {
          await Self.look(&client)
        }
      }
    }
  }

  private static func transfer(_ client: inout WorkloadClient, _ number: String) async {
    let source = client.random.int(0...accounts - 1)
    let destination = (source + client.random.int(1...accounts - 1)) % accounts
    let amount = client.random.int(1...60)
    let transfer = Transfer(
      id: number, source: source, destination: destination, amount: amount)
    let steps = transfer.steps
    switch client.random.int(0...9) {
    case 0...4:
      await client.operate("transfer", steps) { db in
        try await client.write(db) { try $0.perform(transfer) } + steps
      }
    case 5, 6:
      await client.operate("transfer by models", steps) { db in
        try await client.write(db) { try $0.performWithModels(transfer) } + steps
      }
    case 7:
      await client.operate("transfer after a savepoint", steps) { db in
        try await client.write(db) { connection in
          try? connection.savepoint {
            // The money goes the wrong way first.
            try connection.execute(
              "UPDATE account SET balance = balance + ? WHERE id = ?", amount, source)
            throw DeliberateRollback()
          }
          return try connection.perform(transfer)
        } + steps
      }
    case 8:
      let microseconds = client.random.int(0...15_000)
      await client.operate("transfer, cancelled", steps, expects: WorkloadClient.isCancellation) {
        db in
        try await client.writeCancelled(db, after: microseconds) { try $0.perform(transfer) }
          + steps
      }
    default:
      // Nothing is asked for: in the ledger it is a phantom, though the process dies.
      await client.operate("transfer, undone") { db in
        try await client.write(db) { connection in
          _ = try connection.perform(transfer)
          throw DeliberateRollback()
        }
      }
    }
  }

  private static func look(_ client: inout WorkloadClient) async {
    switch client.random.int(0...3) {
    case 0:
      await client.operate("sum") { db in
        try await db.read { connection in
          try Account.order { $0.id.asc() }.fetchAll(connection).map(\.step)
        }
      }
    case 1, 2:
      let pause = UInt32(client.random.int(0...2000))
      await client.operate("slow sum") { db in
        try await db.read { connection in
          // What others commit meanwhile must not be seen.
          var steps: [Step] = []
          for id in 0..<accounts {
            if id == accounts / 2 { usleep(pause) }
            steps += try Account.find(id).fetchAll(connection).map(\.step)
          }
          return steps
        }
      }
    default:
      await client.operate("sum in a write") { db in
        try await client.write(db) { connection in
          try Account.order { $0.balance.desc() }.fetchAll(connection).map(\.step)
        }
      }
    }
  }

  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    let state = try await FinalState.read(
      run,
      [
        "accounts": "SELECT id, balance FROM account ORDER BY id",
        "ledger": "SELECT id FROM transfer ORDER BY id",
      ])
    var final: [String: Int64] = [:]
    for row in state.integers("accounts") where row.count == 2 { final["\(row[0])"] = row[1] }
    let initial = (0..<Self.accounts).map { ("\($0)", Int64(Self.deposit)) }
    let check = BankCheck(initial: Dictionary(uniqueKeysWithValues: initial))
    return state.violations
      + check.violations(
        history.operations, final: final, ledger: state.texts("ledger").compactMap(\.first))
  }
}

/// An account as a user would have it.
@Table struct Account: Sendable {
  let id: Int
  var balance: Int

  fileprivate var step: Step { Step(.read, "\(id)", .integer(Int64(balance))) }
}

/// A line of the ledger.
@Table struct Transfer: Sendable {
  let id: String
  var source: Int
  var destination: Int
  var amount: Int

  fileprivate var steps: [Step] {
    [
      Step(.insert, id), Step(.add, "\(source)", .integer(Int64(-amount))),
      Step(.add, "\(destination)", .integer(Int64(amount))),
    ]
  }
}

extension BoutiqueConnection {
  /// Moves the money, if there is enough; returns the balances that it found.
  fileprivate func perform(_ transfer: Transfer) throws -> [Step] {
    var found: [Step] = []
    for id in [transfer.source, transfer.destination] {
      let row = try queryOne("SELECT balance FROM account WHERE id = ?", id)
      let balance = try row?.decode(0, as: Int64.self) ?? 0
      found.append(Step(.read, "\(id)", .integer(balance)))
      if id == transfer.source, balance < Int64(transfer.amount) {
        throw DeliberateRollback("there is not enough in account \(id)")
      }
    }
    try execute(
      "UPDATE account SET balance = balance - ? WHERE id = ?", transfer.amount, transfer.source)
    try execute(
      "UPDATE account SET balance = balance + ? WHERE id = ?", transfer.amount,
      transfer.destination)
    try execute(
      "INSERT INTO transfer VALUES (?, ?, ?, ?)", transfer.id, transfer.source,
      transfer.destination, transfer.amount)
    return found
  }

  /// The same, by typed models, with balances that are computed outside of the database.
  fileprivate func performWithModels(_ transfer: Transfer) throws -> [Step] {
    guard let source = try Account.find(transfer.source).fetchOne(self),
      let destination = try Account.find(transfer.destination).fetchOne(self)
    else { throw DeliberateRollback("an account is missing") }
    guard source.balance >= transfer.amount else {
      throw DeliberateRollback("there is not enough in account \(source.id)")
    }
    let (less, more) = (source.balance - transfer.amount, destination.balance + transfer.amount)
    try Account.find(source.id).update { $0.balance.set(less) }.execute(self)
    try Account.find(destination.id).update { $0.balance.set(more) }.execute(self)
    try Transfer.insert { transfer }.execute(self)
    return [source.step, destination.step]
  }
}
