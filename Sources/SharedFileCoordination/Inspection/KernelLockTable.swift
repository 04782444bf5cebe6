import CLinuxShims
import Glibc

/// The kernel's list of locks as one reading gives it: of which file, held or waited for.
package struct KernelLockTable: Sendable, Equatable {
  /// One line.
  package struct Entry: Sendable, Equatable {
    /// Number of the lock in the list; who waits for a lock stands under its number.
    package var number: Int
    package var lock: KernelLock
    package var file: FileIdentity
  }

  /// The lines in the kernel's order.
  package var entries: [Entry] = []

  /// Makes a table from lines.
  package init(entries: [Entry] = []) {
    self.entries = entries
  }

  /// Reads `/proc/locks`; nil when this system does not show it.
  package static func read() -> KernelLockTable? {
    guard var bytes = SystemFile.bytes(path: "/proc/locks") else { return nil }
    // The kernel gives a long list page by page, and what changes in between shifts the rest: a line
    // can be missing or come twice. Two readings that agree had no change between their pages.
    for _ in 0..<4 where bytes.count >= pageSize {
      guard let again = SystemFile.bytes(path: "/proc/locks"), again != bytes else { break }
      bytes = again
    }
    return KernelLockTable(entries: parse(String(decoding: bytes, as: UTF8.self)))
  }

  private static let pageSize = 4000

  /// Reads the locks that one descriptor of a process holds; nil when that may not be seen.
  package static func held(pid: Int32, descriptor: Int32) -> [Entry]? {
    SystemFile.text(path: "/proc/\(pid)/fdinfo/\(descriptor)").map(parse)
  }

  /// Whether any other process or opening has a lock of a byte, asked of the kernel without taking
  /// one; nil when the file cannot be opened for reading.
  ///
  /// It sees locks of processes that `/proc` does not show. Opens the file: not for a process that has
  /// it open through SQLite.
  package static func isLocked(_ byte: Int64, path: String) -> Bool? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return clx_ofd_probe(descriptor, byte, 1) == 1
  }

  /// Reads lines of `/proc/locks`, or the `lock:` lines of a descriptor's info.
  ///
  ///     1: OFDLCK  ADVISORY  WRITE -1 fe:01:4242 1073741824 1073741824
  ///     1: -> POSIX  ADVISORY  WRITE 77 fe:01:4242 0 EOF
  package static func parse(_ text: String) -> [Entry] {
    text.split(separator: "\n").compactMap(entry)
  }

  private static func entry(_ line: Substring) -> Entry? {
    var words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })[...]
    if words.first == "lock:" { words.removeFirst() }
    guard let first = words.popFirst(), first.hasSuffix(":"), let number = Int(first.dropLast())
    else { return nil }
    var isWaiting = false
    if words.first == "->" {
      isWaiting = true
      words.removeFirst()
    }
    let fields = Array(words)
    guard fields.count >= 7, let file = identity(fields[4]), let start = Int64(fields[5]) else {
      return nil
    }
    let pid = Int32(fields[3]).flatMap { $0 > 0 ? $0 : nil }
    return Entry(
      number: number,
      lock: KernelLock(
        kind: kind(fields[0]), isExclusive: fields[2] == "WRITE" || fields[2] == "UNLCK",
        start: start, end: Int64(fields[6]) ?? .max, pid: pid, isWaiting: isWaiting),
      file: file)
  }

  private static func kind(_ word: Substring) -> KernelLock.Kind {
    switch word {
    case "POSIX": .posix
    case "OFDLCK": .openFileDescription
    case "FLOCK": .flock
    case "LEASE", "DELEG": .lease
    default: .other
    }
  }

  /// `major:minor:inode`, the first two in hexadecimal (proc_locks(5)).
  private static func identity(_ word: Substring) -> FileIdentity? {
    let parts = word.split(separator: ":")
    guard parts.count == 3, let major = UInt64(parts[0], radix: 16),
      let minor = UInt64(parts[1], radix: 16), let inode = UInt64(parts[2])
    else { return nil }
    return FileIdentity(major: major, minor: minor, inode: inode)
  }
}

extension FileIdentity {
  /// Makes an identity from the two parts of a device number, as `/proc` writes it.
  package init(major: UInt64, minor: UInt64, inode: UInt64) {
    // The C library's packing of device numbers (makedev(3)).
    device =
      (minor & 0xFF) | ((major & 0xFFF) << 8) | ((minor & ~0xFF) << 12) | ((major & ~0xFFF) << 32)
    self.inode = inode
  }
}
