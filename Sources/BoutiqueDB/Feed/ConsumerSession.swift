// One session of a durable consumer: from the first `next()` of its feed to the end of the last thing that
// could still acknowledge.
//
// For: at-least-once delivery over restarts and deaths. The cursor lies in the database; what comes after it
// is delivered again.
//
// Invariants
//  1. One session of a name at a time. The kernel's lock of the consumer's place in the lock file says who;
//     it goes with the process. Within one open database `ActiveConsumers` says so.
//  2. The session's random number stands in the consumer's record. An acknowledgement is written only where
//     it still does: should two ever believe that the name is theirs (the lock file was deleted), the later
//     one has it and the earlier one is told.
//  3. The cursor never goes back: each delivered change has an ordinal, and only a higher one than the last
//     written is written. Not by token number: after a restored backup numbers are lower and yet later.
//  4. When `acknowledge` has returned, the cursor is committed. All that wait at the same time share one
//     commit.
//
// Steps of beginning, in one transaction of our own: find the record → lock its place → write who we are,
// and, for a new name, where it begins. Death before the commit leaves the record as it was; the lock goes.
// Steps of acknowledging: note → write the newest noted → resume those whose ordinal is not higher. Death
// before the commit: what was noted is delivered again.

import FaultPoints
import Foundation
import SharedFileCoordination
import Synchronization

/// A living session of a durable consumer; the name is given up with the last one who refers to it.
///
/// What it does is the cursor's, which a task that writes may hold a moment longer.
final class ConsumerSession: Sendable {
  let cursor: ConsumerCursor

  private init(_ cursor: ConsumerCursor) { self.cursor = cursor }

  deinit { cursor.endWhenWritten() }

  /// Begins a session and returns where it goes on.
  ///
  /// - Parameter start: where a consumer begins that the database does not know yet.
  static func begin(
    _ name: String, start: ChangeToken?, db: BoutiqueDB
  ) async throws -> (ConsumerSession, LogPosition) {
    let (cursor, position) = try await ConsumerCursor.begin(name, start: start, db: db)
    return (ConsumerSession(cursor), position)
  }
}

/// The cursor of a session: what was delivered, acknowledged and written.
final class ConsumerCursor: Sendable {
  private struct Waiter {
    var ordinal: Int
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var claim: PlaceClaim?
    var hasEnded = false
    /// Whether it ends as soon as what was noted is written.
    var endsWhenWritten = false
    /// How many changes have been given out.
    var delivered = 0
    /// The newest that was acknowledged, and its position.
    var noted: (ordinal: Int, token: ChangeToken)?
    /// Up to where the cursor is committed.
    var durable = 0
    var isWriting = false
    var waiters: [Waiter] = []
    /// What a write that nobody waited for ended with.
    var failure: (any Error)?
    /// How many writes there were.
    var writes = 0
  }

  let name: String
  private let db: BoutiqueDB
  private let place: Int64
  private let owner: Int64
  private let state: Mutex<State>

  private init(name: String, db: BoutiqueDB, place: Int64, owner: Int64, claim: PlaceClaim?) {
    self.name = name
    self.db = db
    self.place = place
    self.owner = owner
    state = Mutex(State(claim: claim))
  }

  deinit { end() }

  /// Gives up the name.
  func end() {
    let (hadEnded, claim) = state.withLock { state in
      defer { (state.hasEnded, state.claim) = (true, nil) }
      return (state.hasEnded, state.claim)
    }
    // Not left to the last one who refers to it: the writer may still hold what it ran.
    claim?.release()
    if !hadEnded { db.core.consumers.end(name) }
  }

  /// Gives up the name, now or when what nobody waits for is written.
  func endWhenWritten() {
    let isWriting = state.withLock { state in
      state.endsWhenWritten = true
      return state.isWriting
    }
    if !isWriting { end() }
  }

  /// How many times the cursor has been written since the session began.
  var writeCount: Int { state.withLock(\.writes) }

  // MARK: Beginning

  /// Begins a session and returns where it goes on.
  ///
  /// - Parameter start: where a consumer begins that the database does not know yet.
  static func begin(
    _ name: String, start: ChangeToken?, db: BoutiqueDB
  ) async throws -> (ConsumerCursor, LogPosition) {
    let core = db.core
    if name.isEmpty {
      throw BoutiqueError.invalidConfiguration(message: "the name of a consumer is not empty")
    }
    guard core.consumers.begin(name) else {
      throw BoutiqueError.consumerInUse(
        ConsumerInUse(
          path: core.path, name: name, pid: getpid(), label: core.configuration.label))
    }
    let owner = Int64.random(in: 1...Int64.max)
    do {
      let (place, position, claim) = try await core.writeOwn(purpose: "consumer \(name)") {
        sqlite -> (Int64, LogPosition, PlaceClaim?) in
        let known = try ConsumerTable.find(name, on: sqlite)
        let place = try known?.place ?? ConsumerTable.freePlace(on: sqlite)
        var claim: PlaceClaim?
        switch try core.coordination?.claim(place: place) {
        case .claimed(let own): claim = own
        case .taken:
          throw BoutiqueError.consumerInUse(
            ConsumerInUse(path: core.path, name: name, pid: known?.pid, label: known?.label ?? ""))
        // Without a lock file the random number alone decides: the later one has it.
        case .unavailable, nil: break
        }
        var position: LogPosition
        if let known {
          position = known.position
          position = try ChangeReader.position(of: ChangeToken(position), on: sqlite)
        } else if let start {
          position = try ChangeReader.position(of: start, on: sqlite)
        } else {
          // Nobody commits beside us now: the counter belongs to the snapshot.
          position = try ChangeReader.head(
            continuity: core.coordination?.continuity ?? (core.pool == nil ? 1 : nil), on: sqlite)
        }
        try ConsumerTable.put(
          ConsumerRecord(
            name: name, place: place, position: known?.position ?? position,
            seen: WallClock.milliseconds, expiry: core.configuration.consumerExpiry.milliseconds,
            isExpired: false, owner: owner, pid: getpid(), label: core.configuration.label),
          on: sqlite)
        return (place, position, claim)
      }
      return (
        ConsumerCursor(name: name, db: db, place: place, owner: owner, claim: claim), position
      )
    } catch {
      core.consumers.end(name)
      throw error
    }
  }

  // MARK: Delivering and acknowledging

  /// Returns the ordinal of a change that is given out now.
  func deliver() -> Int {
    state.withLock { state in
      state.delivered += 1
      return state.delivered
    }
  }

  /// Takes the error of a write that nobody waited for.
  func takeFailure() -> (any Error)? {
    state.withLock { state in
      defer { state.failure = nil }
      return state.failure
    }
  }

  /// Notes that all changes up to `ordinal` are dealt with, and sees to it that it is written.
  func note(_ ordinal: Int, _ token: ChangeToken) {
    let mustWrite = state.withLock { state in Self.note(ordinal, token, &state) }
    if mustWrite { startWriting() }
  }

  /// The same, and returns when it is committed.
  ///
  /// Cancellation does not hinder it: what has been dealt with has been dealt with.
  func acknowledge(_ ordinal: Int, _ token: ChangeToken) async throws {
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      let (isDone, mustWrite) = state.withLock { state -> (Bool, Bool) in
        if ordinal <= state.durable { return (true, false) }
        let mustWrite = Self.note(ordinal, token, &state)
        state.waiters.append(Waiter(ordinal: ordinal, continuation: continuation))
        return (false, mustWrite)
      }
      if isDone { continuation.resume() }
      if mustWrite { startWriting() }
    }
  }

  /// - Returns: whether a write has to be begun.
  private static func note(_ ordinal: Int, _ token: ChangeToken, _ state: inout State) -> Bool {
    guard ordinal > state.durable else { return false }
    if ordinal > state.noted?.ordinal ?? 0 { state.noted = (ordinal, token) }
    defer { state.isWriting = true }
    return !state.isWriting
  }

  private func startWriting() {
    // A task of its own: the one that acknowledges may be cancelled, others wait for the same write.
    Task { await self.writeNoted() }
  }

  private func writeNoted() async {
    while let next = state.withLock({ Self.next(&$0) }) {
      do {
        try await write(next.token)
      } catch {
        let (waiters, mustEnd) = state.withLock { state in
          state.isWriting = false
          // The next acknowledgement tries again.
          state.noted = nil
          if state.waiters.isEmpty { state.failure = error }
          defer { state.waiters = [] }
          return (state.waiters, state.endsWhenWritten)
        }
        if mustEnd { end() }
        for waiter in waiters { waiter.continuation.resume(throwing: error) }
        return
      }
      let (waiters, isDone, mustEnd) = state.withLock { state in
        state.durable = next.ordinal
        state.writes += 1
        let done = state.waiters.filter { $0.ordinal <= next.ordinal }
        state.waiters.removeAll { $0.ordinal <= next.ordinal }
        // Before anybody is resumed, who may let go of the session at once.
        let isDone = Self.next(&state) == nil
        return (done, isDone, isDone && state.endsWhenWritten)
      }
      if mustEnd { end() }
      for waiter in waiters { waiter.continuation.resume() }
      if isDone { return }
    }
  }

  /// Returns what is to be written next; when there is nothing, the writing is over.
  private static func next(_ state: inout State) -> (ordinal: Int, token: ChangeToken)? {
    if let noted = state.noted, noted.ordinal > state.durable { return noted }
    state.isWriting = false
    return nil
  }

  private func write(_ token: ChangeToken) async throws {
    let core = db.core
    let (hasEnded, claim) = state.withLock { ($0.hasEnded, $0.claim) }
    if hasEnded { try core.checkUsable() }
    let (name, owner, place) = (name, owner, place)
    try await core.writeOwn(purpose: "acknowledge \(name)") { sqlite in
      let known = try ConsumerTable.find(name, on: sqlite)
      // Gone, or an older one: a tool has removed it, or the file was restored. It is ours as long as the
      // place is.
      let isOurs =
        known.map { known in
          known.owner == owner || known.place == place && claim?.isEffective == true
        } ?? (claim?.isEffective != false)
      guard isOurs else {
        throw BoutiqueError.consumerInUse(
          ConsumerInUse(path: core.path, name: name, pid: known?.pid, label: known?.label ?? ""))
      }
      try ConsumerTable.put(
        ConsumerRecord(
          name: name, place: known?.place ?? place,
          position: LogPosition(
            generation: token.generation, token: token.number, stamp: token.stamp ?? 0,
            counter: token.counter, continuity: token.continuity, isLive: false),
          seen: WallClock.milliseconds, expiry: core.configuration.consumerExpiry.milliseconds,
          isExpired: false, owner: owner, pid: getpid(), label: core.configuration.label),
        on: sqlite)
      FaultPoint.reach(.inConsumerAcknowledgement)
    }
  }
}

/// The wall clock, for times that people and other processes read.
enum WallClock {
  /// Milliseconds since 1970.
  static var milliseconds: Int64 { Int64((Date().timeIntervalSince1970 * 1000).rounded()) }
}

extension Duration {
  /// The duration in milliseconds, clamped.
  var milliseconds: Int64 { nanosecondsClamped / 1_000_000 }
}
