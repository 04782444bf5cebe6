internal import CSQLite

/// How much a checkpoint insists.
package enum CheckpointMode: Sendable {
  /// Copies what it can without waiting for anybody.
  case passive
  /// Waits for writers and old readers, and copies everything.
  case full
  /// The same, and waits until the next writer can start the log anew.
  case restart
  /// The same, and cuts the log to nothing.
  case truncate

  var rawMode: Int32 {
    switch self {
    case .passive: SQLITE_CHECKPOINT_PASSIVE
    case .full: SQLITE_CHECKPOINT_FULL
    case .restart: SQLITE_CHECKPOINT_RESTART
    case .truncate: SQLITE_CHECKPOINT_TRUNCATE
    }
  }
}

/// What a checkpoint did.
package struct CheckpointResult: Sendable, Equatable {
  /// Frames in the log; zero when there is no log or it is not known.
  package var walFrames: Int
  /// Frames copied into the database, by this checkpoint or before.
  package var checkpointedFrames: Int
  /// Whether somebody was in the way.
  package var busy: Bool

  /// Describes what a checkpoint did.
  package init(walFrames: Int, checkpointedFrames: Int, busy: Bool) {
    self.walFrames = walFrames
    self.checkpointedFrames = checkpointedFrames
    self.busy = busy
  }
}

extension Connection {
  /// Copies frames of the log into the main database.
  ///
  /// Being held up is a result and not an error. Modes beyond passive ask the busy handler.
  package func checkpoint(_ mode: CheckpointMode) throws(SQLiteError) -> CheckpointResult {
    let database = try openDatabase()
    var frames: Int32 = -1
    var checkpointed: Int32 = -1
    let code = sqlite3_wal_checkpoint_v2(
      database, "main", mode.rawMode, &frames, &checkpointed)
    guard code == SQLITE_OK || code & 0xff == SQLITE_BUSY else {
      throw SQLiteError(code, on: database, path: path)
    }
    return CheckpointResult(
      walFrames: max(0, Int(frames)), checkpointedFrames: max(0, Int(checkpointed)),
      busy: code != SQLITE_OK)
  }

  /// Sets to what size the log is cut when it starts anew; negative for no limit.
  package func setJournalSizeLimit(_ bytes: Int64) throws(SQLiteError) {
    try executeUncached("PRAGMA journal_size_limit = \(bytes)")
  }
}
