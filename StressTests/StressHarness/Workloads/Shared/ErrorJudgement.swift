import BoutiqueDB
import StressFaults
import StressHistory
import StressReport

/// Which errors a process may get, given what was done to it.
///
/// Whatever is not explained by a fault of the run is a finding: in particular `database is locked`, which
/// nobody who uses the library should ever see, and anything untyped.
enum ErrorJudgement {
  /// Whether a fault of these kinds explains the error.
  static func isExplained(_ error: any Error, by faults: [FaultKind]) -> Bool {
    func any(_ kinds: FaultKind...) -> Bool { kinds.contains(where: faults.contains) }
    switch error as? BoutiqueError {
    case .diskFull: return any(.diskFull, .fileSizeLimit, .shortWrite)
    case .inputOutput:
      return any(
        .ioError, .shortWrite, .failedSync, .diskFull, .fileSizeLimit, .descriptorLimit,
        .processLimit)
    case .readOnly, .permissionDenied: return any(.ioError, .diskFull, .descriptorLimit)
    case .lockFile: return any(.lockFileTampering, .diskFull, .descriptorLimit, .ioError)
    case .fileReplaced: return any(.logTampering, .ioError, .powerCut)
    case .corrupt, .notADatabase: return any(.ioError)
    // A process that stands still may hold the lease, and a slow disk makes every holder slow.
    case .lockTimeout, .migrationLockTimeout, .writeTimedOut: return any(.pause, .slowDisk)
    // SQLite's own word for a disk that fails in the middle of a statement, and for a thread or memory that
    // cannot be had.
    case .sql(let code, _):
      return [7, 10, 13, 14].contains(code & 0xff)
        && any(.ioError, .shortWrite, .failedSync, .diskFull, .descriptorLimit, .processLimit)
    default: return false
    }
  }
}

extension WorkerContext {
  /// Does one operation and writes it down; an error that nothing explains is a violation.
  ///
  /// - Parameters:
  ///   - expects: what else may come, because of what the workload itself does.
  ///   - body: is given the operation, whose number it may write into the database; returns the steps.
  /// - Returns: the steps, or `nil` when it failed.
  @discardableResult
  func attempt(
    _ name: String, client: Int = 0, _ steps: [Step] = [],
    expects: (any Error) -> Bool = { _ in false }, _ body: (EntryID) async throws -> [Step]
  ) async -> [Step]? {
    let operation = log.begin(name, client: client, steps)
    do {
      let steps = try await body(EntryID(operation))
      log.end(operation, .done, steps: steps)
      return steps
    } catch {
      log.end(operation, Self.outcome(of: error), error: error)
      if !expects(error) { judge(error, during: name) }
      return nil
    }
  }

  /// Notes an error: as trouble where a fault of the run explains it, else as a violation.
  func judge(_ error: any Error, during name: String) {
    // What ends with the run has been told to end.
    if shouldEnd, error is CancellationError { return }
    let isExplained = ErrorJudgement.isExplained(error, by: run.plan.faults)
    log.note(isExplained ? .trouble : .violation, "error in \(name)", "\(error)")
  }

  /// Runs clients side by side until all have ended.
  func withClients(
    _ count: Int, _ body: @escaping @Sendable (_ client: Int) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup { group in
      for client in 0..<count { group.addTask { try await body(client) } }
      try await group.waitForAll()
    }
  }

  /// Follows live queries and feeds while the body runs.
  func following(
    _ followers: [@Sendable () async -> Void], _ body: () async throws -> Void
  ) async throws {
    let tasks = followers.map { follower in Task { await follower() } }
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    try result.get()
  }

  /// Random numbers of one client of this start.
  func random(client: Int) -> SeededRandom { random("client \(client)") }
}
