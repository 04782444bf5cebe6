import CLinuxShims
import Glibc

/// One open database's part in the coordination of all processes that share it.
///
/// One per open database and process; two in one process behave like two processes. All calls may
/// block for a moment (file system), the leases for as long as asked: call them on threads that may
/// wait.
package final class CoordinationFile: Sendable {
  /// The lock file.
  package let path: String
  /// The database it belongs to.
  package let databasePath: String
  /// This process's access to the write lease.
  package let writeLease: WriteLease

  private let options: CoordinationOptions
  private let place: MembershipPlace
  private let migrationGate = MigrationGate()

  /// Returns the path of a database's lock file.
  ///
  /// A database that is a symbolic link has its lock file beside the real file, as SQLite has the
  /// log, so that all who come by different links meet.
  package static func path(forDatabase databasePath: String) -> String {
    var facts = stat()
    guard lstat(databasePath, &facts) == 0, facts.st_mode & S_IFMT == S_IFLNK,
      let real = realpath(databasePath, nil)
    else { return databasePath + "-lock" }
    defer { free(real) }
    return String(cString: real) + "-lock"
  }

  /// Opens the lock file of a database, makes it where there is none, and takes a slot in it.
  ///
  /// Where there is no lock file to be had for reasons of room or rights, it works without:
  /// `degradedReason` says why.
  package init(
    databasePath: String, options: CoordinationOptions = CoordinationOptions()
  ) throws(CoordinationError) {
    self.databasePath = databasePath
    self.options = options
    path = CoordinationFile.path(forDatabase: databasePath)
    place = MembershipPlace(path: path, databasePath: databasePath, options: options)
    writeLease = try WriteLease(place: place, options: options)
    _ = try place.current()
  }

  deinit {
    close()
  }

  /// Waits until no other process migrates, and keeps others from it until released.
  package func acquireMigrationLease(
    deadline: BootClock.Instant, isCancelled: () -> Bool = { false }
  ) throws(CoordinationError) -> MigrationLease {
    try place.check()
    return try MigrationLease.acquire(
      place: place, gate: migrationGate, label: options.label, deadline: deadline,
      isCancelled: isCancelled)
  }

  /// Rings the bell: tells everybody that there is something new.
  package func ring() {
    guard let membership = place.existing else { return }
    CommitBell.ring(membership.file)
  }

  /// How often the bell was rung; 0 when there is no lock file to be had.
  package var commitCounter: UInt64 {
    guard let membership = place.existing else { return 0 }
    return CommitBell.read(membership.file.descriptor) ?? 0
  }

  /// Tells others up to which change token this process has read.
  package func publish(token: Int64) {
    place.publish(token: token)
  }

  /// Looks at who holds, who waits and who has the database open, without taking any lock.
  ///
  /// - Parameter includesKernelLocks: Whether to look for the locks' holders in all processes, too.
  package func report(includesKernelLocks: Bool = true) -> LockReport {
    guard let membership = place.existing else {
      return LockReport.of(lockFile: path, includesKernelLocks: includesKernelLocks)
    }
    return LockReport(membership: membership, includesKernelLocks: includesKernelLocks)
  }

  /// This process's slot, nil when it has none.
  package var slotNumber: Int? { place.existing?.slot }

  /// Which lock file is open; nil when there is none to be had.
  package var identity: FileIdentity? { place.existing?.file.identity }

  /// Why there is no queue at present, nil when there is one.
  package var degradedReason: String? { place.degradedReason }

  /// Why this process has no place in the queue though there is one, nil when it has.
  package var unlistedReason: String? {
    guard let membership = place.existing, membership.slot == nil else { return nil }
    return "All \(membership.file.slotCount) slots of the lock file \(path) are taken by living "
      + "processes. This one takes its chance for the write lease without a place in line, and "
      + "does not appear in reports."
  }

  /// Throws in a forked child and after closing.
  package func check() throws(CoordinationError) {
    try place.check()
  }

  /// Gives slot and locks up and closes the lock file.
  ///
  /// Doing so again does nothing.
  ///
  /// A thread that waits for the write lease gets `.closed`; an unfinished turn stays valid until
  /// it is finished.
  package func close() {
    place.close()
    writeLease.wakeWaiter()
  }
}
