import BoutiqueDB
import StressHistory

/// A client that appends to lists and reads them.
struct ListClient {
  private var client: WorkloadClient
  private let values: ListValues
  /// For each slot, which of its lists is in use, as far as this client has seen.
  private var generations = [Int](repeating: 0, count: ListAppendWorkload.slots)

  init(client: WorkloadClient, values: ListValues) {
    self.client = client
    self.values = values
  }

  mutating func work() async {
    await catchUp()
    while !client.shouldEnd {
      let told = await operate()
      for step in told ?? [] {
        guard case .list(let list) = step.value, list.count >= ListAppendWorkload.length,
          let slot = Int(step.key.prefix { $0 != "." }),
          step.key == key(slot)
        else { continue }
        generations[slot] += 1
      }
    }
  }

  private func key(_ slot: Int) -> String { "\(slot).\(generations[slot])" }

  /// A process that is started late begins with the lists that the others have come to.
  private mutating func catchUp() async {
    let db = await client.database.current
    var keys: [String] = []
    do {
      keys = try await db.read { connection in
        try connection.query("SELECT key FROM list UNION SELECT DISTINCT list FROM element")
          .map { try $0.decode(0, as: String.self) }
      }
    } catch {
      await client.judge(error, during: "catch up", on: db)
    }
    for key in keys {
      let parts = key.split(separator: ".").compactMap { Int($0) }
      if parts.count == 2, generations.indices.contains(parts[0]) {
        generations[parts[0]] = max(generations[parts[0]], parts[1])
      }
    }
  }

  private mutating func steps(_ count: Int, appends percent: Int) -> [Step] {
    (0..<count).map { _ in
      let key = key(client.random.int(0...ListAppendWorkload.slots - 1))
      return client.random.chance(percent)
        ? Step(.append, key, .integer(values.next())) : Step(.read, key)
    }
  }

  /// Whether an error says that the time was over which the write itself had set.
  private static func isOverTime(_ error: any Error) -> Bool {
    if case BoutiqueError.writeTimedOut = error { true } else { false }
  }

  private mutating func operate() async -> [Step]? {
    let count = client.random.int(1...4)
    switch client.random.int(0...19) {
    case 0...4:
      let asked = steps(count, appends: 0)
      return await client.operate("read", asked) { db in
        try await db.read { try $0.perform(asked) }
      }
    case 5...12:
      let asked = steps(count, appends: 55)
      return await client.operate("append", asked) { db in
        try await client.write(db) { try $0.perform(asked) }
      }
    case 13, 14:
      let asked = steps(count, appends: 55)
      // Nobody asked for these: who sees one, sees what was undone.
      let undone = steps(2, appends: 100)
      return await client.operate("append after a savepoint", asked) { db in
        try await client.write(db) { connection in
          try? connection.savepoint {
            _ = try connection.perform(undone)
            throw DeliberateRollback()
          }
          return try connection.savepoint { try connection.perform(asked) }
        }
      }
    case 15:
      let asked = steps(count, appends: 80)
      // Nothing is asked for: who sees it sees a phantom, though the process dies.
      return await client.operate("append, undone") { db in
        try await client.write(db) { connection in
          _ = try connection.perform(asked)
          throw DeliberateRollback()
        }
      }
    case 16, 17:
      let asked = steps(count, appends: 55)
      let microseconds = client.random.int(0...15_000)
      return await client.operate(
        "append, cancelled", asked, expects: WorkloadClient.isCancellation
      ) { db in
        try await client.writeCancelled(db, after: microseconds) { try $0.perform(asked) }
      }
    case 18:
      let asked = steps(count, appends: 0)
      return await client.operate("read in a write", asked) { db in
        try await client.write(db) { try $0.perform(asked) }
      }
    default:
      let asked = steps(count, appends: 55)
      return await client.operate("append, limited", asked, expects: Self.isOverTime) { db in
        try await client.write(db, timeout: .seconds(5)) { try $0.perform(asked) }
      }
    }
  }
}

/// One element of a list that is kept as rows.
@Table struct Element: Sendable {
  let id: Int
  var list: String
  var value: Int64
}

extension BoutiqueConnection {
  /// Does the steps, and returns them with what was read.
  fileprivate func perform(_ steps: [Step]) throws -> [Step] {
    try steps.map { step in
      guard case .integer(let value) = step.value else {
        return Step(.read, step.key, .list(try list(step.key)))
      }
      if isText(step.key) {
        try execute(
          """
          INSERT INTO list VALUES (?, ?)
            ON CONFLICT (key) DO UPDATE SET items = items || ',' || excluded.items
          """, step.key, "\(value)")
      } else {
        try Element.insert { Element.Draft(list: step.key, value: value) }.execute(self)
      }
      return step
    }
  }

  private func list(_ key: String) throws -> [Int64] {
    if isText(key) {
      let row = try queryOne("SELECT items FROM list WHERE key = ?", key)
      let items = try row?.decode(0, as: String.self) ?? ""
      return items.split(separator: ",").compactMap { Int64($0) }
    }
    return try Element.where { $0.list.eq(key) }.order { $0.id.asc() }.fetchAll(self).map(\.value)
  }

  /// Every other slot has lists that are a row each, the rest lists of rows.
  private func isText(_ key: String) -> Bool { key.utf8.first.map { $0 % 2 == 0 } ?? false }
}
