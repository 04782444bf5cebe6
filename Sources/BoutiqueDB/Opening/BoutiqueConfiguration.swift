import Foundation

/// How a database is opened and how its process behaves among the others.
public struct BoutiqueConfiguration: Sendable {
  /// How much SQLite makes sure of before a commit is acknowledged (`PRAGMA synchronous`).
  public enum Synchronous: String, Sendable, Codable {
    /// Never waits for the disk. A power cut can corrupt the file; a killed process cannot.
    case off
    /// Waits at checkpoints. A power cut can undo the last commits but never corrupts.
    case normal
    /// Waits at every commit. An acknowledged commit survives a power cut.
    case full
    /// As ``full``; also syncs the directory where a rollback journal is used.
    case extra
  }

  /// Who may open the files that the library makes.
  public enum FilePermissions: Sendable {
    /// The owner only (mode 0600).
    case owner
    /// The owner and the file's group (mode 0660), whatever the umask. Make the directory set-group-id
    /// so that all files get its group.
    case group

    var mode: UInt32 { self == .owner ? 0o600 : 0o660 }
  }

  /// How commits of programs that do not use this library are described to observers.
  public enum ForeignCapture: Sendable {
    /// Any such commit refreshes everything, unless the database is set to ``precise`` already: the setting
    /// is the database's, and ``BoutiqueDB/setForeignCapture(_:tables:)`` takes it back.
    case coarse
    /// Triggers of ours in the schema tell which rows such a commit changed.
    ///
    /// What they cannot see (a change of the schema, a virtual table) still refreshes everything. So does a
    /// commit that could not be put into the change log within a tenth of ``writeLockTimeout``.
    case precise
  }

  /// How much of the change log is kept.
  public struct Retention: Sendable, Equatable {
    /// The number of newest commits that are kept at most.
    public var rows: Int
    /// The age beyond which a commit's record may go.
    public var age: Duration
    /// The number of commits past which a record goes even if a durable consumer has not acknowledged it.
    public var hardRows: Int

    /// Creates a retention; a record goes when it is beyond `rows` or older than `age`, and no durable
    /// consumer waits for it, or when it is beyond `hardRows`.
    public init(rows: Int, age: Duration, hardRows: Int = 1_000_000) {
      self.rows = rows
      self.age = age
      self.hardRows = hardRows
    }
  }

  /// Whether other processes may have the database open at the same time.
  ///
  /// False skips the lock file, inotify and polling; two processes must then not share the file.
  public var multiProcess = true
  /// How long a change of another process can go unseen at most while somebody observes.
  ///
  /// Bells bring it within milliseconds; the poll is what holds when a bell is lost.
  public var cdcPollInterval: Duration = .milliseconds(250)
  /// What error messages, `status()` and lock tools call this process.
  public var label: String
  /// How long a write waits for its turn before ``BoutiqueError/lockTimeout(_:)``.
  public var writeLockTimeout: Duration = .seconds(10)
  /// How long opening waits while another process prepares or migrates the file.
  public var migrationTimeout: Duration = .seconds(60)
  /// How many reads run at the same time, each on a connection and a thread of its own.
  public var readerCount = 4
  /// What a commit waits for.
  public var synchronous: Synchronous = .normal
  /// The mode of the files made.
  public var filePermissions: FilePermissions = .owner
  /// How foreign commits are described.
  public var foreignCapture: ForeignCapture = .coarse
  /// The tables that ``ForeignCapture/precise`` is for, added to those that the database has already; nil
  /// for all.
  ///
  /// A foreign commit that is described precisely counts the other tables as wholly changed.
  public var preciseTables: Set<String>?
  /// How much of the change log is kept.
  public var cdcRetention = Retention(rows: 100_000, age: .seconds(3600))
  /// How long a durable consumer may stay away before it is forgotten and its records may go.
  public var consumerExpiry: Duration = .seconds(7 * 86_400)
  /// What the change log keeps of changed rows, by table; other tables keep the mode that the database has
  /// for them, at first ``CaptureMode/id``.
  public var captureModes: [String: CaptureMode] = [:]
  /// How many changed rows of one table a commit names one by one; beyond, the table counts as wholly
  /// changed.
  ///
  /// Tables that keep whole rows (``captureModes``) are bounded by ``captureByteLimit`` instead.
  public var captureRowLimit = 1000
  /// How many bytes of whole rows one commit keeps at most; a table whose rows do not fit counts as wholly
  /// changed.
  ///
  /// They are kept in memory until the commit, each change with 256 bytes more.
  public var captureByteLimit = 64 << 20
  /// Whether inotify rings the bell.
  ///
  /// False leaves the poll alone, for file systems whose events are known to be deaf.
  public var usesInotify = true
  /// Opens for reading and observing only.
  ///
  /// Nothing is created, and no write is possible.
  public var readOnly = false
  /// Makes the file when it is missing.
  ///
  /// False throws ``BoutiqueError/fileMissing(path:)``.
  public var createIfMissing = true
  /// Enforces foreign keys (`PRAGMA foreign_keys`).
  public var foreignKeys = true
  /// How long a process keeps the write lease while it has more writes waiting and others wait too.
  public var leaseQuantum: Duration = .milliseconds(1)
  /// How many waiting writes of this process share one commit at most; 1 gives each its own.
  public var groupCommitLimit = 64
  /// How long a background write lets normal ones go first, in this process and others; from then on it
  /// is one of them.
  public var backgroundWriteAging: Duration = .seconds(1)
  /// How long a lease may be held, by whomever, before ``eventHandler`` is told.
  public var longHoldWarning: Duration = .seconds(5)
  /// Is told what an operator should know; called on a thread of the library, must return soon.
  public var eventHandler: (@Sendable (BoutiqueEvent) -> Void)?
  /// The size of the write-ahead log, in bytes, past which it is truncated when no reader needs it.
  public var writeAheadLogBound: Int64 = 16 << 20
  /// SQL functions that every connection offers.
  public var functions: [BoutiqueFunction] = []
  /// Collations that every connection offers.
  public var collations: [BoutiqueCollation] = []

  /// Creates the default configuration, labelled with the process's name.
  public init() {
    label = ProcessInfo.processInfo.processName
  }
}

/// An SQL function written in Swift.
public struct BoutiqueFunction: Sendable {
  /// The name in SQL.
  public var name: String
  /// The number of arguments, or nil for any number.
  public var argumentCount: Int?
  /// Whether equal arguments give equal results, so that the function may serve in an index.
  public var isDeterministic: Bool
  /// What it computes.
  ///
  /// A thrown error becomes an SQL error.
  public var body: @Sendable ([SQLValue]) throws -> SQLValue

  /// Creates a function.
  public init(
    _ name: String, argumentCount: Int?, isDeterministic: Bool = true,
    _ body: @escaping @Sendable ([SQLValue]) throws -> SQLValue
  ) {
    self.name = name
    self.argumentCount = argumentCount
    self.isDeterministic = isDeterministic
    self.body = body
  }
}

/// An order of texts written in Swift.
///
/// Every program that opens the file must offer it when an index or a table uses it.
public struct BoutiqueCollation: Sendable {
  /// The name in SQL.
  public var name: String
  /// Compares two texts: negative, zero or positive.
  public var compare: @Sendable (String, String) -> Int

  /// Creates a collation.
  public init(_ name: String, _ compare: @escaping @Sendable (String, String) -> Int) {
    self.name = name
    self.compare = compare
  }
}
