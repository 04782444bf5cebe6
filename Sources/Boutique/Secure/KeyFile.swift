import Foundation
import Glibc

// The file that holds the key of a database's secure values.
//
// For: processes that start at the same time on a machine that has no key yet, and end up with one.
//
//   32 bytes: the key.    64 bytes: a new key, then the old one, while rows are sealed anew (KeyRotation).
//
// Invariants
//  1. The file is never seen half written: it is written and synced under another name, then given its own
//     name by `link`, which fails where there is one already, or by `rename` when it is replaced.
//  2. A key that has its name is never replaced but by rotation. Whoever comes second adopts it. A file
//     that is short, empty or all zero is an error, not a reason to make another.
//  3. Whoever may read the file may open the values: mode 0600, owned by this user or root, no symbolic
//     link, in a directory where nobody else can put another in its place. It is looked at through the
//     descriptor that is read.
//
// A temporary file is locked (flock) by whoever writes it, as long as it has its temporary name. So one that is
// not locked is a dead process's, and is swept by the next who opens, makes or replaces a key file here. Whoever
// is robbed of one that it had no time to lock writes another.
//
// Making one, and death after each step:
//  1. write a temporary file      a file with a key that was never used; swept
//  2. sync it                     the same
//  3. link it                     the key is there, and good; the temporary name is swept as above
//  4. remove the temporary name   done
//  5. sync the directory          done, even if the power fails
struct KeyFile: Sendable {
  /// What tells one content from another without reading it.
  struct Stamp: Equatable {
    private var facts: [Int]

    fileprivate init(_ facts: stat) {
      self.facts = [
        Int(facts.st_dev), Int(facts.st_ino), Int(facts.st_size), facts.st_mtim.tv_sec,
        facts.st_mtim.tv_nsec, facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec,
      ]
    }
  }

  /// A step that a test may end the process after.
  enum Step: String, Sendable {
    case written, linked, replaced
  }

  let path: String
  /// Whether the directory is there for keys alone.
  let isOurPlace: Bool

  private var directory: String {
    let directory = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
    return directory.count > 1 && directory.hasSuffix("/")
      ? String(directory.dropLast()) : directory
  }

  private var name: String { URL(filePath: path).lastPathComponent }

  // MARK: Reading

  /// Returns what the file is now; nil when it is missing.
  var stamp: Stamp? {
    var facts = stat()
    return lstat(path, &facts) == 0 ? Stamp(facts) : nil
  }

  /// Returns the keys, the one that seals first; nil when the file is missing.
  func read() throws -> (keys: [SecretKey], stamp: Stamp)? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT, ENOTDIR: return nil
      case ELOOP:
        throw SecureValueError.keyFileUnusable(
          path: path, message: "it is a symbolic link, which could lead anywhere")
      case let code: throw unusable(code)
      }
    }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { throw unusable(errno) }
    try check(facts)
    try checkDirectory()
    let count = Int(facts.st_size)
    guard count == SecretKey.length || count == 2 * SecretKey.length else {
      throw SecureValueError.keyFileDamaged(path: path, bytes: count)
    }
    var missing = 0
    let content = try SecretBytes(count: count) { bytes in
      var place = 0
      while place < count {
        let got = Glibc.read(descriptor, bytes.baseAddress.map { $0 + place }, count - place)
        if got < 0, errno == EINTR { continue }
        guard got > 0 else { break }
        place += got
      }
      missing = count - place
    }
    let keys = try stride(from: 0, to: count, by: SecretKey.length).map { start in
      try SecretBytes(count: SecretKey.length) { key in
        content.withBytes {
          key.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + key.count]))
        }
      }
    }
    // What a file system leaves where a file's blocks never reached the disk.
    let isBlank = keys.contains { key in key.withBytes { $0.allSatisfy { $0 == 0 } } }
    guard missing == 0, !isBlank else {
      throw SecureValueError.keyFileDamaged(path: path, bytes: count - missing)
    }
    return (try keys.map { try SecretKey($0) }, Stamp(facts))
  }

  private func check(_ facts: stat) throws {
    guard facts.st_mode & S_IFMT == S_IFREG else {
      throw SecureValueError.keyFileUnusable(path: path, message: "it is not a regular file")
    }
    guard facts.st_uid == geteuid() || facts.st_uid == 0 else {
      throw SecureValueError.permissionsTooOpen(
        path: path,
        message: "it belongs to uid \(facts.st_uid), who can change it; this process is uid "
          + "\(geteuid())")
    }
    guard facts.st_mode & 0o077 == 0 else {
      throw SecureValueError.permissionsTooOpen(
        path: path, message: "its mode is \(Self.mode(facts)); set it with chmod 600")
    }
  }

  private func checkDirectory() throws {
    var facts = stat()
    guard stat(directory, &facts) == 0 else { throw unusable(errno) }
    guard facts.st_uid == geteuid() || facts.st_uid == 0 else {
      throw SecureValueError.permissionsTooOpen(
        path: directory,
        message: "the directory of the key belongs to uid \(facts.st_uid), who can put another key "
          + "in its place")
    }
    let forbidden: mode_t = isOurPlace ? 0o077 : 0o022
    guard facts.st_mode & forbidden == 0 else {
      throw SecureValueError.permissionsTooOpen(
        path: directory,
        message: "the mode of the key's directory is \(Self.mode(facts)); set it with chmod "
          + (isOurPlace ? "700" : "go-w"))
    }
  }

  private static func mode(_ facts: stat) -> String {
    "0" + String(facts.st_mode & 0o7777, radix: 8)
  }

  // MARK: Writing

  /// Makes the file with a new key, unless somebody has made it.
  func make() throws {
    try makeDirectory()
    try checkDirectory()
    for _ in 0..<16 {
      let outcome = try withTemporary([SecretKey.random()]) { temporary in
        let outcome = link(temporary, path) == 0 ? 0 : errno
        Self.pause(after: .linked)
        return outcome
      }
      switch outcome {
      case 0, EEXIST:
        try syncDirectory()
        sweep()
        return
      case ENOENT: continue
      default: throw unusable(outcome)
      }
    }
    throw unusable(ENOENT)
  }

  /// Replaces the file by one with these keys, the one that seals first.
  func replace(with keys: [SecretKey]) throws {
    let content = try keys.map { key in
      try SecretBytes(count: SecretKey.length) { bytes in
        key.withKey { bytes.copyMemory(from: $0) }
      }
    }
    for _ in 0..<16 {
      let outcome = try withTemporary(content) { temporary in
        guard rename(temporary, path) == 0 else { return errno }
        Self.pause(after: .replaced)
        return 0
      }
      switch outcome {
      case 0:
        try syncDirectory()
        sweep()
        return
      case ENOENT where stamp != nil: continue
      default: throw unusable(outcome)
      }
    }
    throw unusable(ENOENT)
  }

  private func makeDirectory() throws {
    let directory = directory
    do {
      try DirectoryMaking.make(directory)
    } catch {
      throw SecureValueError.keyFileUnusable(
        path: path, message: "its directory cannot be made: \(error.sentence)")
    }
  }

  /// Writes a synced file under a name of its own, which is gone after the call.
  private func withTemporary(
    _ keys: [SecretBytes], _ body: (_ path: String) -> CInt
  ) throws -> CInt {
    let number = String(UInt64.random(in: 0...UInt64.max), radix: 36)
    let temporary = "\(directory)/.\(name).\(getpid())-\(number)\(Self.ending)"
    let descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw unusable(errno) }
    defer { close(descriptor) }
    // It is nothing any more where it was renamed.
    defer { unlink(temporary) }
    // Not where the file system has no locks: sweeping will not get one there either.
    flock(descriptor, LOCK_EX | LOCK_NB)
    // Whatever the umask says.
    guard fchmod(descriptor, 0o600) == 0 else { throw unusable(errno) }
    for key in keys {
      try key.withBytes { bytes in
        var place = 0
        while place < bytes.count {
          let count = Glibc.write(
            descriptor, bytes.baseAddress.map { $0 + place }, bytes.count - place)
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { throw unusable(errno) }
          place += count
        }
      }
    }
    guard fsync(descriptor) == 0 else { throw unusable(errno) }
    Self.pause(after: .written)
    return body(temporary)
  }

  private func syncDirectory() throws {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unusable(errno) }
    defer { close(descriptor) }
    // Some file systems have nothing to sync there, and say so.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw unusable(errno) }
  }

  private static let ending = ".new"

  /// Removes what processes that are dead now have left.
  func sweep() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    let start = ".\(name)."
    for other in names
    where other.utf8.starts(with: start.utf8)
      && other.utf8.suffix(4).elementsEqual(Self.ending.utf8)
    {
      wipe("\(directory)/\(other)")
    }
  }

  /// Removes a temporary file that nobody has locked, and overwrites what it held.
  private func wipe(_ temporary: String) {
    let descriptor = open(temporary, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG,
      flock(descriptor, LOCK_EX | LOCK_NB) == 0, unlink(temporary) == 0,
      // Only now: it may be the key file itself, under its first name, or become it up to this moment.
      fstat(descriptor, &facts) == 0, facts.st_nlink == 0
    else { return }
    let zeros = [UInt8](repeating: 0, count: min(Int(facts.st_size), 4096))
    if pwrite(descriptor, zeros, zeros.count, 0) > 0 { fsync(descriptor) }
  }

  private func unusable(_ code: CInt) -> SecureValueError {
    switch code {
    case EPERM, ENOTSUP, EMLINK:
      .keyFileUnusable(
        path: path,
        message: "\(String(cString: strerror(code))) (does the file system have hard links?)")
    default: .keyFileUnusable(path: path, message: String(cString: strerror(code)))
    }
  }
}
