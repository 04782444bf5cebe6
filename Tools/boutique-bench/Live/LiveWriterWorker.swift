import BoutiqueDB
import SharedFileCoordination

/// Writes for the observers of another process.
struct LiveWriterWorker: Sendable {
  let orders: LiveWriterOrders
  let link: WorkerLink

  func run() async throws -> [String: [Int64]] {
    var configuration = BoutiqueConfiguration()
    configuration.label = "bench writer"
    configuration.writeLockTimeout = .seconds(600)
    let db = try await BoutiqueDB.open(path: orders.path, configuration: configuration)
    let start = try await link.awaitStart()
    var commits: Int64 = 0
    var stamp: Int64 = 0
    if let storm = orders.storm {
      let end = start.advanced(by: .nanoseconds(storm))
      while BootClock.now() < end {
        commits += 1
        // All queries get their share of the commits.
        _ = try await Self.write(to: db, row: Int(commits) % orders.rows + 1)
      }
      stamp = try await Self.write(to: db, row: 1)
      commits += 1
    } else {
      while await link.nextLine() == "go" {
        stamp = try await Self.write(to: db, row: 1)
        commits += 1
      }
    }
    let elapsed = start.duration(to: BootClock.now()).clampedNanoseconds
    await db.close()
    return ["commits": [commits], "stamp": [stamp], "elapsed": [elapsed]]
  }

  /// Changes a row.
  ///
  /// - Returns: its new content.
  static func write(to db: BoutiqueDB, row: Int) async throws -> Int64 {
    try await db.write { connection in
      let stamp = Int64(BootClock.now().nanoseconds)
      try connection.execute(LiveTable.update, stamp, row)
      return stamp
    }
  }
}
