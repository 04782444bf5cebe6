internal import CSQLite

/// A compiled statement.
///
/// Not `Sendable`: it is used on the thread that uses its connection at the moment, and nowhere
/// else. Once the connection is closed every use is an error or reads as NULL.
///
/// `reset()` gives a cached statement back. Its holder may use it again as long as nobody else has
/// prepared the same text in between.
package final class PreparedStatement {
  /// Where a statement is between `reset()` and the end of its rows.
  private enum State {
    /// In the cache, or thrown away by nobody yet: free for the next `prepare`.
    case idle
    /// Handed out, perhaps with parameters, not stepped.
    case ready
    /// On a row.
    case row
    /// After the last row; another step would silently run the statement again.
    case done
  }

  /// The text it was compiled from.
  package let sql: String
  /// Whether it leaves the content of the database alone (`sqlite3_stmt_readonly`).
  package let isReadOnly: Bool
  /// Whether its text has the word ROLLBACK: it may end the transaction, or make something that does.
  package let mentionsRollback: Bool
  /// Whether its text makes, alters or drops something of the schema, be it that it found nothing to do.
  let isDefinition: Bool
  /// How many parameters it has.
  package let parameterCount: Int
  /// The tables and columns it reads, as of its last compilation.
  package private(set) var readSet: ReadSet
  /// What it does beyond reading, as of its last compilation.
  package private(set) var effects: StatementEffects {
    didSet {
      isApproved = false
      plain = effects.isPlain
    }
  }
  /// Whether it only reads and writes rows; the same as `effects.isPlain` without a copy of them all.
  package var isPlain: Bool { plain }
  /// Whether the connection's user has looked at the effects and found nothing to do about them; forgotten when
  /// they change.
  package var isApproved: Bool {
    get { approved }
    set { approved = newValue }
  }
  // Private, since the compiler checks each access for overlaps where it does not see all of them.
  private var plain: Bool
  private var approved = false

  let handle: ConnectionHandle
  /// `nil` once the connection is closed; SQLite's functions then answer with misuse or NULL.
  private(set) var pointer: OpaquePointer?
  private var state = State.ready
  private var reprepareCount: Int32 = 0
  /// Where the observer of changes stood when this run began; nil when nobody has to hear of its failure.
  private var mark: StatementMark?
  var cachedColumnNames: [String]?
  /// The columns of the current row, see `readRow`.
  var row: UnsafeMutableBufferPointer<UInt64>?
  /// What became too small for a row; it stays until the end, since somebody may still look at it.
  var outgrownRows: [UnsafeMutableBufferPointer<UInt64>] = []
  /// Where the values of its parameters are while they are bound, see `ParameterMemory`.
  var parameters = ParameterMemory()
  /// When the cache handed it out last; only the cache writes it.
  var lastUse: UInt64 = 0

  init(
    _ pointer: OpaquePointer, _ compilation: Compilation, sql: String, handle: ConnectionHandle
  ) {
    self.pointer = pointer
    self.sql = sql
    self.handle = handle
    isReadOnly = sqlite3_stmt_readonly(pointer) != 0
    mentionsRollback = ConflictText.mentionsRollback(sql)
    isDefinition = SQLText.isDefinition(sql)
    parameterCount = Int(sqlite3_bind_parameter_count(pointer))
    readSet = compilation.readSet
    effects = compilation.effects
    plain = compilation.effects.isPlain
    handle.insert(self)
  }

  deinit {
    for buffer in outgrownRows { buffer.deallocate() }
    row?.deallocate()
    defer { parameters.deallocate() }
    guard let pointer else { return }
    sqlite3_finalize(pointer)
    handle.remove(self)
  }

  /// Whether somebody has it: prepared, bound or stepped since the last reset.
  package var isInUse: Bool { state != .idle }

  /// Whether it has been stepped and not reset, and therefore holds its snapshot.
  package var isBusy: Bool {
    guard let pointer else { return false }
    return sqlite3_stmt_busy(pointer) != 0
  }

  func markInUse() {
    if state == .idle { state = .ready }
  }

  func invalidate(finalizing: Bool) {
    if finalizing { sqlite3_finalize(pointer) }
    pointer = nil
    state = .idle
  }

  // MARK: Running

  /// Goes to the next row and returns whether there is one.
  ///
  /// After the last row it keeps returning `false` until `reset()`. On an error it resets itself.
  package func step() throws(SQLiteError) -> Bool {
    switch state {
    case .row:
      forgetRow()
      let code = sqlite3_step(pointer)
      if code == SQLITE_ROW { return true }
      if code != SQLITE_DONE { throw failure(code) }
      state = .done
      return false
    case .idle, .ready:
      return try firstStep()
    case .done:
      return false
    }
  }

  /// Steps to the end, then resets.
  package func run() throws(SQLiteError) {
    while try step() {}
    reset()
  }

  /// Resets, clears the parameters, and gives the statement back to the cache.
  package func reset() {
    guard state != .idle else { return }
    state = .idle
    resetPointer()
  }

  /// Resets and clears the parameters, and keeps the statement: the cache hands it to nobody else.
  package func rewind() {
    guard pointer != nil else { return }
    resetPointer()
    state = .ready
  }

  /// Whether it was compiled from this text, byte by byte.
  func hasText(_ text: String) -> Bool { ByteExactString(sql) == ByteExactString(text) }

  private func resetPointer() {
    mark = nil
    forgetRow()
    guard let pointer else { return }
    sqlite3_reset(pointer)
    guard parameterCount > 0 else { return }
    sqlite3_clear_bindings(pointer)
    if parameters.isLarge { parameters.deallocate() }
  }

  /// The step that may find a changed schema and compile the statement anew.
  private func firstStep() throws(SQLiteError) -> Bool {
    mark = isReadOnly ? nil : handle.preupdateObserver?.statementWillBegin()
    let code = sqlite3_step(pointer)
    switch code {
    case SQLITE_ROW: state = .row
    case SQLITE_DONE: state = .done
    default: throw failure(code)
    }
    refreshAfterReprepare()
    return code == SQLITE_ROW
  }

  /// Takes over what a changed schema has changed.
  ///
  /// What the authorizer heard during the step is no help: virtual tables compile statements of
  /// their own while they run.
  private func refreshAfterReprepare() {
    let count = sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
    guard count != reprepareCount else { return }
    reprepareCount = count
    cachedColumnNames = nil
    guard let (readSet, effects) = handle.analyze(sql) else { return }
    self.readSet = readSet
    self.effects = effects
  }

  private func failure(_ code: Int32) -> SQLiteError {
    let error = misuseOrError(code)
    let keepsRows = handle.database.map { sqlite3_changes64($0) > 0 } ?? false
    let mark = mark
    state = .ready
    reset()
    // Only now, since the observer may look something up. When the transaction is over too, all is undone.
    if let mark, let database = handle.database, sqlite3_get_autocommit(database) == 0 {
      handle.preupdateObserver?.statementDidFail(
        StatementFailure(mark: mark, keepsRows: keepsRows, sql: sql))
    }
    return error
  }

  func misuseOrError(_ code: Int32) -> SQLiteError {
    guard pointer != nil else { return .closed(path: handle.path, sql: sql) }
    return SQLiteError(code, on: handle.database, sql: sql, path: handle.path)
  }
}

@available(*, unavailable, message: "A statement belongs to the thread of its connection.")
extension PreparedStatement: Sendable {}
