// Opening the lock file and making it good.
//
// For: an open descriptor of a lock file with a valid header, whoever made the file, however many
// make it at the same time, whatever somebody did to it.
//
// Invariants
//  1. Content is made only under the init byte, and the header last; a reader without a lock takes
//     a file without valid header as not made yet.
//  2. A file that carries our magic number and another version is never touched.
//  3. Room is reserved before it is used: on a full disk the caller learns it here, once, and works
//     without the queue.
//
// Steps: open (no links followed) → is it a regular file → header valid? done : lock the init
// byte → look again → reserve room, zeroes, header → unlock.
//
// Death after any step: the init byte is free again, the next one finds no valid header and starts
// over. A stop inside: the others wait a bounded time and then work without the queue until it is
// done.

import CLinuxShims
import FaultPoints
import Glibc

/// An open lock file with a valid header.
final class LockFile: Sendable {
  let path: String
  let descriptor: GuardedDescriptor
  let identity: FileIdentity
  let slotCount: Int

  private init(path: String, descriptor: GuardedDescriptor, identity: FileIdentity, slotCount: Int)
  {
    self.path = path
    self.descriptor = descriptor
    self.identity = identity
    self.slotCount = slotCount
  }

  /// Whether the path still leads to the file that is open.
  var isAtItsPath: Bool { FileIdentity.of(path: path) == identity }

  /// What has become of the file since it was opened.
  enum Condition {
    case good
    /// Somebody has cut it.
    case short
    /// The path leads to another file or to none.
    case elsewhere
  }

  /// Looks at the file by its path, with one system call: it is asked on every turn.
  var condition: Condition {
    var facts = stat()
    guard stat(path, &facts) == 0, FileIdentity(facts) == identity else { return .elsewhere }
    return facts.st_size < off_t(LockFileLayout.fileSize(slotCount: slotCount)) ? .short : .good
  }

  /// Opens a lock file, makes it where there is none, makes it good where it is damaged.
  static func open(
    path: String, databasePath: String, options: CoordinationOptions
  ) throws(CoordinationError) -> LockFile {
    let descriptor = try openOrCreate(path: path, databasePath: databasePath, options: options)
    var facts = stat()
    guard fstat(descriptor.number, &facts) == 0 else {
      throw .system(call: "fstat", code: errno, path: path)
    }
    guard facts.st_mode & S_IFMT == S_IFREG else { throw .notRegularFile(path: path) }
    let slotCount: Int
    if let header = try validHeader(of: descriptor, path: path) {
      slotCount = header.slotCount
    } else {
      slotCount = try makeGood(descriptor, path: path, options: options)
    }
    return LockFile(
      path: path, descriptor: descriptor, identity: FileIdentity(facts), slotCount: slotCount)
  }

  /// Opens an existing lock file to look at it, or nil when there is none that can be read.
  static func openForLooking(path: String) -> (GuardedDescriptor, FileIdentity, LockFileHeader?)? {
    let number = clx_guarded_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
    guard number >= 0 else { return nil }
    let descriptor = GuardedDescriptor(adopting: number, holdsLocks: false)
    var facts = stat()
    guard fstat(number, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
    let header = try? validHeader(of: descriptor, path: path)
    return (descriptor, FileIdentity(facts), header)
  }

  /// Makes a damaged file good again, under the init byte.
  func repair(options: CoordinationOptions) throws(CoordinationError) {
    _ = try LockFile.makeGood(descriptor, path: path, options: options)
  }

  // MARK: Steps of opening

  private static func openOrCreate(
    path: String, databasePath: String, options: CoordinationOptions
  ) throws(CoordinationError) -> GuardedDescriptor {
    // Bounded: somebody who deletes and makes the file in a loop must not keep us here.
    for _ in 0..<64 {
      let found = clx_guarded_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0)
      if found >= 0 { return GuardedDescriptor(adopting: found, holdsLocks: true) }
      guard -found == ENOENT else { throw error(opening: path, code: -found) }
      let made = clx_guarded_open(
        path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CREAT | O_EXCL, options.fileMode)
      if made >= 0 {
        let descriptor = GuardedDescriptor(adopting: made, holdsLocks: true)
        giveModeAndGroup(descriptor, databasePath: databasePath, mode: options.fileMode)
        return descriptor
      }
      guard -made == EEXIST else { throw error(opening: path, code: -made) }
    }
    throw .lockFileKeepsChanging(path: path)
  }

  private static func giveModeAndGroup(
    _ descriptor: GuardedDescriptor, databasePath: String, mode: mode_t
  ) {
    var database = stat()
    if mode & 0o070 != 0, stat(databasePath, &database) == 0 {
      // Allowed when we are a member of the group; otherwise the directory's rule stands.
      _ = fchown(descriptor.number, uid_t.max, database.st_gid)
    }
    _ = fchmod(descriptor.number, mode)
  }

  private static func error(opening path: String, code: Int32) -> CoordinationError {
    switch code {
    case ELOOP:
      return .symbolicLink(path: path)
    case EISDIR, ENXIO:
      return .notRegularFile(path: path)
    case ENOENT, ENOTDIR:
      return .directoryMissing(path: parentDirectory(of: path))
    default:
      return .system(call: "open", code: code, path: path)
    }
  }

  static func parentDirectory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func validHeader(
    of descriptor: GuardedDescriptor, path: String
  ) throws(CoordinationError) -> LockFileHeader? {
    var image = ByteImage(count: LockFileHeader.size)
    guard FileBytes.read(&image, from: descriptor, at: 0) else { return nil }
    guard let header = try LockFileHeader(image, path: path) else { return nil }
    var facts = stat()
    guard fstat(descriptor.number, &facts) == 0,
      facts.st_size >= off_t(LockFileLayout.fileSize(slotCount: header.slotCount))
    else { return nil }
    return header
  }

  private static func makeGood(
    _ descriptor: GuardedDescriptor, path: String, options: CoordinationOptions
  ) throws(CoordinationError) -> Int {
    let patience = BootClock.now(advancedBy: .seconds(2))
    while true {
      if try ByteLock.tryLock(LockFileLayout.initByte, of: descriptor, path: path) { break }
      // Whoever has the byte may be done before it lets go.
      if let header = try validHeader(of: descriptor, path: path) { return header.slotCount }
      guard BootClock.now() < patience else {
        throw .system(call: "initialise", code: EBUSY, path: path)
      }
      _ = clx_wait(-1, -1, 1_000_000)
    }
    defer { ByteLock.unlock(LockFileLayout.initByte, of: descriptor) }
    if let header = try validHeader(of: descriptor, path: path) { return header.slotCount }

    let size = LockFileLayout.fileSize(slotCount: options.slotCount)
    let reserved = clx_fallocate(descriptor.number, 0, Int64(size))
    if reserved != 0, -reserved != EOPNOTSUPP, -reserved != ENOSYS {
      throw .system(call: "fallocate", code: -reserved, path: path)
    }
    // Zeroes over everything: it may be garbage, and where fallocate does not exist this is what
    // takes the room.
    try FileBytes.write(ByteImage(count: size), to: descriptor, at: 0, path: path)
    FaultPoint.reach(.makingLockFile)
    let header = LockFileHeader(
      slotCount: options.slotCount, epoch: UInt64.random(in: 1...UInt64.max))
    try FileBytes.write(header.image, to: descriptor, at: 0, path: path)
    return options.slotCount
  }
}
