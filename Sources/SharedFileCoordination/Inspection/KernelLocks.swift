import Glibc

/// One lock as the kernel lists it.
package struct KernelLock: Sendable, Codable, Equatable {
  /// Which family of locks it belongs to.
  package enum Kind: String, Sendable, Codable {
    case posix
    case openFileDescription
    case flock
    case lease
    case other
  }

  package var kind: Kind
  package var isExclusive: Bool
  /// First byte.
  package var start: Int64
  /// Last byte; `Int64.max` means to the end of the file, however long.
  package var end: Int64
  /// The process that has it, nil when the kernel does not say and it was not found.
  package var pid: Int32?
  /// Whether it is waited for rather than held.
  package var isWaiting: Bool

  package init(
    kind: Kind, isExclusive: Bool, start: Int64, end: Int64, pid: Int32?, isWaiting: Bool
  ) {
    self.kind = kind
    self.isExclusive = isExclusive
    self.start = start
    self.end = end
    self.pid = pid
    self.isWaiting = isWaiting
  }

  /// Whether a byte lies in the locked range.
  package func covers(_ byte: Int64) -> Bool { start <= byte && byte <= end }
}

/// Reads `/proc/locks` and `/proc/PID/fdinfo`: who has which lock of a file.
///
/// Opens no such file.
package enum KernelLocks {
  /// Returns all locks of a file.
  ///
  /// Locks of open file descriptions have no pid in `/proc/locks`; their holders are found in the
  /// descriptor lists of the processes that this user may look at.
  package static func holders(of identity: FileIdentity) -> [KernelLock] {
    let listed = parse(SystemFile.text(path: "/proc/locks") ?? "", identity: identity)
    guard listed.contains(where: { $0.kind == .openFileDescription && !$0.isWaiting }) else {
      return listed
    }
    // A lock shared by fork is one line in the list and has two holders: every descriptor counts.
    let described = descriptorLocks(of: identity).filter { $0.kind == .openFileDescription }
    var result = listed.filter { $0.kind != .openFileDescription || $0.isWaiting }
    result += described
    result += listed.filter { lock in
      lock.kind == .openFileDescription && !lock.isWaiting
        && !described.contains { $0.start == lock.start && $0.end == lock.end }
    }
    return result
  }

  /// Whether a process's descriptor holds an open-file-description lock of a byte; nil when it
  /// cannot be looked at (another namespace, another user, no `/proc`).
  package static func holds(
    _ byte: Int64, of identity: FileIdentity, pid: Int32, descriptor: Int32, pidNamespace: UInt64
  ) -> Bool? {
    guard pid > 0, descriptor >= 0 else { return nil }
    if pidNamespace != 0, pidNamespace != ProcessProbe.ownNamespace { return nil }
    guard let text = SystemFile.text(path: "/proc/\(pid)/fdinfo/\(descriptor)") else {
      // No such process or descriptor is a no; a process of another user is no answer.
      return ProcessProbe.facts(pid: pid) == nil ? (kill(pid, 0) == 0 ? nil : false) : nil
    }
    return parse(text, identity: identity).contains { !$0.isWaiting && $0.covers(byte) }
  }

  private static func descriptorLocks(of identity: FileIdentity) -> [KernelLock] {
    var found: [KernelLock] = []
    for name in SystemFile.names(inDirectory: "/proc") {
      guard let pid = Int32(name) else { continue }
      for descriptor in SystemFile.names(inDirectory: "/proc/\(pid)/fdinfo") {
        // A stat through the link tells the file without opening it; most descriptors end here.
        guard FileIdentity.of(path: "/proc/\(pid)/fd/\(descriptor)") == identity,
          let text = SystemFile.text(path: "/proc/\(pid)/fdinfo/\(descriptor)")
        else { continue }
        found += parse(text, identity: identity).map { lock in
          var lock = lock
          lock.pid = pid
          return lock
        }
      }
    }
    return found
  }

  /// Reads the lines of `/proc/locks`, or the `lock:` lines of a descriptor's info, that concern
  /// a file.
  ///
  ///     1: OFDLCK  ADVISORY  WRITE -1 fe:01:4242 1073741824 1073741824
  ///     1: -> POSIX  ADVISORY  WRITE 77 fe:01:4242 0 EOF
  package static func parse(_ text: String, identity: FileIdentity) -> [KernelLock] {
    var locks: [KernelLock] = []
    for line in text.split(separator: "\n") {
      var words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      if words.first == "lock:" { words.removeFirst() }
      guard let first = words.first, first.hasSuffix(":"), Int(first.dropLast()) != nil else {
        continue
      }
      words.removeFirst()
      var isWaiting = false
      if words.first == "->" {
        isWaiting = true
        words.removeFirst()
      }
      guard words.count >= 7, matches(words[4], identity), let start = Int64(words[5]) else {
        continue
      }
      let pid = Int32(words[3]).flatMap { $0 > 0 ? $0 : nil }
      locks.append(
        KernelLock(
          kind: kind(words[0]), isExclusive: words[2] == "WRITE" || words[2] == "UNLCK",
          start: start, end: Int64(words[6]) ?? .max, pid: pid, isWaiting: isWaiting))
    }
    return locks
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
  private static func matches(_ word: Substring, _ identity: FileIdentity) -> Bool {
    let parts = word.split(separator: ":")
    guard parts.count == 3, let major = UInt64(parts[0], radix: 16),
      let minor = UInt64(parts[1], radix: 16), let inode = UInt64(parts[2])
    else { return false }
    // The C library's packing of device numbers (makedev(3)).
    let device =
      (minor & 0xFF) | ((major & 0xFFF) << 8) | ((minor & ~0xFF) << 12) | ((major & ~0xFFF) << 32)
    return inode == identity.inode && device == identity.device
  }
}
