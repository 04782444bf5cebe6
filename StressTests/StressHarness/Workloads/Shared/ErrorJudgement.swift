import BoutiqueDB
package import StressFaults
package import StressHistory
import StressReport

/// What kind of error a process has met, as far as faults may explain it.
///
/// The name stands in the history: judged is when the run is over.
enum ErrorKind: String, Sendable, CaseIterable {
  case diskFull
  case inputOutput
  case accessDenied
  case lockFile
  case fileReplaced
  case corrupt
  case timedOut
  /// SQLite's own word for a disk that fails in the middle of a statement, and for a thread or memory that
  /// cannot be had.
  case statementFailed
  /// Nothing that is done to a process leads to it.
  case unexplained

  init(_ error: any Error) {
    switch error as? BoutiqueError {
    case .diskFull: self = .diskFull
    case .inputOutput: self = .inputOutput
    case .readOnly, .permissionDenied: self = .accessDenied
    case .lockFile: self = .lockFile
    case .fileReplaced: self = .fileReplaced
    case .corrupt, .notADatabase: self = .corrupt
    case .lockTimeout, .migrationLockTimeout, .writeTimedOut: self = .timedOut
    case .sql(let code, _):
      self = [7, 10, 13, 14].contains(code & 0xff) ? .statementFailed : .unexplained
    default: self = .unexplained
    }
  }

  /// The faults of which one must have struck before.
  var causes: Set<FaultKind> {
    switch self {
    case .diskFull: [.diskFull, .fileSizeLimit, .shortWrite]
    case .inputOutput:
      [
        .ioError, .shortWrite, .failedSync, .diskFull, .fileSizeLimit, .descriptorLimit,
        .processLimit,
      ]
    case .accessDenied: [.ioError, .diskFull, .descriptorLimit]
    case .lockFile: [.lockFileTampering, .diskFull, .descriptorLimit, .ioError]
    case .fileReplaced: [.logTampering, .ioError, .powerCut]
    case .corrupt: [.ioError]
    // A process that stands still may hold the lease, or wait for it for as long, and a slow disk makes every
    // holder slow.
    case .timedOut: [.pause, .inotifyOverflow, .slowDisk]
    case .statementFailed:
      [.ioError, .shortWrite, .failedSync, .diskFull, .descriptorLimit, .processLimit]
    case .unexplained: []
    }
  }
}

/// Which errors a process may get, given what was done to it until then.
///
/// Whatever is not explained by a fault that had struck is a finding: in particular `database is locked`, which
/// nobody who uses the library should ever see, and anything untyped. That a fault was planned explains nothing:
/// it may have come later, or not at all.
package enum ErrorJudgement {
  private static let key = "error"

  /// What a process notes of an error, for ``judged(_:by:)``.
  static func seen(_ error: any Error) -> [Step] {
    [Step(.read, key, .text(ErrorKind(error).rawValue))]
  }

  /// The note as trouble where a fault that had begun to strike before explains it, else as a violation; notes
  /// that are no errors as they are.
  package static func judged(_ note: Note, by faults: [FaultRecord]) -> Note {
    guard note.kind == .error else { return note }
    var note = note
    note.kind = isExplained(note, by: faults) ? .trouble : .violation
    // The operation that was answered with it shows it better.
    note.seen = nil
    note.since = nil
    return note
  }

  private static func isExplained(_ note: Note, by faults: [FaultRecord]) -> Bool {
    guard case .text(let name)? = note.seen?.first(where: { $0.key == key })?.value,
      let kind = ErrorKind(rawValue: name)
    else { return false }
    return faults.contains {
      $0.didStrike && $0.began <= note.time && kind.causes.contains($0.event.kind)
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

  /// Notes an error, which is judged when the run is over.
  func judge(_ error: any Error, during name: String) {
    // What ends with the run has been told to end.
    if shouldEnd, error is CancellationError { return }
    log.note(.error, "error in \(name)", "\(error)", seen: ErrorJudgement.seen(error))
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
