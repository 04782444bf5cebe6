import Glibc

/// How long the statements of one connection may wait for others, and whether they must stop.
///
/// SQLite asks here while it waits for a lock and, every so many steps of its machine, while it works.
/// `sqlite3_interrupt` alone would not do: it stops what runs, but not a statement that begins a moment
/// later, and not a wait. Confined to the connection's thread, but for the flag, which is made for it.
final class StatementLimits {
  /// Every how many steps of SQLite's machine the flag is looked at; some tens of microseconds.
  static let interval = 4000

  /// How long the next wait for a lock lasts at most.
  var wait: Duration
  /// What is known of the schema by this connection.
  let schema = SchemaObjects()
  /// Whose work runs now.
  var cancellation: CancellationFlag?
  /// Whether the transaction is shared with others' work, which an interruption must not end.
  var isShared = false
  /// Whether a statement that writes is under way; asked only where the transaction is shared.
  var isWriting: () -> Bool = { false }
  private var deadline = MonotonicTime.now()

  init(wait: Duration) { self.wait = wait }

  /// The busy handler: short constant sleeps with jitter until a deadline by the clock.
  ///
  /// Growing sleeps starve whoever has waited longest, and a count of attempts is not a time. Our own
  /// processes meet at the lease; this is for programs that do not know it.
  func keepsWaiting(attempts: Int) -> Bool {
    if attempts == 0 { deadline = .now().advanced(by: wait) }
    guard cancellation?.mustStop != true, MonotonicTime.now() < deadline else { return false }
    // There is nothing to wait on: SQLite's locks wake nobody. At first below SQLite's own shortest
    // step, so that a short hold is passed on quickly.
    usleep(attempts < 20 ? UInt32.random(in: 50...150) : UInt32.random(in: 500...1500))
    return true
  }

  /// The progress handler.
  ///
  /// SQLite answers the interruption of a statement that writes by rolling back the whole transaction
  /// (SQLite, `sqlite3_interrupt`). Where others share it such a statement is let come to its end.
  func mustStop() -> Bool {
    guard cancellation?.mustStop == true else { return false }
    return !isShared || !isWriting()
  }
}
