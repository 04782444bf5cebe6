import Synchronization

/// A known bug that a stress test builds into the library, to see that its checks find it.
///
/// Debug builds only, like ``FaultPoint``: in a release build ``isOn`` is `false` for the compiler, too.
package enum Sabotage: String, Sendable, CaseIterable {
  /// Writers take no lease and begin deferred transactions; where SQLite refuses a statement since others
  /// have committed meanwhile, it is run again in a new transaction, on the strength of what the closure has
  /// read in the old one.
  case noLease
  /// UPDATE statements leave no trace in the change log.
  case updatesNotCaptured
  /// Others are told by the bell alone: nobody polls, or looks because of a commit of its own.
  case noPoll
  /// A write returns before its commit.
  case earlyAcknowledgement
  /// A live query forgets the changes that come while it reads.
  case staleValue
  /// The statements of a read do not share a snapshot.
  case tornRead
  /// The change log is pruned whoever still has to read it.
  case noPruneGuard
  /// The place of a durable consumer goes on when a change is delivered, and not when it is acknowledged.
  case earlyCursor
  /// A migration's statements commit one by one.
  case nonAtomicMigration
  /// The old key of secure values goes before what it sealed is committed under the new one.
  case hastyRotation
  /// A write is undone now and then, and told as done. The workers of the stress harness do it themselves, to
  /// those whom the library's own bugs would not reach.
  case undoneWrite
}

#if FAULT_POINTS
  private let chosen = Atomic(-1)

  extension Sabotage {
    /// Builds the bug in for the rest of the process's life.
    package static func turnOn(_ sabotage: Sabotage) {
      chosen.store(allCases.firstIndex(of: sabotage) ?? -1, ordering: .releasing)
    }

    /// Whether the bug is built in.
    package var isOn: Bool {
      let index = chosen.load(ordering: .acquiring)
      return index >= 0 && Self.allCases[index] == self
    }
  }
#else
  extension Sabotage {
    /// Does nothing in this build.
    package static func turnOn(_ sabotage: Sabotage) {}

    /// False in this build.
    @inline(__always)
    package var isOn: Bool { false }
  }
#endif
