import Glibc

/// Walks the regular files of a directory tree, in the order in which the kernel lists them.
///
/// Symbolic links are not followed, other file systems are not entered. What cannot be listed is counted
/// and passed over, so that two walks of an unchanged tree always give the same files.
struct TreeWalk {
  /// Directories that could not be listed: no permission, a path beyond the kernel's limit.
  private(set) var unreadableDirectories = 0
  /// Directories that are other file systems.
  private(set) var otherFileSystems = 0

  private var pending: [[UInt8]] = [[]]
  private var files: [FilePath] = []
  private let rootDevice: dev_t
  /// Files whose path begins like this are not listed: the demo's own database inside the tree.
  private let excludedPrefix: [UInt8]?

  /// Begins a walk of the working directory.
  init(excluding excludedPrefix: [UInt8]?) throws(SystemCallFailure) {
    self.excludedPrefix = excludedPrefix
    var information = stat()
    guard stat(".", &information) == 0 else { throw SystemCallFailure("stat", ".") }
    rootDevice = information.st_dev
  }

  /// Returns the next file's path below the root, or nil at the end.
  mutating func next() -> FilePath? {
    while files.isEmpty {
      guard let directory = pending.popLast() else { return nil }
      list(directory)
    }
    return files.removeLast()
  }

  private mutating func list(_ path: [UInt8]) {
    let descriptor = open(
      CPath.text(path.isEmpty ? Array(".".utf8) : path),
      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      // A directory that has vanished since it was listed holds nothing.
      if errno != ENOENT { unreadableDirectories += 1 }
      return
    }
    var information = stat()
    guard fstat(descriptor, &information) == 0, information.st_dev == rootDevice else {
      otherFileSystems += 1
      close(descriptor)
      return
    }
    guard let stream = fdopendir(descriptor) else {
      unreadableDirectories += 1
      close(descriptor)
      return
    }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = Self.name(of: entry)
      if name == [0x2E] || name == [0x2E, 0x2E] { continue }
      let child = path.isEmpty ? name : path + [UInt8(ascii: "/")] + name
      switch Self.type(of: entry, at: child) {
      case S_IFDIR:
        pending.append(child)
      case S_IFREG:
        if let excludedPrefix, child.starts(with: excludedPrefix) { continue }
        files.append(FilePath(child))
      default:
        break
      }
    }
  }

  private static func name(of entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
    // The name is as long as the record, not as the array that the header declares.
    let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
    let start = UnsafeRawPointer(entry) + offset
    let length = strlen(start.assumingMemoryBound(to: CChar.self))
    return Array(UnsafeRawBufferPointer(start: start, count: length))
  }

  private static func type(of entry: UnsafeMutablePointer<dirent>, at path: [UInt8]) -> mode_t {
    switch Int(entry.pointee.d_type) {
    case Int(DT_DIR): return S_IFDIR
    case Int(DT_REG): return S_IFREG
    case Int(DT_UNKNOWN):
      // Some file systems do not say.
      var information = stat()
      return lstat(CPath.text(path), &information) == 0 ? information.st_mode & S_IFMT : 0
    default: return 0
    }
  }
}

/// Paths as the kernel takes them.
enum CPath {
  /// Adds the NUL at the end.
  static func text(_ bytes: [UInt8]) -> [CChar] {
    var text = bytes.map { CChar(bitPattern: $0) }
    text.append(0)
    return text
  }
}
