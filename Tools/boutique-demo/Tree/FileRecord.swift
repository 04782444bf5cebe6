import Glibc

/// What the index says about one file.
struct FileRecord: Hashable, Sendable {
  /// Larger files are not read.
  static let hashLimit = 64 * 1024

  var path: FilePath
  var kind: String
  var size: Int64
  /// Nanoseconds since 1970.
  var modified: Int64
  /// FNV-1a of the content, nil for large files and those that may not be read.
  var hash: String?

  /// Why there is no record of a file.
  enum Reading: Sendable {
    case record(FileRecord)
    /// The file may be looked at but not read.
    case unreadable(FileRecord)
    /// It is gone, or no longer a regular file.
    case vanished
  }

  /// Looks at a file below the working directory, and reads it when it is small.
  static func read(_ path: FilePath) -> Reading {
    let name = CPath.text(path.bytes)
    guard let seen = FileState(name) else { return .vanished }
    var record = FileRecord(path, seen)
    guard seen.size <= hashLimit else { return .record(record) }
    // The flags keep the call from waiting if the file has become a pipe meanwhile.
    let descriptor = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return errno == ENOENT ? .vanished : .unreadable(record) }
    defer { close(descriptor) }
    guard let opened = FileState(descriptor) else { return .vanished }
    record = FileRecord(path, opened)
    guard opened.size <= hashLimit else { return .record(record) }
    guard let hash = hashContent(of: descriptor) else { return .unreadable(record) }
    record.hash = ContentHash.text(hash)
    return .record(record)
  }

  private init(_ path: FilePath, _ state: FileState) {
    self.path = path
    kind = FileKind.of(path, mode: state.mode)
    size = state.size
    modified = state.modified
  }

  /// Makes a record from its parts.
  init(path: FilePath, kind: String, size: Int64, modified: Int64, hash: String?) {
    self.path = path
    self.kind = kind
    self.size = size
    self.modified = modified
    self.hash = hash
  }

  private static func hashContent(of descriptor: Int32) -> UInt64? {
    withUnsafeTemporaryAllocation(byteCount: hashLimit, alignment: 16) { buffer in
      var count = 0
      while count < buffer.count {
        let got = Glibc.read(
          descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
        if got < 0, errno == EINTR { continue }
        if got < 0 { return nil }
        if got == 0 { break }
        count += got
      }
      return ContentHash.fnv1a(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }
}

/// What `stat` says; two equal ones mean that the file was not touched in between.
struct FileState: Hashable, Sendable {
  var inode: UInt64
  var mode: mode_t
  var size: Int64
  var modified: Int64
  /// When anything about the file last changed, which no program can set.
  var changed: Int64

  /// Returns nil for what is no regular file.
  init?(_ path: [CChar]) {
    var information = stat()
    guard lstat(path, &information) == 0 else { return nil }
    self.init(information)
  }

  /// Returns nil for what is no regular file.
  init?(_ descriptor: Int32) {
    var information = stat()
    guard fstat(descriptor, &information) == 0 else { return nil }
    self.init(information)
  }

  private init?(_ information: stat) {
    guard information.st_mode & S_IFMT == S_IFREG else { return nil }
    inode = UInt64(information.st_ino)
    mode = information.st_mode
    size = Int64(information.st_size)
    modified = Self.nanoseconds(information.st_mtim)
    changed = Self.nanoseconds(information.st_ctim)
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    // A file system may hold nonsense here; wrapping is better than a trap.
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
