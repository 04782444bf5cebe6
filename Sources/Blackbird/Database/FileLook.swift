import BoutiqueDB
import Glibc

/// What can be told about a path without opening anything.
///
/// It is what makes `init(path:)` throw at once for the mistakes that can be seen at once. The engine looks
/// again, and thoroughly, when it opens.
enum FileLook {
  struct Identity: Hashable {
    let device: UInt
    let inode: UInt
  }

  static func identity(of path: String) -> Identity? {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    return Identity(device: UInt(info.st_dev), inode: UInt(info.st_ino))
  }

  /// Returns the absolute path with links resolved; the file itself may be missing.
  static func resolved(_ path: String) -> String {
    if let real = real(path) { return real }
    let slash = path.lastIndex(of: "/")
    let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    guard let real = real(directory) else { return path }
    return real == "/" ? "/" + name : real + "/" + name
  }

  /// Throws where the file cannot be opened as asked for, as far as that can be seen from outside.
  static func check(_ path: String, mustExist: Bool, readOnly: Bool) throws(BoutiqueError) {
    guard !path.utf8.contains(0) else {
      throw .invalidPath(path: path, message: "a path has no NUL")
    }
    var info = stat()
    guard stat(path, &info) == 0 else {
      if errno == EACCES {
        throw .permissionDenied(path: path, message: "a directory on the way cannot be entered")
      }
      let directory = directory(of: path)
      guard stat(directory, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else {
        throw .directoryMissing(path: directory)
      }
      if mustExist { throw .fileMissing(path: path) }
      if access(directory, W_OK | X_OK) != 0 {
        throw .permissionDenied(path: directory, message: "no file can be made in the directory")
      }
      return
    }
    guard info.st_mode & S_IFMT == S_IFREG else {
      let kind = info.st_mode & S_IFMT == S_IFDIR ? "a directory" : "not a regular file"
      throw .invalidPath(path: path, message: "it is \(kind)")
    }
    if access(path, readOnly ? R_OK : R_OK | W_OK) != 0 {
      throw .permissionDenied(
        path: path, message: readOnly ? "it cannot be read" : "it cannot be read and written")
    }
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func real(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
