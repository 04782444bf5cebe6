import SQLiteConnection
import SharedFileCoordination

/// How the right to write is passed on in the handover benchmark.
enum HandoverVariant: String, CaseIterable, Codable, Sendable {
  /// SQLite's write lock with `busy_timeout`.
  case baseline
  /// The write lease.
  case lease

  /// What tables call it.
  var title: String { self == .baseline ? "busy_timeout" : "lease" }
}

/// What a worker of the handover benchmark does.
struct HandoverOrders: Codable, Sendable {
  var path: String
  var variant: HandoverVariant
  var index: Int
  /// How often it has the right to write.
  var turns: Int
  /// How long it keeps it, in nanoseconds; half of that it rests afterwards.
  var hold: Int64
}

/// Takes the right to write, keeps it for a moment, gives it up, again and again.
///
/// It tells the boot clock's reading at each asking, getting and giving up. That clock is the same in
/// all processes, so the coordinator can put two workers' readings together.
struct HandoverWorker: Sendable {
  let orders: HandoverOrders
  let link: WorkerLink

  func run() async throws -> [String: [Int64]] {
    switch orders.variant {
    case .lease:
      let coordination = try CoordinationFile(
        databasePath: orders.path, options: CoordinationOptions(label: "bench \(orders.index)"))
      _ = try await link.awaitStart()
      return try await OwnThread.run {
        defer { coordination.close() }
        return try times { hold in
          let turn = try coordination.writeLease.acquire(deadline: nil, purpose: "bench") { false }
          hold()
          turn.finish()
        }
      }
    case .baseline:
      let database = Handed(value: try PlainDatabase(path: orders.path, synchronous: .normal))
      _ = try await link.awaitStart()
      return try await OwnThread.run {
        let connection = database.value.connection
        defer { connection.close() }
        return try times { hold in
          try connection.execute("BEGIN IMMEDIATE")
          hold()
          try connection.execute("ROLLBACK")
        }
      }
    }
  }

  private func times(
    _ takeTurn: (_ hold: () -> Void) throws -> Void
  ) throws -> [String: [Int64]] {
    var asked: [Int64] = []
    var got: [Int64] = []
    var released: [Int64] = []
    for _ in 0..<orders.turns {
      asked.append(Int64(BootClock.now().nanoseconds))
      try takeTurn {
        got.append(Int64(BootClock.now().nanoseconds))
        Pause.nanoseconds(orders.hold)
        released.append(Int64(BootClock.now().nanoseconds))
      }
      // The other one has it by now and is asked for it while it holds.
      Pause.nanoseconds(orders.hold / 2)
    }
    return ["asked": asked, "got": got, "released": released]
  }
}
