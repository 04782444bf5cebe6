import BoutiqueDB
import SQLiteConnection
import SharedFileCoordination

/// What is waited for in the waiting benchmark.
enum WaitingVariant: String, CaseIterable, Codable, Sendable {
  /// SQLite's write lock, with `busy_timeout`.
  case baseline
  /// The write lease.
  case lease
  /// A write of the library.
  case library
  /// Nothing: the library has the database open.
  case idle

  /// What tables call it.
  var title: String {
    switch self {
    case .baseline: "busy_timeout"
    case .lease: "lease"
    case .library: "library's write"
    case .idle: "open, not waiting"
    }
  }
}

/// What a worker of the waiting benchmark does.
struct WaitingOrders: Codable, Sendable {
  var path: String
  var variant: WaitingVariant
  var index: Int
  /// How long the holder holds, in nanoseconds.
  var hold: Int64
  /// Whether it is the holder; the others wait.
  var holds: Bool
}

/// Holds the right to write for a while, or waits for it and tells what the waiting cost.
struct WaitingWorker: Sendable {
  let orders: WaitingOrders
  let link: WorkerLink
  /// By when the holder has what it holds.
  static let head: Int64 = 200_000_000

  func run() async throws -> [String: [Int64]] {
    switch orders.variant {
    case .baseline: try await plain()
    case .lease: try await lease()
    case .library, .idle: try await library()
    }
  }

  private func plain() async throws -> [String: [Int64]] {
    let database = Handed(value: try PlainDatabase(path: orders.path, synchronous: .normal))
    _ = try await link.awaitStart()
    return try await OwnThread.run {
      let connection = database.value.connection
      defer { connection.close() }
      return try role {
        try connection.execute("BEGIN IMMEDIATE")
      } giveUp: {
        try connection.execute("ROLLBACK")
      }
    }
  }

  private func lease() async throws -> [String: [Int64]] {
    let coordination = try CoordinationFile(
      databasePath: orders.path, options: CoordinationOptions(label: "bench \(orders.index)"))
    _ = try await link.awaitStart()
    return try await OwnThread.run {
      defer { coordination.close() }
      if !orders.holds { Pause.nanoseconds(Self.head) }
      let before = Expense.now()
      let turn = try coordination.writeLease.acquire(deadline: nil, purpose: "bench") { false }
      let after = Expense.now()
      if orders.holds { Pause.nanoseconds(Self.head + orders.hold) }
      turn.finish()
      return after.figures(since: before)
    }
  }

  private func library() async throws -> [String: [Int64]] {
    var configuration = BoutiqueConfiguration()
    configuration.label = "bench \(orders.index)"
    configuration.writeLockTimeout = .seconds(600)
    let db = try await BoutiqueDB.open(path: orders.path, configuration: configuration)
    _ = try await link.awaitStart()
    let orders = orders
    if !orders.holds { try await OwnThread.run { Pause.nanoseconds(Self.head) } }
    let before = Expense.now()
    if orders.variant == .idle {
      if !orders.holds { try await OwnThread.run { Pause.nanoseconds(orders.hold) } }
    } else {
      try await db.write { connection in
        if orders.holds { Pause.nanoseconds(Self.head + orders.hold) }
      }
    }
    let after = Expense.now()
    await db.close()
    return after.figures(since: before)
  }

  private func role(
    take: () throws -> Void, giveUp: () throws -> Void
  ) throws -> [String: [Int64]] {
    if !orders.holds { Pause.nanoseconds(Self.head) }
    let before = Expense.now()
    try take()
    let after = Expense.now()
    if orders.holds { Pause.nanoseconds(Self.head + orders.hold) }
    try giveUp()
    return after.figures(since: before)
  }
}
