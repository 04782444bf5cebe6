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
    // SQLite's limit for a path is 512 bytes, with room for the side files' endings.
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard path.utf8.count <= 500, name.utf8.count + "-journal".utf8.count <= 255 else {
      throw BoutiqueError.invalidPath(
        path: path, message: "it is too long; 500 bytes at most, and 247 for the file's name")
    }
    guard path != ":memory:" else {
      throw BoutiqueError.invalidPath(
        path: path, message: "a database in memory is opened by its URL, inMemoryURL()")
    }
    if let real = try real(path) {
      var info = stat()
      let isThere = stat(real, &info) == 0
      // Two names are two logs and two lock files for one database: each would undo the other's commits
      // (SQLite, "How To Corrupt An SQLite Database File", 2.5).
      if isThere, info.st_mode & S_IFMT == S_IFREG, info.st_nlink > 1 {
        throw BoutiqueError.invalidPath(
          path: real, message: "the file has \(info.st_nlink) names (hard links); leave it one")
      }
      guard isThere, info.st_mode & S_IFMT == S_IFREG else {
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
    guard let real = try real(directory), FileFacts.isDirectory(real) else {
      guard !directory.hasPrefix("~") else {
        throw BoutiqueError.invalidPath(
          path: path, message: "~ is a shell's word for the home directory; give the whole path")
      }
      throw BoutiqueError.directoryMissing(path: directory)
    }
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

  private static func real(_ path: String) throws -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    if let text = String(validatingCString: resolved) { return text }
    // SQLite's names are UTF-8 ("Opening A New Database Connection"), and so are the ones that are shown.
    throw BoutiqueError.invalidPath(
      path: String(cString: resolved),
      message: "a name on the way has bytes that are not UTF-8; rename it, or mount the directory "
        + "under another name (a link does not help: it is followed)")
  }
}
