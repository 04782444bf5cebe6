// Where the process's membership is kept, made again after the lock file was replaced, and done
// without when there is no lock file to be had.
//
// Invariants
//  1. At most one membership at a time is given out as the current one; one that was left stays
//     valid for those who still hold it.
//  2. What keeps us from a lock file for reasons of room or rights (ENOSPC, EACCES, EROFS …) never
//     keeps the database from being used: no membership, a reason, a new try every few seconds.
//     What points to a mistake or an attack (symbolic link, other layout version, directory gone)
//     is thrown.

import CLinuxShims
import Glibc
import Synchronization

/// The current membership of one open database.
final class MembershipPlace: Sendable {
  let path: String
  private let databasePath: String
  private let options: CoordinationOptions
  private let origin = ForkGuard()
  private let closed = Atomic(false)
  private let state = Mutex(State())

  private struct State {
    var membership: Membership?
    var degradedReason: String?
    var nextTry = BootClock.Instant(nanoseconds: 0)
    var token: Int64 = 0
  }

  /// How long to do without a lock file before trying again.
  private static let retryInterval = Duration.seconds(3)

  init(path: String, databasePath: String, options: CoordinationOptions) {
    self.path = path
    self.databasePath = databasePath
    self.options = options
  }

  var isSameProcess: Bool { origin.isSameProcess }

  /// Throws in a forked child and after closing.
  func check() throws(CoordinationError) {
    try origin.check(path: databasePath)
    if closed.load(ordering: .acquiring) { throw .closed(path: path) }
  }

  /// Returns the membership, made now if need be, or nil when there is no lock file to be had.
  func current() throws(CoordinationError) -> Membership? {
    try check()
    return try state.withLock { (state) throws(CoordinationError) -> Membership? in
      try current(&state)
    }
  }

  private func current(_ state: inout State) throws(CoordinationError) -> Membership? {
    // `close` may have run since the caller's check.
    if closed.load(ordering: .acquiring) { throw .closed(path: path) }
    if let membership = state.membership { return membership }
    guard BootClock.now() >= state.nextTry else { return nil }
    do throws(CoordinationError) {
      let membership = try join(token: state.token)
      state.membership = membership
      state.degradedReason = nil
      return membership
    } catch {
      guard let reason = MembershipPlace.reasonToDoWithout(error) else { throw error }
      state.degradedReason = reason
      state.nextTry = BootClock.now(advancedBy: MembershipPlace.retryInterval)
      return nil
    }
  }

  private func join(token: Int64) throws(CoordinationError) -> Membership {
    // The file may be replaced between opening and joining; whoever loses that race joins again.
    for _ in 0..<16 {
      let file = try LockFile.open(path: path, databasePath: databasePath, options: options)
      let membership = try Membership(file: file, options: options, token: token)
      if file.isAtItsPath { return membership }
    }
    throw .lockFileKeepsChanging(path: path)
  }

  /// The membership as it is, without making one; for looks that must not have effects.
  var existing: Membership? {
    guard isSameProcess else { return nil }
    return state.withLock { $0.membership }
  }

  var degradedReason: String? {
    guard isSameProcess else { return nil }
    return state.withLock { $0.degradedReason }
  }

  /// Lets go of a membership whose file is not at its path any more.
  func leave(_ membership: Membership) {
    state.withLock { state in
      if state.membership === membership { state.membership = nil }
    }
  }

  /// Makes a damaged file good again.
  ///
  /// - Returns: False when there is no room or right to do so; the membership is then left.
  func repair(_ membership: Membership) throws(CoordinationError) -> Bool {
    do throws(CoordinationError) {
      try membership.file.repair(options: options)
      return true
    } catch {
      guard MembershipPlace.reasonToDoWithout(error) != nil else { throw error }
      leave(membership)
      doWithout(error)
      return false
    }
  }

  /// Works without a lock file for a while, for the given reason.
  func doWithout(_ error: CoordinationError) {
    state.withLock { state in
      state.membership = nil
      state.degradedReason = MembershipPlace.reasonToDoWithout(error) ?? error.description
      state.nextTry = BootClock.now(advancedBy: MembershipPlace.retryInterval)
    }
  }

  func publish(token: Int64) {
    guard isSameProcess else { return }
    let membership = state.withLock { state in
      state.token = token
      return state.membership
    }
    membership?.publish(token: token)
  }

  /// Gives everything up; what a turn or a waiting thread still uses goes when they let go.
  func close() {
    guard isSameProcess else { return }
    closed.store(true, ordering: .releasing)
    let membership = state.withLock { state in
      defer { state.membership = nil }
      return state.membership
    }
    // Let go outside of the mutex: closing may block.
    withExtendedLifetime(membership) {}
  }

  private static func reasonToDoWithout(_ error: CoordinationError) -> String? {
    if case .lockFileKeepsChanging = error { return error.description }
    guard case .system(let call, let code, let path) = error else { return nil }
    let text = CoordinationError.text(ofErrno: code)
    switch code {
    case ENOSPC, EDQUOT, EFBIG:
      return "There is no room for the lock file \(path) (\(call): \(text)). Writes go on without "
        + "the queue; free some space."
    case EACCES, EPERM, EROFS:
      return "The lock file \(path) cannot be opened for writing (\(call): \(text)). Writes go on "
        + "without the queue; give this user write access to it and its directory."
    case EBUSY:
      return "The lock file \(path) is being made by another process that does not get done; is "
        + "it stopped? Writes go on without the queue."
    case EIO, ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL:
      return "The lock file \(path) cannot be used (\(call): \(text)). Writes go on without the "
        + "queue."
    default:
      return nil
    }
  }
}
