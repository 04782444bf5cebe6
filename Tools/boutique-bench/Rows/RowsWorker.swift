import Blackbird
import BoutiqueDB
import Foundation
import SharedFileCoordination

/// A row of the `rows` benchmark; its values are those of the C target.
@Table("items")
struct BenchRow: Sendable {
  let id: Int
  var name: String
  var note: String
  var price: Double
  var count: Int

  init(number: Int) {
    id = number
    name = "item \(number)"
    note = "a note of ordinary length on \(number)"
    price = Double(number) * 0.25
    count = number % 100
  }
}

/// The same row as a model of Blackbird's interface, in a table of its own.
struct BenchModel: BlackbirdModel {
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var name: String
  @BlackbirdColumn var note: String
  @BlackbirdColumn var price: Double
  @BlackbirdColumn var count: Int
}

/// Does each kind of work in turn and tells how long each took.
struct RowsWorker: Sendable {
  let orders: RowsOrders
  let link: WorkerLink

  func run() async throws -> [String: [Int64]] {
    _ = try await link.awaitStart()
    let orders = orders
    switch orders.variant {
    case .plain: return try await OwnThread.run { try PlainRows(orders: orders).run() }
    case .library, .uncaptured: return try await library()
    }
  }

  private func library() async throws -> [String: [Int64]] {
    let orders = orders
    var figures: [String: [Int64]] = [:]
    func measure(
      _ work: RowsWork, isNeeded: Bool = false, _ body: () async throws -> Void
    ) async throws {
      guard isNeeded || orders.works.contains(work) else { return }
      let start = Expense.now()
      try await body()
      figures[work.rawValue] = StoreWorker.figures(since: start)
    }
    var configuration = BoutiqueConfiguration()
    if orders.variant == .uncaptured { configuration.captureModes = ["items": .off] }
    let db = try await BoutiqueDB.open(path: orders.path, configuration: configuration)
    try await db.write { connection in
      try connection.execute(
        """
        CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, note TEXT NOT NULL, \
        price REAL NOT NULL, count INTEGER NOT NULL)
        """)
    }
    try await measure(.insertAll, isNeeded: true) {
      try await db.write { connection in
        for number in 0..<orders.rows {
          try BenchRow.insert { BenchRow(number: number) }.execute(connection)
        }
      }
    }
    try await measure(.updateAll) {
      try await db.write { connection in
        for number in 0..<orders.rows {
          try BenchRow.find(number).update {
            $0.note = "another note on \(number)"
            $0.count = number % 100 + 1
          }.execute(connection)
        }
      }
    }
    try await measure(.fetchAll) {
      let rows = try await db.read { try BenchRow.order(by: \.id).fetchAll($0) }
      try StoreWorker.check(rows.count, orders.rows)
    }
    try await measure(.fetchByName) {
      let sum = try await db.read { connection in
        var sum = 0.0
        for row in try connection.query(
          "SELECT id, name, note, price, count FROM items ORDER BY id")
        {
          let name: String = try row.decode("name")
          let note: String = try row.decode("note")
          let price: Double = try row.decode("price")
          let id: Int = try row.decode("id")
          let count: Int = try row.decode("count")
          sum += price + Double(name.utf8.count + note.utf8.count + id + count)
        }
        return sum
      }
      guard sum > 0 else { throw BenchFailure("no rows by name") }
    }
    try await measure(.readKeys) {
      let found = try await db.read { connection in
        var found = 0
        for number in 0..<orders.keys
        where try BenchRow.find(number * 7919 % orders.rows).fetchOne(connection) != nil {
          found += 1
        }
        return found
      }
      try StoreWorker.check(found, orders.keys)
    }
    try await measure(.readKeysEach) {
      for number in 0..<orders.keys {
        let key = number * 7919 % orders.rows
        let row = try await db.read { try BenchRow.find(key).fetchOne($0) }
        guard row != nil else { throw BenchFailure("no row \(key)") }
      }
    }
    try await measure(.insertEach) {
      for number in orders.rows..<orders.rows + orders.singles {
        try await db.write { try BenchRow.insert { BenchRow(number: number) }.execute($0) }
      }
    }
    try await measure(.insertTasks) {
      try await Self.insert(orders.singles, from: orders.rows + orders.singles, into: db)
    }
    await db.close()
    configuration.synchronous = .full
    let synced = try await BoutiqueDB.open(path: orders.path, configuration: configuration)
    try await measure(.insertTasksFull) {
      try await Self.insert(orders.synced, from: orders.rows + 2 * orders.singles, into: synced)
    }
    try await measure(.deleteAll) {
      try await synced.write { connection in
        for number in 0..<orders.rows {
          try BenchRow.find(number).delete().execute(connection)
        }
      }
    }
    if orders.works.contains(.openAndRead) { try await openAndRead(&figures) }
    await synced.close()
    if orders.works.contains(where: Self.modelWorks.contains) { try await models(&figures) }
    return figures
  }

  private static let modelWorks: [RowsWork] = [.modelWriteAll, .modelReadAll, .modelReadKeys]

  private func openAndRead(_ figures: inout [String: [Int64]]) async throws {
    let start = Expense.now()
    var elapsed: Int64 = 0
    for _ in 0..<orders.opens {
      let begin = BootClock.now()
      let db = try await BoutiqueDB.open(path: orders.path)
      _ = try await db.read { try BenchRow.find(orders.rows).fetchOne($0) }
      elapsed += begin.duration(to: BootClock.now()).clampedNanoseconds
      await db.close()
    }
    figures[RowsWork.openAndRead.rawValue] = [elapsed, StoreWorker.figures(since: start)[1]]
  }

  /// Inserts rows from 64 tasks, each of which awaits every write.
  private static func insert(_ count: Int, from first: Int, into db: BoutiqueDB) async throws {
    try await withThrowingTaskGroup { group in
      for task in 0..<64 {
        group.addTask {
          for number in stride(from: first + task, to: first + count, by: 64) {
            try await db.write { try BenchRow.insert { BenchRow(number: number) }.execute($0) }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private func models(_ figures: inout [String: [Int64]]) async throws {
    let orders = orders
    func measure(_ work: RowsWork, _ body: () async throws -> Void) async throws {
      let start = Expense.now()
      try await body()
      figures[work.rawValue] = StoreWorker.figures(since: start)
    }
    let db = try await Blackbird.Database.open(path: orders.path)
    _ = try await BenchModel.read(from: db, limit: 1)
    try await measure(.modelWriteAll) {
      try await db.transaction { core in
        for number in 0..<orders.rows {
          let row = BenchRow(number: number)
          try BenchModel(
            id: row.id, name: row.name, note: row.note, price: row.price, count: row.count
          ).writeIsolated(to: db, core: core)
        }
      }
    }
    try await measure(.modelReadAll) {
      let models = try await BenchModel.read(from: db)
      try StoreWorker.check(models.count, orders.rows)
    }
    try await measure(.modelReadKeys) {
      for number in 0..<orders.keys {
        let key = number * 7919 % orders.rows
        guard try await BenchModel.read(from: db, id: key) != nil else {
          throw BenchFailure("no model \(key)")
        }
      }
    }
    await db.close()
  }
}
