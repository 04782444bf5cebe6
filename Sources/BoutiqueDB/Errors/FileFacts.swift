import Glibc

/// What `stat` says about a file, for messages.
///
/// Nothing here opens a file: closing a descriptor of the database would drop SQLite's locks of the
/// whole process.
enum FileFacts {
  /// Owner, group and mode, or why they cannot be read.
  static func describe(_ path: String) -> String {
    var info = stat()
    guard stat(path, &info) == 0 else { return "\(path): \(String(cString: strerror(errno)))" }
    let mode = String(info.st_mode & 0o7777, radix: 8)
    return
      "\(path) belongs to \(user(info.st_uid)), mode 0\(mode); this process is \(user(geteuid()))"
  }

  /// The same for the directory of a file.
  static func describe(directoryOf path: String) -> String { describe(directory(of: path)) }

  static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  static func isFull(directoryOf path: String) -> Bool {
    var info = statvfs()
    guard statvfs(directory(of: path), &info) == 0 else { return false }
    return info.f_bavail < 16
  }

  static func isDirectory(_ path: String) -> Bool {
    var info = stat()
    return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
  }

  static func size(_ path: String) -> Int64 {
    var info = stat()
    return stat(path, &info) == 0 ? Int64(info.st_size) : 0
  }

  private static func user(_ id: uid_t) -> String {
    var entry = passwd()
    var result: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 4096)
    let code = getpwuid_r(id, &entry, &buffer, buffer.count, &result)
    guard code == 0, result != nil, let name = entry.pw_name else { return "uid \(id)" }
    return "\(String(cString: name)) (uid \(id))"
  }
}
