/// What is done to the rows of the `rows` benchmark.
enum RowsWork: String, CaseIterable, Codable, Sendable {
  case insertAll = "insert all, one transaction"
  case updateAll = "update all by key, one transaction"
  case fetchAll = "fetch all into structs"
  case fetchByName = "fetch all, rows by name"
  case readKeys = "read by key, in one read"
  case readKeysEach = "read by key, each awaited"
  case openAndRead = "open and read a row"
  case insertEach = "insert one by one, each awaited"
  case insertTasks = "insert one by one, 64 tasks"
  case insertTasksFull = "insert one by one, 64 tasks, full"
  case deleteAll = "delete all by key, one transaction"
  case modelWriteAll = "Blackbird: write all"
  case modelReadAll = "Blackbird: read all"
  case modelReadKeys = "Blackbird: read by key"

  /// What is measured with capture switched off, too.
  static let bulk: [RowsWork] = [.insertAll, .updateAll, .deleteAll]

  /// The most that the time may be as a multiple of plain C's; the throughput of `insertTasksFull` is the other
  /// way round.
  var target: Double {
    switch self {
    case .insertAll, .updateAll, .deleteAll: 1.6
    case .fetchAll: 2.2
    case .fetchByName: 2
    case .readKeys: 1.5
    case .readKeysEach, .modelWriteAll, .modelReadKeys: 3
    case .openAndRead: 2
    case .insertEach: 2
    case .insertTasks: 1.2
    case .insertTasksFull: 0.2
    case .modelReadAll: 4
    }
  }
}

/// Who does it.
enum RowsVariant: String, CaseIterable, Codable, Sendable {
  /// Plain C on libsqlite3.
  case plain
  /// The library.
  case library
  /// The library with the table's capture mode `off`.
  case uncaptured
}

/// What a worker of the `rows` benchmark does.
struct RowsOrders: Codable, Sendable {
  var path: String
  var variant: RowsVariant
  /// What is to be measured; what the others need is done in any case.
  var works: [RowsWork]
  /// How many rows the table has.
  var rows: Int
  /// How many single writes.
  var singles: Int
  /// How many reads by key.
  var keys: Int
  /// How many times the database is opened.
  var opens: Int
  /// How many single writes with `synchronous = full`.
  var synced: Int
}
