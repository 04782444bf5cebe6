/// A result code of SQLite, primary or extended.
///
/// A structure and not an enumeration, so that the codes of a newer SQLite are values too.
package struct ResultCode: RawRepresentable, Hashable, Sendable {
  /// The code as SQLite numbers it.
  package var rawValue: Int32

  /// Makes a code from SQLite's number.
  package init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// The code without its extension: `busySnapshot.primary` is `busy`.
  package var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

  /// Whether this code is `pattern`, or an extension of it when `pattern` is primary.
  package func matches(_ pattern: ResultCode) -> Bool {
    self == pattern || primary == pattern
  }

  /// Matches a code against a pattern, so that `case .busy` also takes `busySnapshot`.
  package static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
    code.matches(pattern)
  }
}

// The primary codes.
extension ResultCode {
  /// Success.
  package static let ok = ResultCode(rawValue: 0)
  /// A general error: wrong SQL, a missing table, and the like.
  package static let error = ResultCode(rawValue: 1)
  /// A fault inside SQLite.
  package static let internalError = ResultCode(rawValue: 2)
  /// The access mode could not be had.
  package static let permission = ResultCode(rawValue: 3)
  /// The operation was given up.
  package static let abort = ResultCode(rawValue: 4)
  /// Another connection holds a lock.
  package static let busy = ResultCode(rawValue: 5)
  /// A conflict inside this connection.
  package static let locked = ResultCode(rawValue: 6)
  /// Memory ran out.
  package static let outOfMemory = ResultCode(rawValue: 7)
  /// The database cannot be written.
  package static let readOnly = ResultCode(rawValue: 8)
  /// The operation was interrupted.
  package static let interrupt = ResultCode(rawValue: 9)
  /// The operating system reported an input or output error.
  package static let ioError = ResultCode(rawValue: 10)
  /// The file is damaged.
  package static let corrupt = ResultCode(rawValue: 11)
  /// An unknown file control.
  package static let notFound = ResultCode(rawValue: 12)
  /// The disk or the database is full.
  package static let full = ResultCode(rawValue: 13)
  /// A file could not be opened.
  package static let cantOpen = ResultCode(rawValue: 14)
  /// The locking protocol failed after many tries.
  package static let protocolError = ResultCode(rawValue: 15)
  /// Not used by SQLite.
  package static let empty = ResultCode(rawValue: 16)
  /// The schema changed too often.
  package static let schema = ResultCode(rawValue: 17)
  /// A value or statement is too long.
  package static let tooBig = ResultCode(rawValue: 18)
  /// A constraint was violated.
  package static let constraint = ResultCode(rawValue: 19)
  /// A value has the wrong type.
  package static let mismatch = ResultCode(rawValue: 20)
  /// The interface was used wrongly.
  package static let misuse = ResultCode(rawValue: 21)
  /// The file is too large for this system.
  package static let noLargeFileSupport = ResultCode(rawValue: 22)
  /// The statement is not permitted.
  package static let auth = ResultCode(rawValue: 23)
  /// Not used by SQLite.
  package static let format = ResultCode(rawValue: 24)
  /// An index is out of range.
  package static let range = ResultCode(rawValue: 25)
  /// The file is not a database.
  package static let notADatabase = ResultCode(rawValue: 26)
  /// A notice of the log.
  package static let notice = ResultCode(rawValue: 27)
  /// A warning of the log.
  package static let warning = ResultCode(rawValue: 28)
  /// A row is ready.
  package static let row = ResultCode(rawValue: 100)
  /// The statement has ended.
  package static let done = ResultCode(rawValue: 101)
}

// The extended codes.
extension ResultCode {
  /// The extended code `SQLITE_BUSY_RECOVERY`.
  package static let busyRecovery = ResultCode(rawValue: 261)
  /// The extended code `SQLITE_BUSY_SNAPSHOT`.
  package static let busySnapshot = ResultCode(rawValue: 517)
  /// The extended code `SQLITE_BUSY_TIMEOUT`.
  package static let busyTimeout = ResultCode(rawValue: 773)
  /// The extended code `SQLITE_ERROR_MISSING_COLLSEQ`.
  package static let errorMissingCollation = ResultCode(rawValue: 257)
  /// The extended code `SQLITE_ERROR_RETRY`.
  package static let errorRetry = ResultCode(rawValue: 513)
  /// The extended code `SQLITE_ERROR_SNAPSHOT`.
  package static let errorSnapshot = ResultCode(rawValue: 769)
  /// The extended code `SQLITE_IOERR_READ`.
  package static let ioErrorRead = ResultCode(rawValue: 266)
  /// The extended code `SQLITE_IOERR_SHORT_READ`.
  package static let ioErrorShortRead = ResultCode(rawValue: 522)
  /// The extended code `SQLITE_IOERR_WRITE`.
  package static let ioErrorWrite = ResultCode(rawValue: 778)
  /// The extended code `SQLITE_IOERR_FSYNC`.
  package static let ioErrorSync = ResultCode(rawValue: 1034)
  /// The extended code `SQLITE_IOERR_DIR_FSYNC`.
  package static let ioErrorDirectorySync = ResultCode(rawValue: 1290)
  /// The extended code `SQLITE_IOERR_TRUNCATE`.
  package static let ioErrorTruncate = ResultCode(rawValue: 1546)
  /// The extended code `SQLITE_IOERR_FSTAT`.
  package static let ioErrorStat = ResultCode(rawValue: 1802)
  /// The extended code `SQLITE_IOERR_UNLOCK`.
  package static let ioErrorUnlock = ResultCode(rawValue: 2058)
  /// The extended code `SQLITE_IOERR_RDLOCK`.
  package static let ioErrorReadLock = ResultCode(rawValue: 2314)
  /// The extended code `SQLITE_IOERR_DELETE`.
  package static let ioErrorDelete = ResultCode(rawValue: 2570)
  /// The extended code `SQLITE_IOERR_BLOCKED`.
  package static let ioErrorBlocked = ResultCode(rawValue: 2826)
  /// The extended code `SQLITE_IOERR_NOMEM`.
  package static let ioErrorOutOfMemory = ResultCode(rawValue: 3082)
  /// The extended code `SQLITE_IOERR_ACCESS`.
  package static let ioErrorAccess = ResultCode(rawValue: 3338)
  /// The extended code `SQLITE_IOERR_CHECKRESERVEDLOCK`.
  package static let ioErrorCheckReservedLock = ResultCode(rawValue: 3594)
  /// The extended code `SQLITE_IOERR_LOCK`.
  package static let ioErrorLock = ResultCode(rawValue: 3850)
  /// The extended code `SQLITE_IOERR_CLOSE`.
  package static let ioErrorClose = ResultCode(rawValue: 4106)
  /// The extended code `SQLITE_IOERR_DIR_CLOSE`.
  package static let ioErrorDirectoryClose = ResultCode(rawValue: 4362)
  /// The extended code `SQLITE_IOERR_SHMOPEN`.
  package static let ioErrorSharedMemoryOpen = ResultCode(rawValue: 4618)
  /// The extended code `SQLITE_IOERR_SHMSIZE`.
  package static let ioErrorSharedMemorySize = ResultCode(rawValue: 4874)
  /// The extended code `SQLITE_IOERR_SHMLOCK`.
  package static let ioErrorSharedMemoryLock = ResultCode(rawValue: 5130)
  /// The extended code `SQLITE_IOERR_SHMMAP`.
  package static let ioErrorSharedMemoryMap = ResultCode(rawValue: 5386)
  /// The extended code `SQLITE_IOERR_SEEK`.
  package static let ioErrorSeek = ResultCode(rawValue: 5642)
  /// The extended code `SQLITE_IOERR_DELETE_NOENT`.
  package static let ioErrorDeleteNoEntry = ResultCode(rawValue: 5898)
  /// The extended code `SQLITE_IOERR_MMAP`.
  package static let ioErrorMemoryMap = ResultCode(rawValue: 6154)
  /// The extended code `SQLITE_IOERR_GETTEMPPATH`.
  package static let ioErrorTemporaryPath = ResultCode(rawValue: 6410)
  /// The extended code `SQLITE_IOERR_CONVPATH`.
  package static let ioErrorConvertPath = ResultCode(rawValue: 6666)
  /// The extended code `SQLITE_IOERR_VNODE`.
  package static let ioErrorVnode = ResultCode(rawValue: 6922)
  /// The extended code `SQLITE_IOERR_AUTH`.
  package static let ioErrorAuth = ResultCode(rawValue: 7178)
  /// The extended code `SQLITE_IOERR_BEGIN_ATOMIC`.
  package static let ioErrorBeginAtomic = ResultCode(rawValue: 7434)
  /// The extended code `SQLITE_IOERR_COMMIT_ATOMIC`.
  package static let ioErrorCommitAtomic = ResultCode(rawValue: 7690)
  /// The extended code `SQLITE_IOERR_ROLLBACK_ATOMIC`.
  package static let ioErrorRollbackAtomic = ResultCode(rawValue: 7946)
  /// The extended code `SQLITE_IOERR_DATA`.
  package static let ioErrorData = ResultCode(rawValue: 8202)
  /// The extended code `SQLITE_IOERR_CORRUPTFS`.
  package static let ioErrorCorruptFileSystem = ResultCode(rawValue: 8458)
  /// The extended code `SQLITE_LOCKED_SHAREDCACHE`.
  package static let lockedSharedCache = ResultCode(rawValue: 262)
  /// The extended code `SQLITE_LOCKED_VTAB`.
  package static let lockedVirtualTable = ResultCode(rawValue: 518)
  /// The extended code `SQLITE_CANTOPEN_NOTEMPDIR`.
  package static let cantOpenNoTemporaryDirectory = ResultCode(rawValue: 270)
  /// The extended code `SQLITE_CANTOPEN_ISDIR`.
  package static let cantOpenIsDirectory = ResultCode(rawValue: 526)
  /// The extended code `SQLITE_CANTOPEN_FULLPATH`.
  package static let cantOpenFullPath = ResultCode(rawValue: 782)
  /// The extended code `SQLITE_CANTOPEN_CONVPATH`.
  package static let cantOpenConvertPath = ResultCode(rawValue: 1038)
  /// The extended code `SQLITE_CANTOPEN_DIRTYWAL`.
  package static let cantOpenDirtyWAL = ResultCode(rawValue: 1294)
  /// The extended code `SQLITE_CANTOPEN_SYMLINK`.
  package static let cantOpenSymbolicLink = ResultCode(rawValue: 1550)
  /// The extended code `SQLITE_CORRUPT_VTAB`.
  package static let corruptVirtualTable = ResultCode(rawValue: 267)
  /// The extended code `SQLITE_CORRUPT_SEQUENCE`.
  package static let corruptSequence = ResultCode(rawValue: 523)
  /// The extended code `SQLITE_CORRUPT_INDEX`.
  package static let corruptIndex = ResultCode(rawValue: 779)
  /// The extended code `SQLITE_READONLY_RECOVERY`.
  package static let readOnlyRecovery = ResultCode(rawValue: 264)
  /// The extended code `SQLITE_READONLY_CANTLOCK`.
  package static let readOnlyCantLock = ResultCode(rawValue: 520)
  /// The extended code `SQLITE_READONLY_ROLLBACK`.
  package static let readOnlyRollback = ResultCode(rawValue: 776)
  /// The extended code `SQLITE_READONLY_DBMOVED`.
  package static let readOnlyDBMoved = ResultCode(rawValue: 1032)
  /// The extended code `SQLITE_READONLY_CANTINIT`.
  package static let readOnlyCantInit = ResultCode(rawValue: 1288)
  /// The extended code `SQLITE_READONLY_DIRECTORY`.
  package static let readOnlyDirectory = ResultCode(rawValue: 1544)
  /// The extended code `SQLITE_ABORT_ROLLBACK`.
  package static let abortRollback = ResultCode(rawValue: 516)
  /// The extended code `SQLITE_CONSTRAINT_CHECK`.
  package static let constraintCheck = ResultCode(rawValue: 275)
  /// The extended code `SQLITE_CONSTRAINT_COMMITHOOK`.
  package static let constraintCommitHook = ResultCode(rawValue: 531)
  /// The extended code `SQLITE_CONSTRAINT_FOREIGNKEY`.
  package static let constraintForeignKey = ResultCode(rawValue: 787)
  /// The extended code `SQLITE_CONSTRAINT_FUNCTION`.
  package static let constraintFunction = ResultCode(rawValue: 1043)
  /// The extended code `SQLITE_CONSTRAINT_NOTNULL`.
  package static let constraintNotNull = ResultCode(rawValue: 1299)
  /// The extended code `SQLITE_CONSTRAINT_PRIMARYKEY`.
  package static let constraintPrimaryKey = ResultCode(rawValue: 1555)
  /// The extended code `SQLITE_CONSTRAINT_TRIGGER`.
  package static let constraintTrigger = ResultCode(rawValue: 1811)
  /// The extended code `SQLITE_CONSTRAINT_UNIQUE`.
  package static let constraintUnique = ResultCode(rawValue: 2067)
  /// The extended code `SQLITE_CONSTRAINT_VTAB`.
  package static let constraintVirtualTable = ResultCode(rawValue: 2323)
  /// The extended code `SQLITE_CONSTRAINT_ROWID`.
  package static let constraintRowID = ResultCode(rawValue: 2579)
  /// The extended code `SQLITE_CONSTRAINT_PINNED`.
  package static let constraintPinned = ResultCode(rawValue: 2835)
  /// The extended code `SQLITE_CONSTRAINT_DATATYPE`.
  package static let constraintDataType = ResultCode(rawValue: 3091)
  /// The extended code `SQLITE_NOTICE_RECOVER_WAL`.
  package static let noticeRecoverWAL = ResultCode(rawValue: 283)
  /// The extended code `SQLITE_NOTICE_RECOVER_ROLLBACK`.
  package static let noticeRecoverRollback = ResultCode(rawValue: 539)
  /// The extended code `SQLITE_WARNING_AUTOINDEX`.
  package static let warningAutomaticIndex = ResultCode(rawValue: 284)
  /// The extended code `SQLITE_AUTH_USER`.
  package static let authUser = ResultCode(rawValue: 279)
}
