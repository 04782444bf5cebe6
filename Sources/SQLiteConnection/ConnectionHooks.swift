internal import CSQLite

/// Keeps the closures that SQLite calls back alive as long as it may call them.
///
/// SQLite is given unretained pointers to these boxes; each is replaced only after SQLite was told
/// of its successor.
final class ConnectionHooks {
  var busy: Box<(Int) -> Bool>?
  var progress: Box<() -> Bool>?
  var progressInterval: Int32 = 0
  var preupdate: Box<any PreupdateObserver>?
  var writeAheadLog: Box<(Int) -> Void>?

  func removeAll() {
    busy = nil
    progress = nil
    preupdate = nil
    writeAheadLog = nil
  }

  /// A value with an address.
  final class Box<Value> {
    let value: Value

    init(_ value: Value) {
      self.value = value
    }

    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func value(of context: UnsafeMutableRawPointer?) -> Value? {
      guard let context else { return nil }
      return Unmanaged<Box<Value>>.fromOpaque(context).takeUnretainedValue().value
    }
  }
}

extension Connection {
  /// Sets what is asked when a lock is held by somebody else: `true` tries again.
  package func setBusyHandler(_ handler: ((_ attempts: Int) -> Bool)?) {
    guard let database = handle.database else { return }
    let box = handler.map { ConnectionHooks.Box($0) }
    if let box {
      sqlite3_busy_handler(
        database,
        { context, attempts in
          let handler = ConnectionHooks.Box<(Int) -> Bool>.value(of: context)
          return handler?(Int(attempts)) == true ? 1 : 0
        }, box.context)
    } else {
      sqlite3_busy_handler(database, nil, nil)
    }
    hooks.busy = box
  }

  /// Sets what is asked every so many operations of a statement: `true` interrupts it.
  package func setProgressHandler(everyOpcodes n: Int, _ handler: (() -> Bool)?) {
    guard handle.database != nil else { return }
    let former = hooks.progress
    hooks.progress = handler.map { ConnectionHooks.Box($0) }
    hooks.progressInterval = Int32(clamping: max(1, n))
    installProgressHandler()
    _ = former
  }

  private func installProgressHandler() {
    guard let database = handle.database else { return }
    guard let box = hooks.progress else {
      sqlite3_progress_handler(database, 0, nil, nil)
      return
    }
    sqlite3_progress_handler(
      database, hooks.progressInterval,
      { context in
        ConnectionHooks.Box<() -> Bool>.value(of: context)?() == true ? 1 : 0
      }, box.context)
  }

  /// Calls `body` while the progress handler is not asked, so that a rollback is never cut short.
  func withoutProgressHandler(_ body: () -> Void) {
    guard let database = handle.database else { return }
    sqlite3_progress_handler(database, 0, nil, nil)
    body()
    installProgressHandler()
  }

  /// Sets who decides whether a pragma may be compiled; a refusal makes `prepare` fail with `auth`.
  ///
  /// To look at `effects` afterwards would be too late: SQLite carries out many pragmas while it
  /// compiles them. Statements compiled before are not asked about.
  package func setPragmaPolicy(
    _ policy: ((_ lowercasedName: String, _ argument: String?) -> Bool)?
  ) {
    handle.recorder.pragmaPolicy = policy
  }

  /// Makes triggers whose names begin with `prefix` do nothing, as long as all they do is insert into `table`
  /// of the main database.
  ///
  /// Every insertion into the table is compiled to no code at all, with the query that feeds it, and what
  /// the triggers' conditions read is NULL. Set it before preparing anything.
  package func silenceTriggers(named prefix: String, insertingInto table: String) {
    flushStatementCache()
    handle.recorder.silenced = (
      ContiguousArray(prefix.utf8CString), ContiguousArray(table.utf8CString)
    )
  }

  /// Sets who is told of each row just before it changes.
  ///
  /// Statements compiled before that may delete all rows of a table in one go without a word, so
  /// the cache is emptied; set it before preparing anything.
  package func setPreupdateObserver(_ observer: (any PreupdateObserver)?) {
    guard let database = handle.database else { return }
    flushStatementCache()
    let box = observer.map { ConnectionHooks.Box($0) }
    if let box {
      _ = sqlite3_preupdate_hook(
        database,
        { context, database, operation, databaseName, tableName, oldRowID, newRowID in
          guard let context, let database, let databaseName, let tableName else { return }
          // The connection keeps the box until SQLite has another, so it need not be retained for each row.
          Unmanaged<ConnectionHooks.Box<any PreupdateObserver>>.fromOpaque(context)
            ._withUnsafeGuaranteedRef { box in
              box.value.willChange(
                PreupdateChange(
                  database: database, operation: operation, databaseNamePointer: databaseName,
                  tableNamePointer: tableName, oldRowID: oldRowID, newRowID: newRowID))
            }
        }, box.context)
    } else {
      _ = sqlite3_preupdate_hook(database, nil, nil)
    }
    hooks.preupdate = box
    handle.preupdateObserver = observer
  }

  /// Sets who is told, after each commit to the log of the main database, how many frames it has.
  package func setWriteAheadLogObserver(_ handler: ((_ frames: Int) -> Void)?) {
    guard let database = handle.database else { return }
    let box = handler.map { ConnectionHooks.Box($0) }
    if let box {
      _ = sqlite3_wal_hook(
        database,
        { context, _, databaseName, frames in
          guard let databaseName, String(cString: databaseName) == "main" else {
            return SQLITE_OK
          }
          ConnectionHooks.Box<(Int) -> Void>.value(of: context)?(Int(frames))
          return SQLITE_OK
        }, box.context)
    } else {
      _ = sqlite3_wal_hook(database, nil, nil)
    }
    hooks.writeAheadLog = box
  }
}
