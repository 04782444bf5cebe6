import BoutiqueDB
import Dispatch
import Foundation
import Synchronization

// The changes of one settings database, on their way from the main actor to the file.
//
// For: `set` and its like return at once, in whatever order and number they are called.
//
// Invariants
//  1. Changes are written in the order in which they were added, one transaction at a time, and each is
//     all or nothing: those that wait together share a transaction, each in a savepoint of its own.
//  2. A change is applied to what is stored when its transaction has begun, never to what memory shows.
//  3. Nothing here needs the main actor, so that a program can wait for the end of the line on its main
//     thread (`waitUntilEmpty`).
//  4. A failure is kept until somebody has been told of it.
//
// Death: what is in the line is lost; a transaction is in the file with all its changes or none. A program that
// ends in order waits for the line (`SettingsAtExit`).
final class SettingsLine: Sendable {
  private struct State {
    var queue: [ValueChange] = []
    var lastNumber: UInt64 = 0
    /// The number of the change that was added last; not every number is.
    var lastAdded: UInt64 = 0
    /// Every change up to here has ended.
    var endedThrough: UInt64 = 0
    var isRunning = false
    /// Those of which nobody has been told, oldest first.
    var failures: [(number: UInt64, error: any Error)] = []
    var waiting: [(through: UInt64, outcome: ChangeOutcome)] = []
  }

  /// How many changes share a transaction at most.
  private static let batch = 256
  /// How many failures are kept; the first one counts.
  private static let failureLimit = 64

  private let database: SettingsDatabase
  private let inbox: SettingsInbox
  private let state = Mutex(State())

  /// The database, for messages.
  var location: String { database.location }

  init(database: SettingsDatabase, inbox: SettingsInbox) {
    self.database = database
    self.inbox = inbox
  }

  /// Returns a number for the next change.
  func nextNumber() -> UInt64 {
    state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  /// Adds a change, whose number is higher than those of all before.
  func add(_ change: ValueChange) {
    let mustRun = state.withLock { state in
      state.queue.append(change)
      state.lastAdded = change.number
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard mustRun else { return }
    SettingsAtExit.include(self)
    Task.detached { await self.run() }
  }

  private func run() async {
    while let batch = next() {
      do {
        let db = try await database.opened()
        do {
          let (stored, token) = try await write(batch, to: db)
          inbox.post(.committed(Array(zip(batch, stored)), token))
          end(batch, stored.map { result in result.map { _ in } })
        } catch let error as BoutiqueError {
          if case .fileReplaced = error, !database.isGiven { await database.giveUp(db) }
          throw error
        }
      } catch {
        inbox.post(.failed(batch, error))
        end(batch, batch.map { _ in .failure(error) })
      }
    }
  }

  private func write(
    _ batch: [ValueChange], to db: BoutiqueDB
  ) async throws -> ([Result<SQLValue?, any Error>], ChangeToken) {
    let path = database.location
    return try await db.writeWithToken { connection in
      try SettingsTables.make(on: connection)
      return batch.map { change in
        Result { try connection.savepoint { try change.apply(on: connection, path: path) } }
      }
    }
  }

  private func next() -> [ValueChange]? {
    state.withLock { state in
      guard !state.queue.isEmpty else {
        state.isRunning = false
        return nil
      }
      let batch = Array(state.queue.prefix(Self.batch))
      state.queue.removeFirst(batch.count)
      return batch
    }
  }

  private func end(_ batch: [ValueChange], _ results: [Result<Void, any Error>]) {
    let done = state.withLock { state in
      for (change, result) in zip(batch, results) {
        state.endedThrough = change.number
        if case .failure(let error) = result { Self.note(error, of: change.number, in: &state) }
      }
      let ended = state.endedThrough
      defer { state.waiting.removeAll { $0.through <= ended } }
      return state.waiting.filter { $0.through <= ended }
    }
    for (change, result) in zip(batch, results) { change.outcome.complete(result) }
    for waiting in done { waiting.outcome.complete(.success(())) }
  }

  // MARK: Failures

  private static func note(_ error: any Error, of number: UInt64, in state: inout State) {
    if state.failures.count < failureLimit { state.failures.append((number, error)) }
  }

  /// Keeps the failure of a change that did not even get into the line.
  func noteFailure(_ error: any Error, of number: UInt64) {
    state.withLock { Self.note(error, of: number, in: &$0) }
  }

  /// Forgets a failure of which somebody has been told.
  func forgetFailure(of number: UInt64) {
    state.withLock { state in state.failures.removeAll { $0.number == number } }
  }

  private func throwFirstFailure() throws {
    let first = state.withLock { state in
      defer { state.failures = [] }
      return state.failures.first
    }
    if let first { throw first.error }
  }

  // MARK: Waiting

  /// How many changes have not ended yet; may count some that never got into the line.
  private var unwrittenCount: Int {
    state.withLock { state in
      state.lastAdded > state.endedThrough ? Int(state.lastAdded - state.endedThrough) : 0
    }
  }

  /// Returns what ends when every change that was added so far has ended.
  private func outcomeOfAll() -> ChangeOutcome {
    let outcome = ChangeOutcome()
    let isDone = state.withLock { state in
      if state.lastAdded <= state.endedThrough { return true }
      state.waiting.append((state.lastAdded, outcome))
      return false
    }
    if isDone { outcome.complete(.success(())) }
    return outcome
  }

  /// Waits until every change that was added so far has ended.
  ///
  /// - Throws: the first failure that nobody was told of.
  func allEnded() async throws {
    try await outcomeOfAll().wait()
    try throwFirstFailure()
  }

  /// Blocks until every change that was added so far has ended.
  ///
  /// - Throws: the first failure that nobody was told of, or
  ///   ``StoredValueError/flushTimedOut(path:unwritten:)``.
  @available(*, noasync)
  func waitUntilEmpty(for bound: Duration) throws {
    let outcome = outcomeOfAll()
    let ended = DispatchSemaphore(value: 0)
    // Nobody of the cooperative pool waits here: the caller is a thread that may block.
    Task.detached {
      try? await outcome.wait()
      ended.signal()
    }
    let seconds = Double(bound.components.seconds) + Double(bound.components.attoseconds) / 1e18
    guard ended.wait(timeout: .now() + seconds) == .success else {
      throw StoredValueError.flushTimedOut(
        path: database.location, unwritten: unwrittenCount)
    }
    try throwFirstFailure()
  }
}
