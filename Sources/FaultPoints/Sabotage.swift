import Synchronization

/// A known bug that a stress test builds into the library, to see that its checks find it.
///
/// Debug builds only, like ``FaultPoint``: in a release build ``isOn`` is `false` for the compiler, too.
package enum Sabotage: String, Sendable, CaseIterable {
  /// Writers take no lease and begin deferred transactions, and go on with what they had read when SQLite
  /// refuses the upgrade.
  case noLease
  /// UPDATE statements leave no trace in the change log.
  case updatesNotCaptured
  /// Others are told by the bell alone: nobody polls.
  case noPoll
  /// A write returns before its commit.
  case earlyAcknowledgement
  /// A live query keeps the value it had, now and then.
  case staleValue
  /// The change log is pruned whoever still has to read it.
  case noPruneGuard
  /// A migration's statements commit one by one.
  case nonAtomicMigration
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
