import BoutiqueDB
import SQLiteConnection
import SharedFileCoordination

/// Who runs the statements of the capture benchmark.
enum CaptureVariant: String, CaseIterable, Codable, Sendable {
  /// Plain SQLite.
  case plain
  /// Plain SQLite with a preupdate hook that does nothing.
  case hook
  /// The library, which row changed is captured.
  case id
  /// The library, whole rows are captured.
  case full
  /// As `id`, with the triggers that make foreign commits precise.
  case idPrecise = "id-precise"
  /// As `full`, with those triggers.
  case fullPrecise = "full-precise"

  /// What tables call it.
  var title: String {
    switch self {
    case .plain: "plain SQLite"
    case .hook: "plain, empty hook"
    case .id: "library, id"
    case .full: "library, full"
    case .idPrecise: "library, id, precise"
    case .fullPrecise: "library, full, precise"
    }
  }

  var mode: CaptureMode { self == .full || self == .fullPrecise ? .full : .id }
  var isPrecise: Bool { self == .idPrecise || self == .fullPrecise }
}

/// A kind of statement, run once or many times in a transaction.
enum CaptureWork: String, CaseIterable, Codable, Sendable {
  case insertOne = "insert, 1 row"
  case insertMany = "insert, many rows"
  case updateOne = "update, 1 row"
  case updateMany = "update, many rows"
  case deleteOne = "delete, 1 row"
  case deleteMany = "delete, many rows"

  var isMany: Bool { self == .insertMany || self == .updateMany || self == .deleteMany }

  var sql: String {
    switch self {
    case .insertOne, .insertMany: BenchTable.insert
    case .updateOne, .updateMany: "UPDATE item SET amount = ? WHERE id = ?"
    case .deleteOne, .deleteMany: "DELETE FROM item WHERE id = ?"
    }
  }
}

/// What the worker of the capture benchmark does.
struct CaptureOrders: Codable, Sendable {
  var path: String
  var variant: CaptureVariant
  /// How many transactions of one row.
  var transactions: Int
  /// How many transactions of many rows.
  var bulkTransactions: Int
  /// How many rows those have.
  var bulkRows: Int

  /// Returns the rows of one transaction, counted from 1 over all transactions of the kind.
  ///
  /// Rows of the single statements come first in the table, those of the others behind.
  func rows(of work: CaptureWork, transaction: Int) -> ClosedRange<Int> {
    guard work.isMany else { return (transaction + 1)...(transaction + 1) }
    let first = transactions + transaction * bulkRows + 1
    return first...(first + bulkRows - 1)
  }

  func count(of work: CaptureWork) -> Int { work.isMany ? bulkTransactions : transactions }
}

/// Runs each kind of statement in turn and tells how long each kind took in all.
struct CaptureWorker: Sendable {
  let orders: CaptureOrders
  let link: WorkerLink

  func run() async throws -> [String: [Int64]] {
    switch orders.variant {
    case .plain, .hook: try await plain()
    case .id, .full, .idPrecise, .fullPrecise: try await library()
    }
  }

  private final class Nobody: PreupdateObserver {
    func willChange(_ change: borrowing PreupdateChange) {}
  }

  private func plain() async throws -> [String: [Int64]] {
    let place = Handed(value: try PlainDatabase(path: orders.path, synchronous: .normal))
    _ = try await link.awaitStart()
    let orders = orders
    return try await OwnThread.run {
      let connection = place.value.connection
      defer { connection.close() }
      if orders.variant == .hook { connection.setPreupdateObserver(Nobody()) }
      var figures: [String: [Int64]] = [:]
      for work in CaptureWork.allCases {
        let start = BootClock.now()
        for transaction in 0..<orders.count(of: work) {
          try connection.execute("BEGIN IMMEDIATE")
          let statement = try connection.prepare(work.sql)
          for row in orders.rows(of: work, transaction: transaction) {
            try Self.bind(statement, work, row)
            try statement.run()
          }
          try connection.execute("COMMIT")
        }
        figures[work.rawValue] = [start.duration(to: BootClock.now()).clampedNanoseconds]
      }
      return figures
    }
  }

  private static func bind(
    _ statement: PreparedStatement, _ work: CaptureWork, _ row: Int
  ) throws {
    switch work {
    case .insertOne, .insertMany:
      try statement.bind(Int64(1), at: 1)
      try statement.bind(Int64(row), at: 2)
      try statement.bind(BenchTable.body(row), at: 3)
      try statement.bind(Double(row), at: 4)
    case .updateOne, .updateMany:
      try statement.bind(Double(row) + 0.5, at: 1)
      try statement.bind(Int64(row), at: 2)
    case .deleteOne, .deleteMany:
      try statement.bind(Int64(row), at: 1)
    }
  }

  private func library() async throws -> [String: [Int64]] {
    var configuration = BoutiqueConfiguration()
    configuration.captureModes = ["item": orders.variant.mode]
    configuration.foreignCapture = orders.variant.isPrecise ? .precise : .coarse
    let db = try await BoutiqueDB.open(path: orders.path, configuration: configuration)
    _ = try await link.awaitStart()
    var figures: [String: [Int64]] = [:]
    for work in CaptureWork.allCases {
      let start = BootClock.now()
      for transaction in 0..<orders.count(of: work) {
        let rows = orders.rows(of: work, transaction: transaction)
        try await db.write { connection in
          let statement = try connection.prepare(work.sql)
          for row in rows { try Self.run(statement, work, row) }
        }
      }
      figures[work.rawValue] = [start.duration(to: BootClock.now()).clampedNanoseconds]
    }
    await db.close()
    return figures
  }

  private static func run(_ statement: PreparedQuery, _ work: CaptureWork, _ row: Int) throws {
    switch work {
    case .insertOne, .insertMany:
      try statement.run(1, row, BenchTable.body(row), Double(row))
    case .updateOne, .updateMany:
      try statement.run(Double(row) + 0.5, row)
    case .deleteOne, .deleteMany:
      try statement.run(row)
    }
  }
}
