import BoutiqueDB
import StressFaults
import StressHistory
import StressReport

/// A worker's database, for all its clients; it is opened anew when its files were replaced.
actor WorkerDatabase {
  private let worker: WorkerContext
  private(set) var current: BoutiqueDB
  /// Whether one was closed to be opened anew, so that whoever still has it in hand finds it closed.
  private(set) var hasClosed = false

  /// Opens it.
  init(_ worker: WorkerContext) async throws {
    self.worker = worker
    current = try await Self.open(worker)
  }

  private static func open(_ worker: WorkerContext) async throws -> BoutiqueDB {
    try await worker.open {
      // Of `normal` nobody promises that what was acknowledged outlives a power cut.
      if worker.run.plan.faults.contains(.powerCut) { $0.synchronous = .full }
    }
  }

  /// Opens again when an error says that the files in hand are no longer the database's.
  func recover(_ used: BoutiqueDB, from error: any Error) async {
    switch error as? BoutiqueError {
    case .fileReplaced, .lockFile, .closed:
      // Another client may have done so.
      guard current === used else { return }
      hasClosed = true
      await current.close()
      // When the time is over, the closed one is as good for the rest.
      if let opened = try? await Self.open(worker) { current = opened }
    default: break
    }
  }

  func close() async { await current.close() }
}

/// One of the clients of a worker process, which does one operation at a time.
struct WorkloadClient: Sendable {
  let worker: WorkerContext
  /// Its number in the process.
  let number: Int
  let database: WorkerDatabase
  /// Its own random numbers.
  var random: SeededRandom

  /// Runs clients side by side on one open database, until all have returned.
  static func run(
    _ worker: WorkerContext, count: Int,
    _ body: @escaping @Sendable (inout WorkloadClient) async throws -> Void
  ) async throws {
    let database = try await WorkerDatabase(worker)
    try await withThrowingTaskGroup { group in
      for number in 0..<count {
        group.addTask {
          var client = WorkloadClient(
            worker: worker, number: number, database: database,
            random: worker.random("client \(number)"))
          try await body(&client)
        }
      }
      try await group.waitForAll()
    }
    await database.close()
  }

  var shouldEnd: Bool { worker.shouldEnd }

  /// Does one operation and writes it down; an error that nothing explains is a violation.
  ///
  /// - Parameter expects: what else than an undoing on purpose may come, because of what the operation itself
  ///   asks for.
  /// - Returns: the steps, or `nil` when it failed.
  @discardableResult
  func operate(
    _ name: String, _ steps: [Step] = [], expects: (any Error) -> Bool = { _ in false },
    _ body: (BoutiqueDB) async throws -> [Step]
  ) async -> [Step]? {
    var failure: (any Error)?
    let db = await database.current
    let result = await worker.operate(name, client: number, steps) {
      do {
        return try await body(db)
      } catch {
        failure = error
        throw error
      }
    }
    if let failure, !(failure is DeliberateRollback), !expects(failure) {
      await judge(failure, during: name, on: db)
    }
    return result
  }

  /// Notes an error, as trouble or as a violation, and opens the database again where that helps.
  func judge(_ error: any Error, during name: String, on db: BoutiqueDB) async {
    if case BoutiqueError.closed = error, await database.hasClosed {
      // Another client of the process has closed it, to open it anew.
      worker.log.note(.trouble, "error in \(name)", "\(error)")
    } else {
      worker.judge(error, during: name)
    }
    await database.recover(db, from: error)
    // While a fault lasts, the same again would only fill the history.
    try? await Task.sleep(for: .milliseconds(5))
  }

  /// Writes, and notes for every eighth write how long it waited for its turn.
  func write<R: Sendable>(
    _ db: BoutiqueDB, timeout: Duration? = nil,
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> R {
    let asked = HistoryLog.now()
    guard asked & 0x700 == 0 else { return try await UndoneWrite.write(db, timeout: timeout, body) }
    let log = worker.log
    return try await db.write(timeout: timeout) { connection in
      log.measure(.lockWait, HistoryLog.now() - asked)
      return try body(connection)
    }
  }

  /// Whether an error is the answer to ``writeCancelled(_:after:_:)``.
  static func isCancellation(_ error: any Error) -> Bool { error is CancellationError }

  /// Writes in a task of its own that is cancelled while it waits, runs, or has ended.
  func writeCancelled<R: Sendable>(
    _ db: BoutiqueDB, after microseconds: Int,
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> R {
    let task = Task { try await db.write(body) }
    try? await Task.sleep(for: .microseconds(microseconds))
    task.cancel()
    return try await task.value
  }
}
