import Glibc
package import SharedFileCoordination

/// What `/proc` shows of the whole machine: who has which regular file open, and every file lock.
///
/// Made once for all databases that are looked at. Opens nothing but files of `/proc`.
package struct MachineView: Sendable {
  /// A regular file that a process has open.
  package struct OpenFile: Sendable, Equatable {
    package var pid: Int32
    package var descriptor: Int32
    package var identity: FileIdentity
    /// The path as the process sees it; “ (deleted)” stands behind that of a removed file.
    package var target: String
  }

  /// Every open regular file, this process's own left out.
  package private(set) var openFiles: [OpenFile] = []
  /// The kernel's list of locks; nil when it is not shown.
  package private(set) var locks: KernelLockTable?
  /// Whether there is a `/proc` with processes in it.
  package private(set) var isThere = false
  /// Processes whose descriptors this user may not see.
  package private(set) var closedProcesses: [Int32] = []

  private var byIdentity: [FileIdentity: [Int]] = [:]
  private var byTarget: [String: [Int]] = [:]

  /// Looks at `/proc`.
  package init() {
    locks = KernelLockTable.read()
    let own = getpid()
    for name in SystemFile.names(inDirectory: "/proc") {
      guard let pid = Int32(name) else { continue }
      isThere = true
      if pid == own { continue }
      guard let descriptors = Self.descriptors(of: pid) else {
        closedProcesses.append(pid)
        continue
      }
      for descriptor in descriptors { add(pid, descriptor) }
    }
    closedProcesses.sort()
  }

  /// The descriptors' numbers; nil when they may not be seen, empty for a process that has gone.
  private static func descriptors(of pid: Int32) -> [Int32]? {
    guard let directory = opendir("/proc/\(pid)/fd") else {
      return errno == EACCES || errno == EPERM ? nil : []
    }
    closedir(directory)
    return SystemFile.names(inDirectory: "/proc/\(pid)/fd").compactMap { Int32($0) }
  }

  private mutating func add(_ pid: Int32, _ descriptor: Int32) {
    let link = "/proc/\(pid)/fd/\(descriptor)"
    // Through the link, which opens nothing.
    var facts = stat()
    guard stat(link, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return }
    let file = OpenFile(
      pid: pid, descriptor: descriptor,
      identity: FileIdentity(device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino)),
      target: Self.target(of: link))
    byIdentity[file.identity, default: []].append(openFiles.count)
    byTarget[file.target, default: []].append(openFiles.count)
    openFiles.append(file)
  }

  private static func target(of link: String) -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = buffer.withUnsafeMutableBytes { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        characters.baseAddress.map { readlink(link, $0, characters.count) } ?? -1
      }
    }
    return length > 0 ? String(decoding: buffer[..<length], as: UTF8.self) : ""
  }

  /// Who has a file open.
  package func openings(of identity: FileIdentity) -> [OpenFile] {
    byIdentity[identity, default: []].map { openFiles[$0] }
  }

  /// Who has a file open that has been at a path, and is another than the one there now.
  package func strays(path: String, now identity: FileIdentity?) -> [OpenFile] {
    (byTarget[path, default: []] + byTarget[path + " (deleted)", default: []])
      .map { openFiles[$0] }
      .filter { $0.identity != identity && Self.sharesNames(withProcess: $0.pid) }
  }

  /// Whether a path means the same file to a process as to this one: not so in a container, where the
  /// same path often is another database.
  package static func sharesNames(withProcess pid: Int32) -> Bool {
    for link in ["ns/mnt", "root"] {
      let own = FileIdentity.of(path: "/proc/self/\(link)")
      if own == nil || FileIdentity.of(path: "/proc/\(pid)/\(link)") != own { return false }
    }
    return true
  }

  /// The same with the locks as they are now.
  package func withNewLocks() -> MachineView {
    var view = self
    view.locks = KernelLockTable.read() ?? locks
    return view
  }

  /// The names under which the kernel's list may have a file.
  ///
  /// Its device is that of the mounted file system, which `stat` does not always give (Btrfs, overlay
  /// file systems). So what the mount table says counts too, and what the kernel says of the locks of
  /// those who have the file open.
  package func lockNames(of identity: FileIdentity, path: String) -> Set<FileIdentity> {
    var names: Set = [identity]
    for file in openings(of: identity) {
      let locks = KernelLockTable.held(pid: file.pid, descriptor: file.descriptor) ?? []
      names.formUnion(locks.map(\.file).filter { $0.inode == identity.inode })
    }
    if let name = MountTable.identity(ofFileAt: path, inode: identity.inode) { names.insert(name) }
    return names
  }

  /// All locks of a file that the kernel lists.
  package func locks(of names: Set<FileIdentity>) -> [KernelLock] {
    locks?.entries.filter { names.contains($0.file) }.map(\.lock) ?? []
  }
}

/// The mounted file systems of this process.
enum MountTable {
  /// Returns a file's identity with the device of the mounted file system, as mountinfo tells it
  /// (proc(5)).
  static func identity(ofFileAt path: String, inode: UInt64) -> FileIdentity? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    let path = String(cString: real)
    var best: (length: Int, identity: FileIdentity)?
    for line in (SystemFile.text(path: "/proc/self/mountinfo") ?? "").split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 5 else { continue }
      let point = unescaped(words[4])
      let isPrefix = path == point || path.hasPrefix(point == "/" ? "/" : point + "/")
      // A later mount on the same point hides the earlier one.
      guard isPrefix, point.utf8.count >= best?.length ?? 0 else { continue }
      let numbers = words[2].split(separator: ":").compactMap { UInt64($0) }
      guard numbers.count == 2 else { continue }
      best = (
        point.utf8.count, FileIdentity(major: numbers[0], minor: numbers[1], inode: inode)
      )
    }
    return best?.identity
  }

  /// Blanks and the like are written as a backslash and three octal digits.
  private static func unescaped(_ word: Substring) -> String {
    guard word.contains("\\") else { return String(word) }
    var bytes: [UInt8] = []
    var rest = Array(word.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3,
        let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
      {
        bytes.append(code)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
