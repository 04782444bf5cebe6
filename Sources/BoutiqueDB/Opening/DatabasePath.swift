import Glibc

/// Turns what a caller names into the one path under which all processes know a database.
enum DatabasePath {
  /// Returns the absolute path with links resolved, so that a link and its target share one lock file.
  ///
  /// - Throws: ``BoutiqueError`` for a missing directory, or a path that cannot name a database.
  static func resolve(_ path: String) throws -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw BoutiqueError.invalidPath(
        path: path.isEmpty ? "an empty path" : path, message: "a path is not empty and has no NUL")
    }
    guard path != ":memory:" else {
      throw BoutiqueError.invalidPath(
        path: path, message: "a database in memory is opened by its URL, inMemoryURL()")
    }
    if let real = real(path) {
      var info = stat()
      guard stat(real, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
        throw BoutiqueError.invalidPath(
          path: real,
          message: FileFacts.isDirectory(real) ? "it is a directory" : "it is not a regular file")
      }
      return real
    }
    let code = errno
    if code == EACCES {
      throw BoutiqueError.permissionDenied(
        path: path, message: "a directory on the way cannot be entered")
    }
    if code == ELOOP || code == ENAMETOOLONG {
      throw BoutiqueError.invalidPath(path: path, message: String(cString: strerror(code)))
    }
    if path.hasSuffix("/") {
      throw BoutiqueError.invalidPath(path: path, message: "it names a directory")
    }
    let directory = FileFacts.directory(of: path)
    guard let real = real(directory), FileFacts.isDirectory(real) else {
      guard !directory.hasPrefix("~") else {
        throw BoutiqueError.invalidPath(
          path: path, message: "~ is a shell's word for the home directory; give the whole path")
      }
      throw BoutiqueError.directoryMissing(path: directory)
    }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    var entry = stat()
    if lstat(path, &entry) == 0 {
      // Nothing was there a moment ago: either a link leads nowhere, or another process has just made the
      // file.
      guard entry.st_mode & S_IFMT != S_IFLNK else {
        throw BoutiqueError.invalidPath(path: path, message: "a symbolic link to nothing")
      }
      return try resolve(path)
    }
    return real == "/" ? "/" + name : real + "/" + name
  }

  private static func real(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
