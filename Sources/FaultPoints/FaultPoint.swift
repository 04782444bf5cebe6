import Synchronization

/// A named place in the library where a stress test may end, stop or delay the process.
///
/// Debug builds only: in a release build ``reach(_:)`` is empty, and nothing of this is in the code. Even in
/// a debug build a place does nothing until a program installs a handler, which only the stress harness does.
package enum FaultPoint: String, Sendable, CaseIterable {
  /// The lease is asked for, and not yet had.
  case beforeLease
  /// The lease is had, and nothing done with it.
  case afterLease
  /// `BEGIN IMMEDIATE` has succeeded.
  case afterBegin
  /// Everything is written; `COMMIT` comes next.
  case beforeCommit
  /// The commit is visible to others; the bell has not been rung.
  case betweenCommitAndBell
  /// The bell has been rung; the caller does not know yet that its write is done.
  case beforeAcknowledgement
  /// The lease is about to be given back.
  case beforeRelease
  /// The lease is given back; the next in line may not have been woken.
  case duringRelease
  /// In a migration's transaction, after its body.
  case inMigration
  /// Before a checkpoint is begun.
  case beforeCheckpoint
  /// A checkpoint has ended, and nothing been noted of it.
  case afterCheckpoint
  /// In the transaction that prunes the change log, after the deletion.
  case inPruning
  /// In the transaction that takes over what foreign programs have committed.
  case inAdoption
  /// In the transaction that notes how far a durable consumer has come.
  case inConsumerAcknowledgement
  /// The key file has the old key and the new one; nothing is sealed anew yet.
  case inKeyRotation
  /// Everything is sealed with the new key; the old one is still in the file.
  case beforeKeyRotationEnds
  /// The lock file is zeroed, and has no header yet.
  case makingLockFile
  /// An opener has the migration lease, and has done nothing with it.
  case inOpening
  /// A durable consumer is about to be given a change, and has not dealt with it yet.
  case beforeDelivery
}

#if FAULT_POINTS
  /// Whether this build has fault points.
  package let hasFaultPoints = true

  // The lock guards the handler.
  private let installed = Mutex<(@Sendable (FaultPoint) -> Void)?>(nil)
  private let isInstalled = Atomic(false)

  extension FaultPoint {
    /// Sets what happens at each place, on the thread that reaches it.
    package static func install(_ handler: @escaping @Sendable (FaultPoint) -> Void) {
      installed.withLock { $0 = handler }
      isInstalled.store(true, ordering: .releasing)
    }

    /// Says that the calling thread has come to the place.
    package static func reach(_ point: FaultPoint) {
      guard isInstalled.load(ordering: .acquiring) else { return }
      installed.withLock { $0 }?(point)
    }
  }
#else
  /// Whether this build has fault points.
  package let hasFaultPoints = false

  extension FaultPoint {
    /// Does nothing in this build.
    package static func install(_ handler: @escaping @Sendable (FaultPoint) -> Void) {}

    /// Does nothing in this build.
    @inline(__always)
    package static func reach(_ point: FaultPoint) {}
  }
#endif
