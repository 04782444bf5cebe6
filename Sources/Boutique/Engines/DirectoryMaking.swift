import BoutiqueDB
import Glibc

/// Making directories, with errors that say which one could not be made and why.
enum DirectoryMaking {
  /// Why a directory could not be made.
  struct Failure: Error {
    /// The first one that could not be made.
    var path: String
    var code: CInt

    var sentence: String {
      let message = String(cString: strerror(code))
      return code == ENOTDIR || code == EEXIST
        ? "\(path): there is something that is no directory" : "\(path): \(message)"
    }

    /// The failure as an error of a database or store.
    var error: BoutiqueError {
      switch code {
      case EACCES, EPERM:
        .permissionDenied(path: path, message: "the directory cannot be made in its parent")
      case EROFS: .readOnly(path: path, message: "the file system is mounted read-only")
      case ENOSPC, EDQUOT: .diskFull(path: path, message: "the directory cannot be made")
      case ENOTDIR, EEXIST:
        .invalidPath(path: path, message: "there is something that is no directory")
      case ENAMETOOLONG, ELOOP, EINVAL:
        .invalidPath(path: path, message: String(cString: strerror(code)))
      case ENOENT: .directoryMissing(path: path)
      default:
        .inputOutput(
          path: path, message: "the directory cannot be made: \(String(cString: strerror(code)))")
      }
    }
  }

  /// Makes a directory, and those above it, with mode 0700, where they are missing.
  static func make(_ path: String) throws(Failure) {
    if mkdir(path, 0o700) == 0 { return }
    let code = errno
    var facts = stat()
    // Any error may hide that it is there: of a read-only file system, or of a parent of somebody else's.
    if stat(path, &facts) == 0 {
      guard facts.st_mode & S_IFMT == S_IFDIR else { throw Failure(path: path, code: ENOTDIR) }
      return
    }
    guard code == ENOENT, let parent = parent(of: path) else {
      throw Failure(path: path, code: code)
    }
    try make(parent)
    // Another process may have made it meanwhile.
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw Failure(path: path, code: errno) }
  }

  private static func parent(of path: String) -> String? {
    var bytes = Array(path.utf8)
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return nil }
    return String(decoding: bytes[..<slash], as: UTF8.self)
  }
}
