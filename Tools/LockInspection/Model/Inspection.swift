/// What was found out about some databases at one moment.
///
/// The value behind every form of output. As JSON its names are those of the manual page, which promises
/// them: a member may be added, none is renamed or given another meaning without a new `version`.
package struct Inspection: Codable, Sendable, Equatable {
  /// The version of the JSON form.
  package static let formatVersion = 1

  package var version = Inspection.formatVersion
  /// When it was looked, as RFC 3339 in UTC.
  package var time: String
  /// The user who looked.
  package var user: String
  /// How long a wait may be, in seconds, before it counts as one too long.
  package var boundSeconds: Double
  /// The number that the program ends with: 0, 1 or 2.
  package var exitStatus: Int32 = 0
  package var databases: [DatabaseInspection] = []
  /// Who waits for whom, across all databases.
  package var waits: [Wait] = []
  /// Waits that lead back to where they began, each as the processes on the way.
  package var cycles: [[ProcessReference]] = []
  /// What could not be seen of the machine as a whole, and why.
  package var unseen: [Unseen] = []

  /// Makes an inspection without a database.
  package init(time: String, user: String, boundSeconds: Double) {
    self.time = time
    self.user = user
    self.boundSeconds = boundSeconds
  }
}

/// All that was found out about one database.
package struct DatabaseInspection: Codable, Sendable, Equatable {
  /// The database file, links resolved.
  package var path: String
  package var isThere = false
  package var databaseBytes: Int64 = 0
  package var journalMode = JournalMode.unknown
  package var lockFile: LockFileFacts
  package var processes: [ProcessFacts] = []
  /// The write lease's holder, nil while it is free.
  package var writeLease: LeaseFacts?
  /// The migration lease's holder, nil while it is free.
  package var migrationLease: LeaseFacts?
  /// Who waits for the write lease, first in line first.
  package var queue: [QueueEntry] = []
  /// Slots of processes that died without giving them up.
  package var leftovers: [Leftover] = []
  /// The locks that SQLite itself takes.
  package var sqliteLocks: [SQLiteLockFacts] = []
  package var log: LogFacts?
  package var changes: ChangeFacts?
  package var findings: [Finding] = []
  /// What could not be seen, and why.
  package var unseen: [Unseen] = []

  /// Makes facts about a database of which nothing is known yet.
  package init(path: String, lockFile: LockFileFacts) {
    self.path = path
    self.lockFile = lockFile
  }

  /// How many processes have it open; one may have it open several times.
  package var processCount: Int { Set(processes.map(\.reference.key)).count }

  /// How the database keeps what is not committed.
  package enum JournalMode: String, Codable, Sendable, CaseIterable {
    case wal
    case rollback
    case unknown
  }
}

/// The lock file as a file.
package struct LockFileFacts: Codable, Sendable, Equatable {
  package var path: String
  package var condition: Condition
  /// Why it is of no use, in a sentence.
  package var problem: String?
  package var slotCount = 0
  /// How often the bell was rung.
  package var commitCounter: UInt64 = 0

  /// Makes facts about a lock file.
  package init(path: String, condition: Condition) {
    self.path = path
    self.condition = condition
  }

  /// What can be said of the file.
  package enum Condition: String, Codable, Sendable, CaseIterable {
    case good
    case missing
    case unreadable
    case notRegular = "not_regular"
    case damaged
    case otherVersion = "other_version"
    /// Processes use a lock file that is not at its path any more.
    case replaced
  }
}

/// Something that could not be seen.
package struct Unseen: Codable, Sendable, Equatable, Hashable {
  /// What.
  package var what: String
  /// Why not.
  package var why: String

  /// Makes a remark.
  package init(_ what: String, why: String) {
    self.what = what
    self.why = why
  }
}
