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

  /// Rings the bell: tells everybody that there is something new.
  package func ring() {
    session.ring()
  }

  /// Whether the quantum is used up and somebody waits.
  package func shouldHandOver() -> Bool {
    session.shouldHandOver()
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
  private let quantum: Duration

  init(membership: Membership?, lease: WriteLease, quantum: Duration, since: BootClock.Instant) {
    self.membership = membership
    self.lease = lease
    self.quantum = quantum
    self.since = since
  }

  func ring() {
    guard let membership, lease.isSameProcess else { return }
    CommitBell.ring(membership.file)
  }

  func shouldHandOver() -> Bool {
    guard let membership, since.duration(to: BootClock.now()) >= quantum else { return false }
    var page = HeaderPage()
    guard (try? page.load(from: membership.file)) == true else { return false }
    return LeaseQueue.line(page.queue, without: membership.slot)
      .contains { membership.isLive(slot: $0.slot) }
  }

  func release() {
    // In a forked child nothing is ours to drop: its descriptors are closed already, and a mutex
    // may have been copied in the locked state.
    guard lease.isSameProcess else { return }
    guard let membership else {
      lease.turnEnded()
      return
    }
    ByteLock.unlock(LockFileLayout.writeLeaseByte, of: membership.file.descriptor)
    // Only now: a new try through the same description would not be kept out by our own lock.
    lease.turnEnded()
    var page = HeaderPage()
    membership.wakeNext(in: &page)
  }
}
