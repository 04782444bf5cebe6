import CLinuxShims
import Glibc
import Synchronization

/// The right to change the schema; one process at a time has it.
///
/// Taken seldom and held long, so it has no queue: whoever wants it tries every few milliseconds.
/// It does not include the write lease.
package final class MigrationLease: Sendable {
  private let membership: Membership?
  private let gate: MigrationGate
  private let origin = ForkGuard()
  private let released = Atomic(false)

  init(membership: Membership?, gate: MigrationGate) {
    self.membership = membership
    self.gate = gate
  }

  deinit {
    release()
  }

  /// Whether it was given without a lock, because there is no lock file to be had.
  package var isDegraded: Bool { membership == nil }

  /// Gives the lease up.
  ///
  /// Doing so again does nothing.
  package func release() {
    guard origin.isSameProcess, !released.exchange(true, ordering: .acquiringAndReleasing) else {
      return
    }
    if let membership {
      ByteLock.unlock(LockFileLayout.migrationByte, of: membership.file.descriptor)
    }
    gate.leave()
  }
}

/// Keeps the threads of one handle apart; the lock byte would not (`ByteLock`, rule 3).
final class MigrationGate: Sendable {
  private let taken = Atomic(false)

  func tryEnter() -> Bool { !taken.exchange(true, ordering: .acquiringAndReleasing) }

  func leave() { taken.store(false, ordering: .releasing) }
}

extension MigrationLease {
  /// Waits for the lease.
  static func acquire(
    place: MembershipPlace, gate: MigrationGate, label: String, deadline: BootClock.Instant,
    isCancelled: () -> Bool
  ) throws(CoordinationError) -> MigrationLease {
    let started = BootClock.now()
    while true {
      if isCancelled() { throw .cancelled(path: place.path) }
      let current = try place.current()
      if gate.tryEnter() {
        do throws(CoordinationError) {
          guard let membership = current else {
            return MigrationLease(membership: nil, gate: gate)
          }
          let byte = LockFileLayout.migrationByte
          if try ByteLock.tryLock(byte, of: membership.file.descriptor, path: place.path) {
            if membership.file.isAtItsPath {
              membership.writeTurn(
                purpose: "migration", label: label, since: BootClock.now(),
                at: LockFileLayout.migrationOffset)
              return MigrationLease(membership: membership, gate: gate)
            }
            ByteLock.unlock(byte, of: membership.file.descriptor)
          }
          gate.leave()
        } catch {
          gate.leave()
          throw error
        }
      }
      if let current, !current.file.isAtItsPath { place.leave(current) }
      let now = BootClock.now()
      guard now < deadline else {
        throw .leaseTimeout(
          place.timeout(
            waited: started.duration(to: now), byte: LockFileLayout.migrationByte))
      }
      let left = deadline.nanoseconds - now.nanoseconds
      _ = clx_wait(-1, -1, Int64(clamping: min(left, UInt64.random(in: 2_000_000...5_000_000))))
    }
  }
}
