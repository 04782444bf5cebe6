import SQLiteConnection
import Synchronization

/// Somebody who waits until this process's view has reached a token.
///
/// An observer among others, so it costs no look of its own: the hub's bell, log events and poll serve it.
private final class TokenWaiter: ChangeObserver {
  private struct State {
    var isSignalled = true
    var failure: (any Error)?
    var continuation: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func didChange(_ change: ChangeSet) {}

  func didSettle() { signal { $0.isSignalled = true } }

  func didEnd(_ error: any Error) { signal { $0.failure = error } }

  private func signal(_ body: (inout State) -> Void) {
    let continuation = state.withLock { state in
      body(&state)
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume()
  }

  /// Suspends until there is something to look at.
  func next() async throws {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let mustWait = state.withLock { state in
          guard !state.isSignalled, state.failure == nil, !Task.isCancelled else { return false }
          state.continuation = continuation
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      signal { _ in }
    }
    try Task.checkCancellation()
    try state.withLock { state in
      state.isSignalled = false
      if let failure = state.failure { throw failure }
    }
  }
}

extension BoutiqueDB {
  /// Returns when this process's view has reached a token, which another process may have handed over.
  ///
  /// From then on every read that begins sees the token's commit and all before it, and all live queries
  /// and change feeds of this open database have been told of them: one whose value they alter is being
  /// read again or will be when its consumer asks.
  ///
  /// - Parameters:
  ///   - token: of the same database, from a write, a change or ``currentToken()`` of any process.
  ///   - timeout: how long to wait.
  /// - Throws: ``BoutiqueError/waitTimedOut(_:)``; ``BoutiqueError/tokenVoid(path:token:message:)`` when the
  ///   token is of another file or of a history that a restored file does not have; other
  ///   ``BoutiqueError``s when the database was closed or replaced; `CancellationError`.
  public func wait(for token: ChangeToken, timeout: Duration = .seconds(10)) async throws {
    let core = core
    try core.checkUsable()
    let start = MonotonicTime.now()
    let waiter = TokenWaiter()
    let id = core.hub.add(waiter, settles: true)
    defer { core.hub.remove(id) }
    try await core.hub.activate()
    let hasReached = try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await core.waitUntilReached(token, told: waiter)
        return true
      }
      group.addTask {
        try await Task.sleep(for: timeout, clock: .continuous)
        return false
      }
      defer { group.cancelAll() }
      return try await group.next() ?? false
    }
    if hasReached { return }
    throw BoutiqueError.waitTimedOut(
      TokenWait(
        path: path, token: token, reached: try await currentToken(),
        waited: start.duration(to: .now())))
  }
}

extension BoutiqueDB {
  /// The number of the token up to which all observers have been told; nil while they are being told, or
  /// when there are none.
  package var toldToken: Int64? { core.hub.settledPosition?.token }
}

extension OpenDatabase {
  fileprivate func waitUntilReached(_ token: ChangeToken, told waiter: TokenWaiter) async throws {
    // A bell may have been lost: the first look is ours.
    hub.wake(.bell)
    while true {
      try await waiter.next()
      if try await hasReached(token) { return }
    }
  }

  private func hasReached(_ token: ChangeToken) async throws -> Bool {
    if isShared {
      guard let told = hub.settledPosition else { return false }
      guard told.generation == token.generation else { throw void(token, .generation) }
      if told.token < token.number { return false }
    }
    let (generation, newest, commit, isInside) = try await read { connection in
      let sqlite = connection.sqlite
      return (
        try ChangeReader.generation(on: sqlite), try ChangeReader.newestToken(on: sqlite),
        try ChangeReader.commit(token.number, on: sqlite),
        try ChangeReader.isInsideCommit(token.number, on: sqlite)
      )
    }
    guard generation ?? "" == token.generation else { throw void(token, .generation) }
    if let stamp = token.stamp, let commit, commit.time != stamp { throw void(token, .history) }
    if isInside { throw void(token, .history) }
    return newest >= token.number
  }

  private enum Reason: String {
    case generation = "it was made in another file, or before the change log was made anew"
    case history = "another commit has this number; the file was restored"
  }

  private func void(_ token: ChangeToken, _ reason: Reason) -> BoutiqueError {
    .tokenVoid(path: path, token: token, message: reason.rawValue)
  }
}
