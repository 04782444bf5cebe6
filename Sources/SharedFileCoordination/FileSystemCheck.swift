import CLinuxShims
import Glibc
import Synchronization

/// Tells whether a directory lies where several processes can share a database.
///
/// WAL needs memory shared by all processes and locks that all of them see; neither is there across
/// hosts. Magic numbers are those of statfs(2); FUSE hides what is behind it, so its name is read
/// from `/proc/self/mountinfo`.
package enum FileSystemCheck {
  /// What was found out about a directory.
  package struct Verdict: Sendable, Equatable {
    /// The file system's name.
    package var kind: String
    /// Why it does not do, nil when it does.
    package var refusal: String?
  }

  /// A file system that was found to do.
  ///
  /// Device numbers of file systems without a device are given anew once one is unmounted; then the kind
  /// differs, or it is as good as the one before.
  private struct Known: Hashable {
    var device: UInt64
    var magic: UInt64
  }

  private static let known = Mutex<Set<Known>>([])

  /// Throws when several processes cannot share a database in a directory.
  ///
  /// What does is remembered as long as the process lives.
  package static func check(directory: String) throws(CoordinationError) {
    var magic: UInt64 = 0
    let result = clx_statfs_magic(directory, &magic)
    if result != 0 { throw error(-result, directory: directory) }
    let found = FileIdentity.of(path: directory).map { Known(device: $0.device, magic: magic) }
    if let found, known.withLock({ $0.contains(found) }) { return }
    let verdict = judge(
      magic: magic, directory: realDirectory(directory),
      mountInfo: SystemFile.text(path: "/proc/self/mountinfo") ?? "")
    if let refusal = verdict.refusal {
      throw .unsupportedFileSystem(path: directory, kind: verdict.kind, reason: refusal)
    }
    try LockProbe.run(directory: directory, kind: verdict.kind)
    if let found { known.withLock { _ = $0.insert(found) } }
  }

  /// Judges by magic number and mount table alone.
  package static func judge(magic: UInt64, directory: String, mountInfo: String) -> Verdict {
    let network = "its locks and shared memory do not reach other hosts."
    let user = "it keeps its own idea of locks and shared memory."
    switch magic {
    case 0x6969: return Verdict(kind: "NFS", refusal: network)
    case 0x517B, 0xFE53_4D42, 0xFF53_4D42: return Verdict(kind: "SMB/CIFS", refusal: network)
    case 0x0102_1997:
      return Verdict(
        kind: "9p (a virtual machine's or gVisor's shared directory)", refusal: network)
    case 0x00C3_6400: return Verdict(kind: "Ceph", refusal: network)
    case 0x0BD0_0BD0: return Verdict(kind: "Lustre", refusal: network)
    case 0x5346_414F, 0x6B41_4653: return Verdict(kind: "AFS", refusal: network)
    case 0x7375_7245: return Verdict(kind: "Coda", refusal: network)
    case 0x564C: return Verdict(kind: "NCP", refusal: network)
    case 0x0116_1970: return Verdict(kind: "GFS2", refusal: network)
    case 0x7461_636F: return Verdict(kind: "OCFS2", refusal: network)
    case 0x4750_4653: return Verdict(kind: "GPFS", refusal: network)
    case 0x786F_4256: return Verdict(kind: "a VirtualBox shared folder", refusal: network)
    case 0xBACB_ACBC: return Verdict(kind: "a VMware shared folder", refusal: network)
    case 0x6573_5546:
      let type = mountType(of: directory, mountInfo: mountInfo) ?? "fuse"
      // ntfs-3g and the like are served by the kernel's block device driver of the same name and
      // keep to one host, yet their locks are as good as the program behind them: the probe tells.
      return type == "fuseblk"
        ? Verdict(kind: "FUSE (fuseblk)") : Verdict(kind: "FUSE (\(type))", refusal: user)
    default:
      let type = mountType(of: directory, mountInfo: mountInfo)
      // virtiofs and gofer mounts may show the magic number of what is behind them.
      switch type {
      case "virtiofs", "9p", "nfs", "nfs4", "cifs", "smb3", "ceph", "gofer":
        return Verdict(kind: type ?? "", refusal: network)
      default:
        return Verdict(kind: type ?? "file system 0x\(String(magic, radix: 16))")
      }
    }
  }

  /// Returns the type of the mount that holds a directory, from the text of mountinfo (proc(5)).
  static func mountType(of directory: String, mountInfo: String) -> String? {
    var best: (length: Int, type: String)?
    for line in mountInfo.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 6, let dash = words.firstIndex(of: "-"), dash + 1 < words.count else {
        continue
      }
      let point = unescape(words[4])
      guard
        point == "/" || directory == point || directory.hasPrefix(point + "/")
      else { continue }
      // The last of equals hides the ones mounted before it.
      if point.utf8.count >= best?.length ?? 0 {
        best = (point.utf8.count, String(words[dash + 1]))
      }
    }
    return best?.type
  }

  /// Undoes the octal escapes for blank, tab, line feed and backslash.
  private static func unescape(_ word: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(word.utf8)[...]
    while let byte = rest.first {
      let code = rest.dropFirst().prefix(3)
      if byte == 0x5C, code.count == 3, code.allSatisfy({ (0x30...0x37).contains($0) }) {
        bytes.append(code.reduce(0) { $0 &* 8 &+ ($1 - 0x30) })
        rest = rest.dropFirst(4)
      } else {
        bytes.append(byte)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func realDirectory(_ directory: String) -> String {
    guard let real = realpath(directory, nil) else { return directory }
    defer { free(real) }
    return String(cString: real)
  }

  private static func error(_ code: Int32, directory: String) -> CoordinationError {
    switch code {
    case ENOENT, ENOTDIR:
      return .directoryMissing(path: directory)
    case EACCES, EPERM:
      var facts = stat()
      _ = stat(directory, &facts)
      return .permissionDenied(path: directory, owner: facts.st_uid, mode: facts.st_mode)
    default:
      return .system(call: "statfs", code: code, path: directory)
    }
  }
}

/// Tries whether two openings of a file keep each other out.
enum LockProbe {
  static func run(directory: String, kind: String) throws(CoordinationError) {
    // Nameless, so nobody sees it and nothing is left behind.
    let first = clx_guarded_temporary(directory)
    // No right to write, no room, or no nameless files there: the lock file itself will tell.
    guard first >= 0 else { return }
    let one = GuardedDescriptor(adopting: first, holdsLocks: true)
    let second = clx_guarded_open("/proc/self/fd/\(first)", O_RDWR, 0)
    guard second >= 0 else { return }
    let two = GuardedDescriptor(adopting: second, holdsLocks: true)
    let byte = LockFileLayout.lockBase
    let works: Bool
    do throws(CoordinationError) {
      let had = try ByteLock.tryLock(byte, of: one, path: directory)
      let alsoHad = try ByteLock.tryLock(byte, of: two, path: directory)
      works = had && !alsoHad
    } catch {
      throw .unsupportedFileSystem(
        path: directory, kind: kind, reason: "it has no byte locks (\(error)).")
    }
    guard works else {
      throw .unsupportedFileSystem(
        path: directory, kind: kind, reason: "two openings of a file do not keep each other out.")
    }
  }
}
