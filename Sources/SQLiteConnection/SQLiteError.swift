internal import CSQLite
internal import Glibc

/// An error of SQLite, with all that is needed to find its cause.
package struct SQLiteError: Error, Sendable, Equatable {
  /// The extended result code.
  package var code: ResultCode
  /// What SQLite said.
  package var message: String
  /// The statement, where one was involved.
  package var sql: String?
  /// The database file.
  package var path: String
  /// Where in `sql` the error is, in bytes of UTF-8.
  package var byteOffset: Int?
  /// The number of the statement in its script, counted from one.
  package var statementNumber: Int?
  /// The error number of the operating system, where it was the cause.
  package var systemError: Int32?

  /// Makes an error from its parts.
  package init(
    code: ResultCode, message: String, sql: String? = nil, path: String, byteOffset: Int? = nil,
    statementNumber: Int? = nil, systemError: Int32? = nil
  ) {
    self.code = code
    self.message = message
    self.sql = sql
    self.path = path
    self.byteOffset = byteOffset
    self.statementNumber = statementNumber
    self.systemError = systemError
  }
}

extension SQLiteError: CustomStringConvertible {
  /// What happened, to which file, in which statement, and what to do.
  package var description: String {
    var text = "\(message) [\(code)] in \(path)"
    if let systemError, let reason = strerror(systemError) {
      text += ", since: \(String(cString: reason))"
    }
    if let statementNumber { text += ", statement \(statementNumber) of the script" }
    if let sql { text += ", in: \(sql)" }
    if let byteOffset { text += " (at byte \(byteOffset))" }
    if let advice { text += ". \(advice)" }
    return text
  }

  private var advice: String? {
    switch code {
    case .busySnapshot:
      "The transaction began by reading and others have committed since: begin it anew, IMMEDIATE."
    case .busy: "Another connection holds the lock: try again, or wait with a busy handler."
    case .readOnlyDBMoved: "The file was moved or deleted while open: open it again."
    case .readOnlyDirectory: "Give the directory of the database write permission."
    case .readOnlyCantInit, .readOnlyRecovery:
      "Open the database once with a connection that may write, so that its log is recovered."
    case .readOnly: "Give the file and its -wal and -shm write permission, or open it read-only."
    case .full: "Make room on the disk; nothing committed is lost."
    case .cantOpen: "See that the file and its directory exist and may be read."
    case .notADatabase: "See that this is the right file; an encrypted one reads like this too."
    case .corrupt: "Stop writing, keep a copy of the file with its -wal, restore a backup."
    default: nil
    }
  }
}

extension SQLiteError {
  /// Makes an error from the state of a connection, which must be that of the call that failed.
  init(
    _ code: Int32, on database: OpaquePointer?, sql: String? = nil, path: String,
    offsetBase: Int = 0
  ) {
    // Misuse is answered without touching the connection, whose last message is of another call.
    let isOwn =
      database != nil && sqlite3_extended_errcode(database) & 0xff == code & 0xff
    let message = isOwn ? sqlite3_errmsg(database) : sqlite3_errstr(code)
    let offset = isOwn ? sqlite3_error_offset(database) : -1
    let resultCode = ResultCode(rawValue: isOwn ? sqlite3_extended_errcode(database) : code)
    let systemError: Int32? =
      switch resultCode.primary {
      case .cantOpen, .ioError: isOwn ? sqlite3_system_errno(database) : nil
      default: nil
      }
    self.init(
      code: resultCode,
      message: message.map { String(cString: $0) } ?? "unknown error",
      sql: sql, path: path,
      byteOffset: offset >= 0 ? offsetBase + Int(offset) : nil,
      systemError: systemError == 0 ? nil : systemError)
  }

  static func closed(path: String, sql: String? = nil) -> SQLiteError {
    SQLiteError(
      code: .misuse, message: "the connection is closed", sql: sql, path: path)
  }
}
