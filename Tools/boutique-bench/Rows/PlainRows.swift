import CPlainSQLite
import SharedFileCoordination

/// The `rows` benchmark in plain C.
struct PlainRows {
  let orders: RowsOrders
  /// What is compared with the figures of other work.
  private static let likeness: [RowsWork: RowsWork] = [
    .insertAll: .modelWriteAll, .fetchAll: .modelReadAll, .readKeysEach: .modelReadKeys,
    .insertEach: .insertTasks,
  ]

  /// Does each kind of work in turn; elapsed and processor time by work.
  func run() throws -> [String: [Int64]] {
    var figures: [String: [Int64]] = [:]
    let rows = Int64(orders.rows)
    let keys = Int64(orders.keys)
    var sum: Int64 = 0
    let database = try open(synchronous: 1)
    defer { plain_close(database) }
    func measure(_ work: RowsWork, isNeeded: Bool = false, _ body: () -> CInt) throws {
      guard
        isNeeded || orders.works.contains(work)
          || Self.likeness[work].map(orders.works.contains) == true
      else { return }
      let start = Expense.now()
      try Self.check(body(), work.rawValue)
      figures[work.rawValue] = StoreWorker.figures(since: start)
    }
    try measure(.insertAll, isNeeded: true) { plain_insert_all(database, 0, rows) }
    try measure(.updateAll) { plain_update_all(database, rows) }
    try measure(.fetchAll) { plain_read_all(database, &sum) }
    try measure(.fetchByName) { plain_read_all(database, &sum) }
    try measure(.readKeys) { plain_read_keys(database, keys, rows, &sum) }
    try measure(.readKeysEach) { plain_read_keys_each(database, keys, rows, &sum) }
    try measure(.insertEach) { plain_insert_each(database, rows, Int64(orders.singles)) }
    let synced = try open(synchronous: 2)
    defer { plain_close(synced) }
    try measure(.insertTasksFull) {
      plain_insert_each(synced, rows + Int64(orders.singles), Int64(orders.synced))
    }
    try measure(.deleteAll) { plain_delete_all(database, rows) }
    for (work, likeness) in Self.likeness {
      figures[likeness.rawValue] = figures[work.rawValue]
    }
    guard orders.works.contains(.openAndRead) else { return figures }
    let start = Expense.now()
    var elapsed: Int64 = 0
    for _ in 0..<orders.opens {
      var one: Int64 = 0
      try Self.check(plain_open_and_read(orders.path, rows, &one), RowsWork.openAndRead.rawValue)
      elapsed += one
    }
    figures[RowsWork.openAndRead.rawValue] = [elapsed, StoreWorker.figures(since: start)[1]]
    return figures
  }

  private func open(synchronous: CInt) throws -> OpaquePointer? {
    var database: OpaquePointer?
    try Self.check(plain_open(orders.path, synchronous, &database), "open")
    return database
  }

  private static func check(_ code: CInt, _ what: String) throws {
    guard code == 0 else { throw BenchFailure("plain C: \(what): SQLite's error \(code)") }
  }
}
