import Glibc
import SQLiteConnection
import SharedFileCoordination

/// The only place where errors of the lower rooms become the errors that users see.
extension BoutiqueError {
  init(_ error: SQLiteError) {
    let path = error.path
    let message = error.message
    switch error.code {
    case .readOnlyDirectory, .readOnlyCantInit, .readOnlyRecovery:
      self = .readOnly(
        path: path,
        message:
          "\(message); a WAL database needs write permission on its directory, or its -wal and "
          + "-shm files present (\(FileFacts.describe(directoryOf: path)))")
      return
    case .readOnlyDBMoved:
      self = .fileReplaced(path: path, message: message)
      return
    default: break
    }
    switch error.systemError {
    case EMFILE?, ENFILE?:
      self = .inputOutput(path: path, message: "\(message): too many files are open (ulimit -n)")
      return
    case EFBIG?:
      self = .diskFull(path: path, message: "the limit of a file's size is reached (ulimit -f)")
      return
    default: break
    }
    switch error.code.primary {
    case .notADatabase: self = .notADatabase(path: path)
    case .corrupt: self = .corrupt(path: path, message: message)
    case .full: self = .diskFull(path: path, message: message)
    case .readOnly:
      self = .readOnly(path: path, message: "\(message) (\(FileFacts.describe(path)))")
    case .ioError:
      // A full disk shows as an I/O error where the shared-memory file has to grow.
      self =
        FileFacts.isFull(directoryOf: path)
        ? .diskFull(path: path, message: message)
        : .inputOutput(path: path, message: "\(message) (code \(error.code.rawValue))")
    case .cantOpen:
      self = .permissionDenied(path: path, message: "\(message) (\(FileFacts.describe(path)))")
    case .misuse, .range:
      self = .invalidStatement(sql: error.sql ?? "", reason: message)
    default:
      var text = message
      if let sql = error.sql { text += " (in: \(sql))" }
      if let offset = error.byteOffset { text += " (at byte \(offset))" }
      self = .sql(code: Int(error.code.rawValue), message: text)
    }
  }

  init(_ error: CoordinationError, databasePath: String) {
    switch error {
    case .leaseTimeout(let timeout):
      self = .lockTimeout(LockTimeout(timeout, databasePath: databasePath))
    case .unsupportedFileSystem(let path, _, _):
      self = .unsupportedFileSystem(path: path, message: error.description)
    case .directoryMissing(let path): self = .directoryMissing(path: path)
    case .usedAcrossFork: self = .usedAcrossFork(path: databasePath)
    case .closed: self = .closed(path: databasePath)
    default: self = .lockFile(path: databasePath + "-lock", message: error.description)
    }
  }

  /// Translates an error of a backup, which may be about either of two files.
  static func translate(_ error: any Error, path: String, destination: String) -> any Error {
    guard let error = error as? SQLiteError, error.code.primary == .cantOpen else {
      return translate(error, path: path)
    }
    return BoutiqueError.permissionDenied(
      path: destination,
      message: "\(error.message) (\(FileFacts.describe(directoryOf: destination)))")
  }

  /// Translates any error of a lower room; leaves others as they are.
  static func translate(_ error: any Error, path: String) -> any Error {
    switch error {
    case let error as SQLiteError: return BoutiqueError(error)
    case CoordinationError.cancelled: return CancellationError()
    case let error as CoordinationError: return BoutiqueError(error, databasePath: path)
    default: return error
    }
  }
}

extension LockTimeout {
  init(_ timeout: LeaseTimeout, databasePath: String) {
    self.init(
      path: databasePath, waited: timeout.waited,
      holder: timeout.holder.map { holder in
        Holder(
          pid: holder.pid, label: holder.label, command: holder.command,
          isStopped: holder.state == .stopped, isForeign: false, heldFor: timeout.heldFor,
          purpose: timeout.purpose, isInOtherNamespace: timeout.isHolderElsewhere)
      })
  }

  /// Describes a wait in this process's own line: whoever holds the lease now is in the way.
  init(holderOf coordination: CoordinationFile?, databasePath: String, waited: Duration) {
    let holder = coordination?.report(includesKernelLocks: false).holder
    self.init(
      path: databasePath, waited: waited,
      holder: holder?.process.map { process in
        Holder(
          pid: process.pid, label: process.label, command: process.command,
          isStopped: process.state == .stopped, isForeign: false, heldFor: holder?.heldFor,
          purpose: holder?.purpose, isInOtherNamespace: holder?.isElsewhere ?? false)
      })
  }

  /// Describes a wait for SQLite's own write lock, held by a program that does not use this library.
  init(foreignHolderOf path: String, waited: Duration) {
    let holder = FileIdentity.of(path: path + "-shm").flatMap { identity in
      KernelLocks.holders(of: identity).first { lock in
        !lock.isWaiting && lock.isExclusive
          && SQLiteLockByte.names(in: lock, of: .sharedMemory).contains(.write)
      }
    }
    self.init(
      path: path, waited: waited,
      holder: holder?.pid.flatMap { pid in
        guard pid > 0 else { return nil }
        let process = ProcessDescription.of(pid: pid)
        return Holder(
          pid: pid, label: "", command: process?.command ?? "",
          isStopped: process?.state == .stopped, isForeign: true)
      })
  }
}
