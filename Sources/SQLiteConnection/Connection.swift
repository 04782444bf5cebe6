internal import CSQLite

/// One open database connection, used by one thread at a time.
///
/// Not `Sendable`: SQLite is opened without its own mutex, so whoever holds the connection keeps
/// it on one thread or behind one executor. Only `interruption` may be used from anywhere.
package final class Connection {
  /// The path as given; `:memory:` is a private database in memory.
  package let path: String
  /// How it was opened.
  package let options: ConnectionOptions
  /// A handle with which other threads interrupt this connection.
  package let interruption: Interruption

  let handle: ConnectionHandle
  var cache: StatementCache
  let hooks = ConnectionHooks()
  /// Where the rollback journal is in memory, to tell whether the log is open (see the C shim).
  let rollbackJournal: UnsafeMutableRawPointer?

  /// Opens a database and hardens the connection.
  ///
  /// Defensive mode on, schema not trusted, double-quoted strings refused, extensions not
  /// loadable, no memory map, no automatic checkpoint, none at close.
  package init(
    path: String, options: ConnectionOptions = ConnectionOptions()
  ) throws(SQLiteError) {
    let database = try Self.open(path, access: options.access)
    self.path = path
    self.options = options
    handle = ConnectionHandle(database: database, path: path)
    cache = StatementCache(capacity: options.statementCacheCapacity)
    interruption = Interruption(database)
    // Asked before the first statement, while the log cannot be open yet.
    rollbackJournal = boutique_sqlite_journal_file(database)
    do throws(SQLiteError) {
      try harden(database)
    } catch {
      close()
      throw error
    }
  }

  deinit {
    close()
  }

  /// Whether the connection can be used: neither closed nor abandoned.
  package var isOpen: Bool { handle.database != nil }

  /// Whether closing the last connection of the file checkpoints and removes the log.
  ///
  /// Off unless set, since a checkpoint must not run beside writers (see the design).
  package var checkpointsOnClose: Bool {
    get {
      guard let database = handle.database else { return false }
      return boutique_sqlite_setting(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, -1) == 0
    }
    set {
      guard let database = handle.database else { return }
      _ = boutique_sqlite_setting(
        database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, newValue ? 0 : 1)
    }
  }

  /// Closes the connection and rolls back an open transaction.
  ///
  /// A second call does nothing. The order:
  /// 1. Nobody can interrupt any more. 2. Our statements are finalized. 3. SQLite closes, which
  /// also finalizes the statements of virtual tables. 4. Our closures go.
  package func close() {
    interruption.connectionWillClose()
    cache.removeAll()
    guard let database = handle.detach(finalizing: true) else { return }
    if sqlite3_close(database) != SQLITE_OK {
      // Virtual tables are disconnected by now, so what is left is nobody's.
      while let statement = sqlite3_next_stmt(database, nil) { sqlite3_finalize(statement) }
      sqlite3_close_v2(database)
    }
    hooks.removeAll()
  }

  /// Forgets the connection without closing it, for the child of a fork.
  ///
  /// Closing there would drop the parent's locks. The memory and the descriptors leak on purpose;
  /// SQLite is never called again for them.
  package func abandon() {
    interruption.connectionWasAbandoned()
    // The pointers go first: a statement that dies with one finalizes itself.
    _ = handle.detach(finalizing: false)
    cache.removeAll()
  }

  // MARK: State

  /// Whether a transaction or savepoint is open.
  package var isInTransaction: Bool {
    guard let database = handle.database else { return false }
    return sqlite3_get_autocommit(database) == 0
  }

  /// Whether the open transaction has violated foreign keys that are checked at its end.
  package var hasDeferredViolations: Bool {
    guard let database = handle.database else { return false }
    var count: Int32 = 0
    var highest: Int32 = 0
    sqlite3_db_status(database, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &highest, 0)
    return count > 0
  }

  /// How many rows the last statement changed.
  package var changes: Int64 {
    guard let database = handle.database else { return 0 }
    return sqlite3_changes64(database)
  }

  /// How many rows were changed since the connection was opened.
  package var totalChanges: Int64 {
    guard let database = handle.database else { return 0 }
    return sqlite3_total_changes64(database)
  }

  /// The row id of the last row inserted.
  package var lastInsertedRowID: Int64 {
    guard let database = handle.database else { return 0 }
    return sqlite3_last_insert_rowid(database)
  }

  func openDatabase(_ sql: String? = nil) throws(SQLiteError) -> OpaquePointer {
    guard let database = handle.database else { throw .closed(path: path, sql: sql) }
    return database
  }
}

@available(*, unavailable, message: "A connection is used by one thread at a time.")
extension Connection: Sendable {}
