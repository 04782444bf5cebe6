import BoutiqueDB

/// The daemon that writes its share of the tree into the database.
///
/// It goes through the tree again and again until its time is over; the first pass is always finished.
/// Each pass writes every row anew, and ends with deleting the rows of files that it no longer met.
struct Indexer {
  private static let upsert = """
    INSERT INTO file (path, kind, size, modified, hash, indexer, pass) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (path) DO UPDATE SET kind = excluded.kind, size = excluded.size,
      modified = excluded.modified, hash = excluded.hash, indexer = excluded.indexer,
      pass = excluded.pass
    """

  private let orders: DaemonOrders
  private let share: UInt64
  private let shareCount: UInt64
  private let shutdown: Shutdown
  private let database: BoutiqueDB
  private var waits = Durations()

  /// What it has done so far.
  private(set) var account = IndexerAccount()

  init(
    orders: DaemonOrders, share: Int, of shareCount: Int, shutdown: Shutdown, database: BoutiqueDB
  ) {
    self.orders = orders
    self.share = UInt64(share)
    self.shareCount = UInt64(max(1, shareCount))
    self.shutdown = shutdown
    self.database = database
  }

  /// Works until the time is over or the daemon is to end.
  mutating func run() async throws {
    defer { account.waits = waits.summary }
    repeat {
      guard try await makePass(account.fullPasses + 1) else { break }
      account.fullPasses += 1
    } while Clock.monotonic() < orders.deadline
    account.wasStopped = shutdown.isRequested
  }

  /// Goes through the tree once; false when the pass was left before its end.
  private mutating func makePass(_ pass: Int) async throws -> Bool {
    var walk = try TreeWalk(excluding: orders.excludedPrefix)
    var batch: [FileRecord] = []
    while let path = walk.next() {
      guard ContentHash.fnv1a(path.bytes) % shareCount == share else { continue }
      account.filesRead += 1
      switch FileRecord.read(path) {
      case .record(let record): batch.append(record)
      case .unreadable(let record):
        account.unreadable += 1
        batch.append(record)
      case .vanished: account.vanished += 1
      }
      guard batch.count >= orders.batch else { continue }
      try await write(batch, pass)
      batch.removeAll(keepingCapacity: true)
      let isLate = pass > 1 && Clock.monotonic() >= orders.deadline
      if shutdown.isRequested || isLate { return false }
    }
    try await write(batch, pass)
    try await sweep(pass)
    return !shutdown.isRequested
  }

  private mutating func write(_ batch: [FileRecord], _ pass: Int) async throws {
    guard !batch.isEmpty else { return }
    let label = orders.label
    try await transaction { connection in
      let statement = try connection.prepare(Self.upsert)
      for file in batch {
        try statement.run(
          arguments: [
            file.path.sqlValue, file.kind, file.size, file.modified, file.hash, label, pass,
          ])
      }
    }
  }

  /// Deletes the rows that this pass did not write.
  private mutating func sweep(_ pass: Int) async throws {
    guard pass > 1 else { return }
    let label = orders.label
    account.notesSwept += try await transaction { connection in
      let gone = try connection.query(
        "DELETE FROM file WHERE indexer = ? AND pass < ? RETURNING note", label, pass)
      return gone.count { !$0[0].isNull }
    }
  }

  /// Writes in one transaction, with the stamp as its last statement.
  @discardableResult
  private mutating func transaction<R: Sendable>(
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> R {
    let label = orders.label
    let asked = Clock.monotonic()
    let (result, began) = try await database.write { connection in
      let began = Clock.monotonic()
      let result = try body(connection)
      try connection.execute(
        "INSERT INTO commit_stamp (writer, time) VALUES (?, ?)", label, Clock.monotonic())
      return (result, began)
    }
    waits.add(began - asked)
    account.transactions += 1
    return result
  }
}
