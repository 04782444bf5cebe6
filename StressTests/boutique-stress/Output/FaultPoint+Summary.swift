import FaultPoints

extension FaultPoint {
  /// When a process comes there, in a line for lists; nothing for one that has no line yet.
  var summary: String { Self.summaries[self] ?? "" }

  private static let summaries: [FaultPoint: String] = [
    .beforeLease: "the lease is asked for, and not yet had",
    .afterLease: "the lease is had, and nothing done with it",
    .afterBegin: "BEGIN IMMEDIATE has succeeded",
    .beforeCommit: "everything is written, COMMIT comes next",
    .betweenCommitAndBell: "the commit is visible, the bell has not been rung",
    .beforeAcknowledgement: "the bell has been rung, the caller does not know yet",
    .beforeRelease: "the lease is about to be given back",
    .duringRelease: "the lease is given back, the next in line may not be awake",
    .inMigration: "in a migration's transaction, after its body",
    .beforeCheckpoint: "before a checkpoint",
    .afterCheckpoint: "after a checkpoint, nothing noted of it",
    .inPruning: "in the transaction that prunes the change log, after the deletion",
    .inAdoption: "in the transaction that takes over what foreign programs have committed",
    .inConsumerAcknowledgement: "in the transaction that notes how far a durable consumer is",
    .inKeyRotation: "the key file has both keys, nothing is sealed anew yet",
    .beforeKeyRotationEnds: "everything is sealed anew, the old key is still in the file",
    .makingLockFile: "the lock file is zeroed, and has no header yet",
    .inOpening: "an opener has the migration lease, and has done nothing with it",
    .beforeDelivery: "a durable consumer is about to be given a change",
  ]
}
