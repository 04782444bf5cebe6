import Blackbird
import BoutiqueDB
import CPlainSQLite

/// Does each kind of work of the `models` benchmark in turn and tells how long each took.
struct ModelsWorker: Sendable {
  /// The name under which the memory is told: the peak above what there was before, while all models are read.
  static let memory = "memory"

  let orders: ModelsOrders
  let link: WorkerLink

  func run() async throws -> [String: [Int64]] {
    _ = try await link.awaitStart()
    let orders = orders
    switch orders.variant {
    case .plain: return try await OwnThread.run { try Self.plain(orders) }
    case .models: return try await models()
    }
  }

  private static func plain(_ orders: ModelsOrders) throws -> [String: [Int64]] {
    var figures: [String: [Int64]] = [:]
    var sum: Int64 = 0
    let rows = Int64(orders.rows)
    var database: OpaquePointer?
    guard plain_open(orders.path, 1, &database) == 0 else { throw BenchFailure("plain C: open") }
    defer { plain_close(database) }
    func measure(_ work: ModelsWork, _ body: () -> CInt) throws {
      let start = Expense.now()
      let code = body()
      guard code == 0 else {
        throw BenchFailure("plain C: \(work.rawValue): SQLite's error \(code)")
      }
      figures[work.rawValue] = StoreWorker.figures(since: start)
    }
    try measure(.writeAll) { plain_insert_all(database, 0, rows) }
    try measure(.readAll) { plain_read_all(database, &sum) }
    try measure(.updateAll) { plain_update_all(database, rows) }
    try measure(.readKeys) { plain_read_keys(database, Int64(orders.keys), rows, &sum) }
    try measure(.readKeysEach) { plain_read_keys_each(database, Int64(orders.keys), rows, &sum) }
    return figures
  }

  private func models() async throws -> [String: [Int64]] {
    let orders = orders
    var figures: [String: [Int64]] = [:]
    func measure(_ work: ModelsWork, _ body: () async throws -> Void) async throws {
      let start = Expense.now()
      try await body()
      figures[work.rawValue] = StoreWorker.figures(since: start)
    }
    let db = try await Blackbird.Database.open(path: orders.path)
    _ = try await BenchModel.read(from: db, limit: 1)
    try await measure(.writeAll) {
      try await db.transaction { core in
        for number in 0..<orders.rows {
          try BenchModel(number: number).writeIsolated(to: db, core: core)
        }
      }
    }
    ProcessMemory.forgetPeak()
    let before = ProcessMemory.now().resident
    var models: [BenchModel] = []
    try await measure(.readAll) {
      models = try await BenchModel.read(from: db)
      try StoreWorker.check(models.count, orders.rows)
    }
    figures[Self.memory] = [
      ProcessMemory.now().peak - before,
      models.reduce(0) { $0 + Int64($1.name.utf8.count + $1.note.utf8.count + 24) },
    ]
    let unchanged = models
    models = []
    try await measure(.updateAll) {
      try await db.transaction { core in
        for (number, model) in unchanged.enumerated() {
          var model = model
          model.note = "another note on \(number)"
          model.count = number % 100 + 1
          try model.writeIsolated(to: db, core: core)
        }
      }
    }
    try await measure(.readKeys) {
      let found = try await db.transaction { core in
        var found = 0
        for number in 0..<orders.keys
        where try BenchModel.readIsolated(
          from: db, core: core, id: number * 7919 % orders.rows) != nil
        {
          found += 1
        }
        return found
      }
      try StoreWorker.check(found, orders.keys)
    }
    try await measure(.readKeysEach) {
      for number in 0..<orders.keys {
        guard try await BenchModel.read(from: db, id: number * 7919 % orders.rows) != nil else {
          throw BenchFailure("no model \(number)")
        }
      }
    }
    let sum = try await db.query("SELECT count(*) AS rows, sum(count) AS sum FROM BenchModel")
    guard sum.first?["rows"]?.intValue == orders.rows,
      sum.first?["sum"]?.intValue == (0..<orders.rows).reduce(0, { $0 + $1 % 100 + 1 })
    else { throw BenchFailure("the models are not as they were written") }
    await db.close()
    return figures
  }
}

extension BenchModel {
  init(number: Int) {
    let row = BenchRow(number: number)
    self.init(id: row.id, name: row.name, note: row.note, price: row.price, count: row.count)
  }
}
