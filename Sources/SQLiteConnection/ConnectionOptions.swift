/// How a connection is opened.
package struct ConnectionOptions: Sendable {
  /// What may be done to the file.
  package enum Access: Sendable, Equatable {
    /// Reads only; the file must exist.
    case readOnly
    /// Reads and writes; the file must exist.
    case readWrite
    /// Reads and writes; the file is made when there is none.
    case readWriteCreate
    /// Reads without a lock and without writing, making or removing any file; what is read can be torn
    /// (see `LookingFileSystem`). Not in a process that has the file open in another way.
    case looking(ignoringLog: Bool)
    /// Reads the file alone, without a lock, its log or any file beside it; for one that nobody changes.
    ///
    /// Unlike ``looking(ignoringLog:)`` it may be used where this process has the file open: SQLite's own
    /// file system opens it, and keeps the process's locks when it closes.
    case unchanging
  }

  /// What may be done to the file.
  package var access: Access = .readWrite
  /// How many idle statements are kept for reuse.
  package var statementCacheCapacity = 128
  /// Whether foreign keys are enforced.
  package var foreignKeys = true
  /// Whether SQLite refuses every change to the database, whatever `access` says.
  package var queryOnly = false

  /// Makes the options that suit a writer of an existing file.
  package init() {}
}
