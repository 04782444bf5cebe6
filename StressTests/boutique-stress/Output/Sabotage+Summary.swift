import FaultPoints

extension Sabotage {
  /// What the bug is, in a line for lists; nothing for one that has no line yet.
  var summary: String { Self.summaries[rawValue] ?? "" }

  private static let summaries: [String: String] = [
    "noLease": "writers take no lease and begin deferred transactions",
    "updatesNotCaptured": "UPDATE statements leave no trace in the change log",
    "noPoll": "others are told by the bell alone: nobody polls",
    "earlyAcknowledgement": "a write returns before its commit",
    "staleValue": "a live query keeps a value that is out of date",
    "tornRead": "the statements of a read do not share a snapshot",
    "noPruneGuard": "the change log is pruned whoever still has to read it",
    "earlyCursor":
      "a durable consumer goes on when a change is delivered, not when it is acknowledged",
    "nonAtomicMigration": "a migration's statements commit one by one",
    "hastyRotation": "the old key of secure values goes before the new one is committed",
    "undoneWrite":
      "a write is undone now and then, and told as done (in the harness's own workers)",
  ]
}
