public import StructuredQueries

/// What can go wrong, with the file it happened to and the next step for a person.
///
/// Cancellation is Swift's `CancellationError`, not a case of this type. Switch with a `default`: cases
/// may be added.
public enum BoutiqueError: Error, Sendable {
  /// SQLite refused a statement. `code` is the extended result code; `message` holds SQLite's text and
  /// the SQL.
  case sql(code: Int, message: String)
  /// A migration failed and left nothing behind; the ones before it stay applied.
  case migrationFailed(id: String, message: String)
  /// A write was started from inside a write of the same database that has not ended.
  case transactionInProgress
  /// The write lock was not free in time.
  case lockTimeout(LockTimeout)
  /// The time given to a write was over while it ran; it was interrupted and left nothing behind.
  case writeTimedOut(WriteTimeout)
  /// Another process was preparing or migrating the file for longer than `migrationTimeout`.
  case migrationLockTimeout(LockTimeout)
  /// The file is not an SQLite database.
  case notADatabase(path: String)
  /// SQLite found the file damaged.
  case corrupt(path: String, message: String)
  /// The file, its directory or its side files cannot be written by this user.
  case readOnly(path: String, message: String)
  /// No space was left; the transaction left nothing behind.
  case diskFull(path: String, message: String)
  /// The kernel reported an error while reading or writing the files.
  case inputOutput(path: String, message: String)
  /// The directory of the database does not exist.
  case directoryMissing(path: String)
  /// The database does not exist and was not to be made.
  case fileMissing(path: String)
  /// The user may not open the file or directory; `message` names owner and mode.
  case permissionDenied(path: String, message: String)
  /// The file system cannot carry a shared WAL database (NFS, SMB, 9p, some FUSE).
  case unsupportedFileSystem(path: String, message: String)
  /// The path cannot name a database (a directory, a device, an unusable URL).
  case invalidPath(path: String, message: String)
  /// The database or a side file was replaced, moved or deleted while open. Nothing more is written;
  /// open again.
  case fileReplaced(path: String, message: String)
  /// The file was migrated by a newer program; `unknown` are the migrations this one does not know.
  case databaseNewer(path: String, unknown: [String])
  /// The applied migrations are not a prefix of the plan.
  case migrationOrder(path: String, message: String)
  /// The lock file beside the database cannot be used.
  case lockFile(path: String, message: String)
  /// The database was closed.
  case closed(path: String)
  /// The database was opened before `fork`; a child must open its own.
  case usedAcrossFork(path: String)
  /// A stored value does not fit the type asked for.
  case decodingFailed(DecodingFailure)
  /// A value cannot be stored exactly.
  case bindingFailed(BindingFailure)
  /// A statement that writes was run in `read`.
  case writeInRead(sql: String)
  /// A statement that the library must run itself (BEGIN, COMMIT, ATTACH, …) was run by a closure.
  case statementRefused(sql: String, reason: String)
  /// The statement has the wrong number of arguments, an unknown name, or is not exactly one statement.
  case invalidStatement(sql: String, reason: String)
  /// A connection was used after its closure ended, or on another thread.
  case connectionEnded
  /// A durable consumer's name is in use: one feed at a time runs under it in all processes.
  case consumerInUse(ConsumerInUse)
  /// This process's view did not reach a token in time.
  case waitTimedOut(TokenWait)
  /// A token is of another file, or of a history that this file does not have.
  case tokenVoid(path: String, token: ChangeToken, message: String)
  /// The configuration cannot be used.
  case invalidConfiguration(message: String)
}

/// Who kept a write or an opening waiting past its time-out.
public struct LockTimeout: Sendable, Hashable {
  /// The process that holds the lock.
  public struct Holder: Sendable, Hashable {
    /// The process number; that of another pid namespace where ``isInOtherNamespace``.
    public var pid: Int32
    /// Whether it runs in another pid namespace (a container), so that its number means nothing here.
    public var isInOtherNamespace: Bool
    /// The label from its configuration; empty for a program without this library.
    public var label: String
    /// Its command line.
    public var command: String
    /// Whether it is stopped (SIGSTOP, Ctrl-Z, a debugger).
    public var isStopped: Bool
    /// Whether it does not use this library.
    public var isForeign: Bool
    /// How long it has held the lock, where known.
    public var heldFor: Duration?
    /// What it holds the lock for, where known.
    public var purpose: String?

    /// Creates a description of a holder.
    public init(
      pid: Int32, label: String, command: String, isStopped: Bool, isForeign: Bool,
      heldFor: Duration? = nil, purpose: String? = nil, isInOtherNamespace: Bool = false
    ) {
      self.pid = pid
      self.isInOtherNamespace = isInOtherNamespace
      self.label = label
      self.command = command
      self.isStopped = isStopped
      self.isForeign = isForeign
      self.heldFor = heldFor
      self.purpose = purpose
    }
  }

  /// The database.
  public var path: String
  /// How long the caller waited.
  public var waited: Duration
  /// Who holds the lock; nil when it could not be told.
  public var holder: Holder?

  /// Creates a description of a wait that ended in vain.
  public init(path: String, waited: Duration, holder: Holder?) {
    self.path = path
    self.waited = waited
    self.holder = holder
  }
}

/// Who consumes the change feed under a name.
public struct ConsumerInUse: Sendable, Hashable {
  /// The database.
  public var path: String
  /// The consumer's name.
  public var name: String
  /// The process; nil when it could not be told.
  public var pid: Int32?
  /// Its label.
  public var label: String

  /// Creates a description of a name in use.
  public init(path: String, name: String, pid: Int32?, label: String) {
    self.path = path
    self.name = name
    self.pid = pid
    self.label = label
  }
}

/// A wait for a token that ended in vain.
public struct TokenWait: Sendable, Hashable {
  /// The database.
  public var path: String
  /// What was waited for.
  public var token: ChangeToken
  /// How far this process's view had come.
  public var reached: ChangeToken
  /// How long was waited.
  public var waited: Duration

  /// Creates a description of a wait.
  public init(path: String, token: ChangeToken, reached: ChangeToken, waited: Duration) {
    self.path = path
    self.token = token
    self.reached = reached
    self.waited = waited
  }
}
