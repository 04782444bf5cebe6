package import BoutiqueDB
import Glibc
package import StressHistory
import StressReport
import Synchronization

/// What a worker process has to work with.
package final class WorkerContext: Sendable {
  package let run: RunContext
  /// The process's place, from 0; a process that is started in place of a dead one has the same.
  package let place: Int
  /// The number of the start, unique in the run.
  package let start: Int
  /// Where it writes what it does.
  package let log: HistoryLog
  private let isEnding = Atomic(false)

  init(run: RunContext, place: Int, start: Int) throws {
    self.run = run
    self.place = place
    self.start = start
    log = try HistoryLog(path: run.historyFile(start: start), process: start) { error in
      // At once: whatever the process did from here on would be in no history.
      WorkerProgram.tell(error)
      _exit(WorkerProgram.historyLost)
    }
  }

  /// Whether the run's time is over.
  package var shouldEnd: Bool { isEnding.load(ordering: .acquiring) }

  func end() { isEnding.store(true, ordering: .releasing) }

  /// Random numbers of this start and a purpose.
  package func random(_ purpose: String) -> SeededRandom {
    SeededRandom(seed: run.plan.seed &+ UInt64(start) &* 0x9e37_79b9, purpose: purpose)
  }

  /// Opens the run's database, again and again while faults prevent it.
  package func open(
    _ change: (inout BoutiqueConfiguration) -> Void = { _ in }
  ) async throws -> BoutiqueDB {
    var configuration = run.configuration(label: "worker \(place)")
    change(&configuration)
    var end: Int64?
    while true {
      do {
        return try await BoutiqueDB.open(path: run.database, configuration: configuration)
      } catch {
        // At the end of the run all faults are over, and only a moment of patience is left.
        if shouldEnd, end == nil { end = HistoryLog.now() + 30_000_000_000 }
        if run.plan.faults.isEmpty || end.map({ $0 < HistoryLog.now() }) == true {
          // Noted here, as not every caller tells what it was refused.
          log.note(.violation, "cannot open", "\(error)")
          throw error
        }
        log.note(.trouble, "open", "\(error)")
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  /// Does one operation and writes it down, with what came of it.
  ///
  /// - Parameter body: returns the steps with what was read.
  /// - Returns: the steps, or `nil` when it failed.
  @discardableResult
  package func operate(
    _ name: String, client: Int = 0, _ steps: [Step] = [],
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> [Step]
  ) async -> [Step]? {
    let operation = log.begin(name, client: client, steps)
    do {
      let steps = try await body()
      log.end(operation, .done, steps: steps)
      return steps
    } catch {
      log.end(operation, Self.outcome(of: error), error: error)
      return nil
    }
  }

  /// Whether an operation that ended with the error may have had an effect.
  package static func outcome(of error: any Error) -> OperationRecord.Outcome {
    switch error {
    case is CancellationError, is DeliberateRollback: return .refused
    case let error as BoutiqueError: return outcome(of: error)
    default: return .unknown
    }
  }

  // SQLite writes a commit in two parts: the frames with the commit mark into the log, then the index in
  // shared memory, by which others see it. An error after the mark (a sync, the growth of the index) undoes
  // the commit for all who are there, and the next writer overwrites its frames; but whoever recovers the
  // log before that, after a crash, finds the mark. So an I/O error leaves it open.
  private static func outcome(of error: BoutiqueError) -> OperationRecord.Outcome {
    switch error {
    case .inputOutput, .corrupt: return .unknown
    case .diskFull(_, let message):
      // SQLITE_FULL comes of a write to the log that was not done in whole, so there is no mark. The limit
      // of a file's size and a full disk under the index may come later.
      return message.contains("database or disk is full") ? .refused : .unknown
    case .sql(let code, _):
      let outOfMemory = 7
      let interrupted = 9
      return code & 0xff == outOfMemory || code & 0xff == interrupted ? .unknown : .refused
    default: return .refused
    }
  }
}

/// Thrown in a write to undo it on purpose.
package struct DeliberateRollback: Error, CustomStringConvertible {
  package let description: String

  /// Undoes the write that throws it.
  package init(_ reason: String = "undone on purpose") { description = reason }
}
