import Glibc
import SharedFileCoordination

// Reading the files of a database by descriptors of one's own.
//
// In any process that has the database open through SQLite this is forbidden: closing such a descriptor
// drops all POSIX locks that the process has on the file, SQLite's included. This program never opens a
// database in the ordinary way (`ChangeLook` reads it without locks), so it has none to lose; and the
// locks of other processes are not touched by anything that is done here.

/// Looks at files without changing anything but, as all reading may, their time of last access.
enum FileLook {
  /// What stat(2) says of a file.
  struct Facts: Equatable {
    var identity: FileIdentity
    var size: Int64
    var isRegular: Bool
    var modified: Int64
  }

  /// Returns what is known of the file at a path, links followed, or nil when there is none to be seen.
  static func facts(path: String) -> Facts? {
    var facts = stat()
    guard stat(path, &facts) == 0 else { return nil }
    return Facts(
      identity: FileIdentity(device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino)),
      size: Int64(facts.st_size), isRegular: facts.st_mode & S_IFMT == S_IFREG,
      modified: Int64(facts.st_mtim.tv_sec) * 1_000_000_000 + Int64(facts.st_mtim.tv_nsec))
  }

  /// Returns the first bytes of a file, fewer when it is shorter, or nil when it cannot be read.
  static func head(path: String, count: Int) -> [UInt8]? {
    // Not even the time of last access changes, where this user may ask for that.
    let quietly: CInt = 0o1000000  // O_NOATIME, which Glibc's module does not show
    var descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | quietly)
    if descriptor < 0, errno == EPERM {
      descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = bytes.withUnsafeMutableBytes { raw in
        pread(descriptor, raw.baseAddress.map { $0 + done }, count - done, off_t(done))
      }
      if got < 0, errno == EINTR { continue }
      if got < 0 { return nil }
      if got == 0 { break }
      done += got
    }
    return Array(bytes[..<done])
  }

  /// Returns the path without links, when that leads to the same file.
  static func resolved(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return absolute(path) }
    defer { free(real) }
    let resolved = String(cString: real)
    // A path through another process's root resolves to a name that means something else here.
    return FileIdentity.of(path: resolved) == FileIdentity.of(path: path)
      ? resolved : absolute(path)
  }

  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
    defer { free(here) }
    return "\(String(cString: here))/\(path)"
  }
}

/// The database file's own head.
enum DatabaseHead {
  static let magic = Array("SQLite format 3\0".utf8)

  /// What the file is.
  enum Kind: Equatable {
    case database(DatabaseInspection.JournalMode)
    /// A file of no bytes becomes a database when something is written.
    case empty
    case other
    case unreadable
  }

  /// Looks at a file's first bytes (SQLite, database file format, 1.3: bytes 18 and 19 are 2 in WAL mode).
  static func kind(path: String) -> Kind {
    guard let head = FileLook.head(path: path, count: 20) else { return .unreadable }
    if head.isEmpty { return .empty }
    guard head.count == 20, Array(head.prefix(16)) == magic else { return .other }
    return .database(head[18] == 2 || head[19] == 2 ? .wal : .rollback)
  }
}
