import CLinuxShims
import Glibc

/// What can go wrong between processes that share a database.
package enum CoordinationError: Error, Sendable {
  /// The lease was not free before the deadline.
  case leaseTimeout(LeaseTimeout)
  /// The caller's `isCancelled` said so.
  case cancelled(path: String)
  /// The lock file's path is a symbolic link.
  case symbolicLink(path: String)
  /// The lock file's path is something that is not a regular file.
  case notRegularFile(path: String)
  /// The lock file is ours, but of another version of its layout.
  case layoutVersion(path: String, found: UInt32, expected: UInt32)
  /// The file system does not give what several processes need.
  case unsupportedFileSystem(path: String, kind: String, reason: String)
  /// The directory that should hold the database is not there.
  case directoryMissing(path: String)
  /// The operating system refused access.
  case permissionDenied(path: String, owner: UInt32, mode: UInt32)
  /// The object was made before a fork, and this is the child.
  case usedAcrossFork(path: String)
  /// The coordination file was closed.
  case closed(path: String)
  /// A second thread asked for the lease while the first waits for it or holds it.
  case alreadyWaiting(path: String)
  /// The lock file was replaced again and again while the lease was being taken.
  case lockFileKeepsChanging(path: String)
  /// A system call failed in a way that has no case of its own.
  case system(call: String, code: Int32, path: String)
}

extension CoordinationError: CustomStringConvertible {
  /// What happened, to which file, who is in the way, and what to do.
  package var description: String {
    switch self {
    case .leaseTimeout(let timeout):
      return timeout.description
    case .cancelled(let path):
      return "The wait for the write lease of \(path) was cancelled; nothing was written."
    case .symbolicLink(let path):
      return "The lock file \(path) is a symbolic link, which is refused because it could lead "
        + "writes to another file. Remove the link; the file is made anew."
    case .notRegularFile(let path):
      return "The lock file's path \(path) is taken by something that is not a regular file. "
        + "Move it away; the lock file is made anew."
    case .layoutVersion(let path, let found, let expected):
      let other = found > expected ? "newer" : "older"
      return "The lock file \(path) has layout version \(found), made by a \(other) version of "
        + "this library; this one speaks version \(expected). Let all programs that share the "
        + "database use the same version; when none of them runs, the file may be deleted."
    case .unsupportedFileSystem(let path, let kind, let reason):
      return "\(path) lies on \(kind): \(reason) Move the database to a local file system such as "
        + "ext4, XFS, Btrfs or tmpfs."
    case .directoryMissing(let path):
      return "The directory \(path) does not exist (any more). Make it before opening the database."
    case .permissionDenied(let path, let owner, let mode):
      return "Access to \(path) was refused: it belongs to user \(owner) and has mode "
        + "0\(String(mode & 0o7777, radix: 8)); this process is user \(geteuid()). Give this user "
        + "access, or run as the owner."
    case .usedAcrossFork(let path):
      return "The database \(path) was opened before a fork and is used in the child. A child "
        + "must open the database itself, or exec a new program."
    case .closed(let path):
      return "The coordination file \(path) was closed. Open the database again."
    case .alreadyWaiting(let path):
      return "The write lease of \(path) is already held or waited for by this handle. "
        + "One thread at a time may ask for it: finish the turn first."
    case .lockFileKeepsChanging(let path):
      return "The lock file \(path) is deleted or replaced again and again while it is being "
        + "locked. Find the program that cleans it up and make it leave the file alone."
    case .system(let call, let code, let path):
      return "\(call) failed for \(path): \(CoordinationError.text(ofErrno: code)) (\(code))."
    }
  }

  static func text(ofErrno code: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    clx_error_text(code, &buffer, buffer.count)
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
