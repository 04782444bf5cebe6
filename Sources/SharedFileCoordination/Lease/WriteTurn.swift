import FaultPoints
import Glibc
import Synchronization

/// Proof of holding the write lease; finishing it hands over.
///
/// An abandoned turn is finished by its `deinit`.
package struct WriteTurn: ~Copyable, Sendable {
  private let session: TurnSession
  private var isFinished = false

  init(session: TurnSession) {
    self.session = session
  }

  deinit {
    if !isFinished { session.release() }
  }

  /// Rings the bell, if anybody listens: tells them that there is something new.
  ///
  /// Call when it can be seen, not before.
  package func ring() {
    session.ring()
  }

  /// Whether the turn is over: the quantum is used up and somebody waits, or what would come next is
  /// to yield and somebody waits who does not.
  ///
  /// - Parameter nextYields: Whether this process has nothing more to do that does not yield.
  package func shouldHandOver(nextYields: Bool = false) -> Bool {
    session.shouldHandOver(nextYields: nextYields)
  }

  /// Says that the turn goes on with something new, so that nobody takes a turn that nobody else wanted
  /// for one piece of work that does not end.
  package func renew() {
    session.renew()
  }

  /// How long the turn has been going on.
  package var heldFor: Duration { session.since.duration(to: BootClock.now()) }

  /// Whether the turn is one without the queue: SQLite's own lock decides alone.
  package var isDegraded: Bool { session.membership == nil }

  /// Gives the lease up and wakes the next in line.
  package consuming func finish() {
    session.release()
    isFinished = true
  }
}

/// What a turn works on.
final class TurnSession: Sendable {
  /// Nil when there is no queue to be had.
  let membership: Membership?
  let since: BootClock.Instant
  private let lease: WriteLease
  private let options: CoordinationOptions
  private let purpose: String
  /// When the record was written.
  private let recorded: Atomic<UInt64>

  /// The bell's counter after this turn's last ringing, 0 before the first.
  private let counter = Atomic<UInt64>(0)

  /// When the line was looked at last, for somebody who wants the lease when the quantum is used up.
  private let lookedAt = Atomic<UInt64>(0)

  /// A look at the line that found nobody is good for so long, if the quantum is not much shorter.
  private static let lookSpan: UInt64 = 100_000

  /// How old a record may be when the turn goes on with something new.
  private static let renewal: UInt64 = 50_000_000

  init(
    membership: Membership?, lease: WriteLease, options: CoordinationOptions, purpose: String,
    since: BootClock.Instant
  ) {
    self.membership = membership
    self.lease = lease
    self.options = options
    self.purpose = purpose
    self.since = since
    recorded = Atomic(since.nanoseconds)
  }

  func renew() {
    guard let membership, lease.isSameProcess else { return }
    let now = BootClock.now()
    guard now.nanoseconds &- recorded.load(ordering: .relaxed) >= Self.renewal else { return }
    recorded.store(now.nanoseconds, ordering: .relaxed)
    membership.writeTurn(
      purpose: purpose, label: options.label, since: now, at: LockFileLayout.turnOffset)
  }

  func ring() {
    guard let membership, lease.isSameProcess, ListenerPresence.isThere(at: membership.file)
    else { return }
    // Who has the lease rings; a step that somebody without it makes meanwhile is one that nobody misses.
    let known = counter.load(ordering: .relaxed)
    let now = CommitBell.ring(membership.file, known: known == 0 ? nil : known)
    counter.store(now, ordering: .relaxed)
  }

  func shouldHandOver(nextYields: Bool) -> Bool {
    guard let membership else { return false }
    let now = BootClock.now()
    let isUsedUp = since.duration(to: now) >= options.quantum
    guard isUsedUp || nextYields else { return false }
    let span = min(Self.lookSpan, UInt64(clamping: options.quantum.clampedNanoseconds) / 8)
    guard nextYields || now.nanoseconds &- lookedAt.load(ordering: .relaxed) >= span else {
      return false
    }
    lookedAt.store(now.nanoseconds, ordering: .relaxed)
    var page = HeaderPage()
    guard (try? page.load(from: membership.file)) == true else { return false }
    return LeaseQueue.line(page.queue, without: membership.slot).contains {
      // Who still yields has no claim against work that does not.
      ($0.ticket <= now.nanoseconds || (nextYields && isUsedUp)) && membership.isLive(slot: $0.slot)
    }
  }

  func release() {
    // In a forked child nothing is ours to drop: its descriptors are closed already, and a mutex
    // may have been copied in the locked state.
    guard lease.isSameProcess else { return }
    guard let membership else {
      lease.turnEnded()
      return
    }
    FaultPoint.reach(.beforeRelease)
    ByteLock.unlock(LockFileLayout.writeLeaseByte, of: membership.file.descriptor)
    FaultPoint.reach(.duringRelease)
    // Only now: a new try through the same description would not be kept out by our own lock.
    lease.turnEnded()
    var page = HeaderPage()
    membership.wakeNext(in: &page)
  }
}
