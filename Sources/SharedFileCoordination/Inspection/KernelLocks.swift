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
    // The lines are those of one descriptor. They say which file by the device of the mounted file
    // system, which `stat` does not give on Btrfs and overlay file systems; so the descriptor is asked.
    guard let found = FileIdentity.of(path: "/proc/\(pid)/fd/\(descriptor)") else {
      return ProcessProbe.facts(pid: pid) == nil ? false : nil
    }
    guard found == identity else { return false }
    return KernelLockTable.parse(text).contains { !$0.lock.isWaiting && $0.lock.covers(byte) }
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
        found += KernelLockTable.parse(text).map { entry in
          var lock = entry.lock
          lock.pid = pid
          return lock
        }
      }
    }
    return found
  }

  /// Reads the lines of `/proc/locks`, or the `lock:` lines of a descriptor's info, that concern
  /// a file.
  package static func parse(_ text: String, identity: FileIdentity) -> [KernelLock] {
    KernelLockTable.parse(text).filter { $0.file == identity }.map(\.lock)
  }
}
