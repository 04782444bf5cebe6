import LockInspection

extension LockFileFacts.Condition {
  /// The condition in words.
  var words: String {
    switch self {
    case .good: "good"
    case .missing: "missing"
    case .unreadable: "not to be read by this user"
    case .notRegular: "not a regular file"
    case .damaged: "damaged; the next writer makes it good"
    case .otherVersion: "of another version of the library"
    case .replaced: "deleted or replaced while in use"
    }
  }
}

extension ProcessFacts.Role {
  /// The role in words, in place of a label.
  var words: String {
    switch self {
    case .member: "member"
    case .unlisted: "(no slot)"
    case .forked: "(forked child)"
    case .foreign: "(foreign)"
    }
  }
}

extension SQLiteLockFacts {
  /// The lock's place in the table: the log's locks first, by number.
  var rank: Int { 8 * (Name.allCases.firstIndex(of: name) ?? 0) + (mark ?? 0) }

  /// The lock's name in words.
  var words: String {
    switch name {
    case .write: "WAL write"
    case .checkpoint: "WAL checkpoint"
    case .recover: "WAL recover"
    case .readMark: "WAL read mark \(mark ?? 0)"
    case .attached: "WAL attached"
    case .pending: "file pending"
    case .reserved: "file reserved"
    case .shared: "file shared"
    }
  }
}

extension Finding.Kind {
  /// The finding in a few words, for a headline.
  var words: String {
    switch self {
    case .stoppedHolder: "the holder of a lease is stopped"
    case .zombieHolder: "the holder of a lease is a zombie"
    case .longHolder: "a lease is held for long"
    case .unknownHolder: "the holder of a lease cannot be seen"
    case .forkedHolder: "a forked child shares a lease"
    case .foreignWriter, .rollbackWriter: "a foreign writer is in the way"
    case .foreignCheckpoint: "a foreign program checkpoints"
    case .readerHoldsLogBack: "a reader holds the log back"
    case .longWait: "somebody waits too long"
    case .stoppedWaiter: "a waiter is stopped"
    case .cycle: "processes wait in a ring"
    case .leftovers: "dead processes left slots"
    case .slotTableFull: "all slots are taken"
    case .lockFileMissing: "there is no lock file"
    case .lockFileDamaged: "the lock file is damaged"
    case .lockFileReplaced: "the lock file was deleted or replaced"
    case .lockFileUnusable: "the lock file cannot be used"
    case .databaseReplaced: "the database file was deleted"
    case .consumerBehind: "a consumer is far behind"
    case .notInUse: "nobody uses it through this library"
    }
  }
}
