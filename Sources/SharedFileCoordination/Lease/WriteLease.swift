// Taking the write lease: drives the queue (`LeaseQueue`) on the lock file.
//
// For: one process at a time writes, in order of arrival, with deadline and cancellation, however
// any of the others dies or stops, and whatever happens to the lock file.
//
// Invariants
//  1. A turn is given out only with the lease's byte locked and the lock file at its path after the
//     lock was taken (or without a queue at all, when there is none to be had).
//  2. No barging: with somebody in line whose ticket is not later the newcomer takes one behind.
//  3. On every way out without a turn the ticket is cleared, and when the lease is free at that
//     moment the next in line is woken: a wake-up that came to us is passed on.
//
// Steps                                     death here
//  a  read the first page                   nothing happened
//  b  nobody waits: try the byte, go to f   the byte is freed
//  c  write a ticket                        a leftover entry, skipped and swept
//  d  look; wait on socket, signal, time    the same
//  e  lock the byte, clear the ticket       the byte is freed; others look or are woken later
//  f  compare file and path                 the same
//  g  write the turn's record               the same
// A stop at c–d: passed over. A stop at e–g: it is the holder, and is reported as such.

import CLinuxShims
import FaultPoints
import Glibc
import Synchronization

/// A process's access to the write lease of one database.
package final class WriteLease: Sendable {
  private enum Use {
    case idle
    case acquiring
    case holding
  }

  private let place: MembershipPlace
  private let options: CoordinationOptions
  /// Wakes the thread that waits in `acquire`.
  private let signal: GuardedDescriptor
  /// Who uses this handle; guards against two turns through one open file description, which
  /// would not keep each other out.
  private let use = Mutex(Use.idle)

  init(place: MembershipPlace, options: CoordinationOptions) throws(CoordinationError) {
    self.place = place
    self.options = options
    let number = clx_guarded_eventfd()
    guard number >= 0 else { throw .system(call: "eventfd", code: -number, path: place.path) }
    signal = GuardedDescriptor(adopting: number, holdsLocks: false)
  }

  var isSameProcess: Bool { place.isSameProcess }

  /// Waits for this process's turn.
  ///
  /// One thread at a time; the thread blocks. With a deadline that has passed the lease is tried
  /// once.
  ///
  /// - Parameters:
  ///   - deadline: When to give up, nil to wait for ever.
  ///   - purpose: What for, in a few words; others see it.
  ///   - yieldingFor: For how long from now others go first; asked again after `wakeWaiter`, as long as
  ///     the answer was not nil.
  ///   - isCancelled: Asked at every look; call `wakeWaiter` when its answer changes.
  package func acquire(
    deadline: BootClock.Instant?, purpose: String,
    yieldingFor: @Sendable () -> Duration? = { nil }, isCancelled: @Sendable () -> Bool
  ) throws(CoordinationError) -> WriteTurn {
    try place.check()
    let entered = use.withLock { use in
      guard use == .idle else { return false }
      use = .acquiring
      return true
    }
    guard entered else { throw .alreadyWaiting(path: place.path) }
    do throws(CoordinationError) {
      let started = BootClock.now()
      let session = try withoutActuallyEscaping(isCancelled) {
        (isCancelled) throws(CoordinationError) -> TurnSession in
        FaultPoint.reach(.beforeLease)
        return try withoutActuallyEscaping(yieldingFor) {
          (yieldingFor) throws(CoordinationError) -> TurnSession in
          let call = LeaseCall(
            deadline: deadline, isCancelled: isCancelled, yieldingFor: yieldingFor,
            started: started, path: place.path)
          return try takeTurn(purpose: purpose, call: call)
        }
      }
      use.withLock { $0 = .holding }
      FaultPoint.reach(.afterLease)
      return WriteTurn(session: session)
    } catch {
      use.withLock { $0 = .idle }
      throw error
    }
  }

  /// Makes the thread that waits in `acquire` look at `isCancelled` again.
  ///
  /// From any thread.
  package func wakeWaiter() {
    if place.isSameProcess { clx_signal_eventfd(signal.number) }
  }

  func turnEnded() {
    use.withLock { $0 = .idle }
  }

  // MARK: Steps

  private func takeTurn(
    purpose: String, call: LeaseCall
  ) throws(CoordinationError) -> TurnSession {
    if call.isCancelled() { throw .cancelled(path: place.path) }
    // Bounded: somebody who replaces the file all the time must not keep us from writing.
    for round in 0..<100 {
      guard let membership = try place.current() else {
        return TurnSession(
          membership: nil, lease: self, options: options, purpose: purpose, since: BootClock.now())
      }
      var page = HeaderPage()
      let outcome = try wait(in: membership, page: &page, call: call)
      if outcome == .locked, try isUsable(membership, page: &page) {
        let since = BootClock.now()
        membership.writeTurn(
          purpose: purpose, label: options.label, since: since, at: LockFileLayout.turnOffset)
        return TurnSession(
          membership: membership, lease: self, options: options, purpose: purpose, since: since)
      }
      if outcome == .locked {
        ByteLock.unlock(LockFileLayout.writeLeaseByte, of: membership.file.descriptor)
        membership.wakeNext(in: &page)
      }
      place.leave(membership)
      if round > 3 { try call.check() }
    }
    place.doWithout(.lockFileKeepsChanging(path: place.path))
    return TurnSession(
      membership: nil, lease: self, options: options, purpose: purpose, since: BootClock.now())
  }

  /// Whether the locked file is the one at its path and whole, or could be made so.
  private func isUsable(
    _ membership: Membership, page: inout HeaderPage
  ) throws(CoordinationError) -> Bool {
    switch membership.file.condition {
    case .good:
      return true
    case .elsewhere:
      return false
    case .short:
      do throws(CoordinationError) {
        guard try place.repair(membership) else { return false }
        return try loadOrRepair(&page, membership)
      } catch {
        ByteLock.unlock(LockFileLayout.writeLeaseByte, of: membership.file.descriptor)
        throw error
      }
    }
  }

  private enum Outcome {
    case locked
    case fileChanged
  }

  private func wait(
    in membership: Membership, page: inout HeaderPage, call: LeaseCall
  ) throws(CoordinationError) -> Outcome {
    guard try loadOrRepair(&page, membership) else { return .fileChanged }
    let others = LeaseQueue.line(page.queue, without: membership.slot)
    let mine = others.isEmpty ? 0 : call.place().ticket
    let somebodyWaits = others.contains { $0.ticket <= mine && membership.isLive(slot: $0.slot) }
    if !somebodyWaits, try tryByte(membership) {
      sweep(others, membership)
      return .locked
    }
    try call.check()
    guard let slot = membership.slot else {
      return try waitUnlisted(membership, page: &page, call: call)
    }
    do throws(CoordinationError) {
      return try waitInLine(slot: slot, membership, page: &page, call: call)
    } catch {
      leaveLine(membership, &page)
      if case .leaseTimeout(var timeout) = error {
        place.describeHolder(into: &timeout)
        throw .leaseTimeout(timeout)
      }
      throw error
    }
  }

  private func waitInLine(
    slot: Int, _ membership: Membership, page: inout HeaderPage, call: LeaseCall
  ) throws(CoordinationError) -> Outcome {
    membership.restoreRecord()
    var mine = call.place()
    do {
      try membership.writeTicket(mine.ticket, yieldsSince: mine.yieldsSince)
    } catch {
      // A full disk on a file system that copies on write: no place in line to be had.
      return try waitUnlisted(membership, page: &page, call: call)
    }
    var waiter = LeaseWaiter(
      slot: slot, ticket: mine.ticket,
      lookInterval: UInt64(clamping: options.lookInterval.clampedNanoseconds),
      patience: UInt64(clamping: options.patience.clampedNanoseconds))
    while true {
      guard try loadOrRepair(&page, membership) else { return .fileChanged }
      let look = LeaseWaiter.Look(
        entries: page.queue, turnNumber: page.turnNumber, now: BootClock.now().nanoseconds)
      var action = waiter.look(
        look, isLive: { membership.isLive(slot: $0) },
        leaseIsFree: {
          !ByteLock.isLockedByOther(LockFileLayout.writeLeaseByte, of: membership.file.descriptor)
        }, isStopped: { membership.isStopped(slot: $0) })
      if case .tryLock(let passedOver) = action {
        if try tryByte(membership) {
          for entry in passedOver { membership.markPassedOver(entry) }
          try? membership.writeTicket(0)
          sweep(LeaseQueue.line(look.entries, without: slot), membership)
          return .locked
        }
        action = waiter.lockWasTaken()
      }
      try call.check(waitersBefore: waiter.waitersBefore)
      switch action {
      case .takeNewTicket:
        mine = call.place()
        try? membership.writeTicket(mine.ticket, yieldsSince: mine.yieldsSince)
        waiter.tookTicket(mine.ticket)
      case .writeAgain:
        try? membership.writeTicket(mine.ticket, yieldsSince: mine.yieldsSince)
        membership.wait(signal: signal, nanoseconds: call.bounded(100_000))
      case .wait(let nanoseconds):
        membership.wait(signal: signal, nanoseconds: call.bounded(nanoseconds))
        try place.check()
        if !membership.file.isAtItsPath {
          leaveLine(membership, &page)
          return .fileChanged
        }
        // Somebody of this process has come who does not yield.
        if mine.yieldsSince != nil, case let now = call.place(), now.ticket < mine.ticket {
          mine = now
          try? membership.writeTicket(mine.ticket, yieldsSince: mine.yieldsSince)
          waiter.tookTicket(mine.ticket)
        }
      case .tryLock:
        continue
      }
    }
  }

  /// Without a slot there is no place in line: try again and again, at uneven intervals so that
  /// two such processes do not keep step.
  private func waitUnlisted(
    _ membership: Membership, page: inout HeaderPage, call: LeaseCall
  ) throws(CoordinationError) -> Outcome {
    while true {
      membership.wait(
        signal: signal, nanoseconds: call.bounded(UInt64.random(in: 1_000_000...4_000_000)))
      try place.check()
      if !membership.file.isAtItsPath { return .fileChanged }
      guard try loadOrRepair(&page, membership) else { return .fileChanged }
      if try tryByte(membership) { return .locked }
      do throws(CoordinationError) {
        try call.check()
      } catch {
        guard case .leaseTimeout(var timeout) = error else { throw error }
        place.describeHolder(into: &timeout)
        throw .leaseTimeout(timeout)
      }
    }
  }

  private func tryByte(_ membership: Membership) throws(CoordinationError) -> Bool {
    try ByteLock.tryLock(
      LockFileLayout.writeLeaseByte, of: membership.file.descriptor, path: membership.file.path)
  }

  /// Reads the first page, and makes the file good when somebody has damaged it.
  ///
  /// - Returns: False when it could not be made good.
  private func loadOrRepair(
    _ page: inout HeaderPage, _ membership: Membership
  ) throws(CoordinationError) -> Bool {
    if try !page.load(from: membership.file) {
      guard try place.repair(membership), try page.load(from: membership.file) else { return false }
    }
    if let epoch = page.header?.epoch { membership.refresh(epoch: epoch) }
    return true
  }

  /// Clears what dead waiters left; they cost every newcomer a question to the kernel.
  private func sweep(_ entries: [LeaseQueue.Entry], _ membership: Membership) {
    for entry in entries where !membership.isLive(slot: entry.slot) { membership.sweep(entry) }
  }

  private func leaveLine(_ membership: Membership, _ page: inout HeaderPage) {
    guard place.isSameProcess else { return }
    try? membership.writeTicket(0)
    let byte = LockFileLayout.writeLeaseByte
    if !ByteLock.isLockedByOther(byte, of: membership.file.descriptor) {
      membership.wakeNext(in: &page)
    }
  }
}
