/// A transaction that takes the write lock before anything is decided.
package struct ImmediateTransaction {
  /// Begins it; `busy` when the busy handler gave up.
  package static func begin(on connection: Connection) throws(SQLiteError) {
    do {
      try connection.execute("BEGIN IMMEDIATE")
    } catch {
      // Interrupted, it may have begun all the same. A transaction that was there before is not ours.
      if error.code.primary == .interrupt { rollback(on: connection) }
      throw error
    }
  }

  /// Commits it.
  ///
  /// After an error ask `isInTransaction`: a full disk has ended the transaction, a violated
  /// deferred constraint has not.
  package static func commit(on connection: Connection) throws(SQLiteError) {
    try connection.execute("COMMIT")
  }

  /// Rolls back whatever transaction is open; nothing when SQLite has already done so.
  ///
  /// Statements under way are reset first, and the progress handler is not asked meanwhile, so
  /// that a cancellation cannot keep the transaction open.
  package static func rollback(on connection: Connection) {
    guard connection.isInTransaction else { return }
    connection.resetBusyStatements()
    connection.withoutProgressHandler {
      // An interruption that came while a statement was under way also hits the next one.
      for _ in 0..<3 {
        try? connection.execute("ROLLBACK")
        if !connection.isInTransaction { return }
      }
    }
  }
}
