import Synchronization

/// What the bell's thread has to know of a commit that this process is making, so that it does not wake the
/// observing thread for it.
///
/// For: the process that commits watches the files like any other, and each of its commits writes to the log
/// several times and rings. The observing thread would look each time, find nothing that the writer thread does
/// not tell in the same moment, and take a processor from those who are to hear of it.
///
/// Why nothing is lost:
///  1. While the frames are written SQLite's write lock is held, so nobody else writes frames. An event of a
///     foreign commit before that may come late and be passed over; but then our commit does not join on to what
///     observers were told last, and the hub has the thread look (`ChangeHub.publish`). When the commit fails the
///     thread is woken after all.
///  2. A bell is rung when its commit is visible. One that comes before our commit has been told is kept in
///     mind, and answered by a look when somebody else has committed as well by then.
package struct OwnCommit: ~Copyable, Sendable {
  private static let writes: UInt8 = 1
  private static let isUntold: UInt8 = 2
  private static let rang: UInt8 = 4

  private let word = Atomic<UInt8>(0)

  /// Begins with no commit under way.
  package init() {}

  /// The frames are about to be written; the write lock is held.
  package func begin() {
    // A bell that was rung during one before, of which nobody was told, stays in mind.
    word.bitwiseOr(Self.writes | Self.isUntold, ordering: .sequentiallyConsistent)
  }

  /// The frames are written.
  package func didWrite() { word.bitwiseAnd(~Self.writes, ordering: .sequentiallyConsistent) }

  /// Observers have been told.
  ///
  /// - Returns: whether a bell was rung meanwhile.
  package func didTell() -> Bool {
    guard word.load(ordering: .relaxed) != 0 else { return false }
    return word.exchange(0, ordering: .sequentiallyConsistent) & Self.rang != 0
  }

  /// Whether a write to the log that is seen now is ours.
  package var explainsWriting: Bool {
    word.load(ordering: .sequentiallyConsistent) & Self.writes != 0
  }

  /// Keeps in mind that the bell was rung.
  ///
  /// - Returns: false when no commit of ours is under way.
  package func noteBell() -> Bool {
    var now = word.load(ordering: .sequentiallyConsistent)
    while now != 0 {
      let (isDone, other) = word.weakCompareExchange(
        expected: now, desired: now | Self.rang, ordering: .sequentiallyConsistent)
      if isDone { return true }
      now = other
    }
    return false
  }
}
