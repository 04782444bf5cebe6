import Glibc

/// Who has a database open, who holds its leases, who waits; a value made without taking a lock.
package struct LockReport: Sendable, Codable, Equatable {
  /// A process with a slot.
  package struct Member: Sendable, Codable, Equatable {
    package var slot: Int
    package var process: ProcessDescription
    /// When it joined, on the boot clock.
    package var since: BootClock.Instant
    /// Change token that it has reached.
    package var token: Int64
    /// Inode of the pid namespace in which the process's number means something, 0 when not known.
    package var pidNamespace: UInt64
  }

  /// Who has a lease.
  package struct Holder: Sendable, Codable, Equatable {
    /// Nil when it could not be found out.
    package var process: ProcessDescription?
    package var slot: Int?
    package var purpose: String?
    package var since: BootClock.Instant?
    package var heldFor: Duration?
    /// Inode of the pid namespace in which the process's number means something, 0 when not known.
    package var pidNamespace: UInt64 = 0

    /// Whether the process's number means nothing here.
    package var isElsewhere: Bool {
      pidNamespace != 0 && pidNamespace != ProcessProbe.ownNamespace
    }
  }

  /// A process in line for the write lease.
  package struct Waiter: Sendable, Codable, Equatable {
    package var slot: Int
    package var process: ProcessDescription?
    package var waitingFor: Duration
    /// Whether others go before it, because it did not take the lease when it could.
    package var isPassedOver: Bool
    /// Whether it waits for a background write: others go first, but not for ever.
    package var isYielding = false
  }

  /// A slot whose owner died without giving it up.
  package struct StaleSlot: Sendable, Codable, Equatable {
    package var slot: Int
    package var process: ProcessDescription
    /// Inode of the pid namespace in which the process's number means something, 0 when not known.
    package var pidNamespace: UInt64
  }

  /// What can be said of the lock file as a file.
  package enum Condition: String, Sendable, Codable {
    /// It is one of ours and whole.
    case good
    /// There is none.
    case missing
    /// This user may not read it.
    case refused
    /// Its path leads to a symbolic link, a directory or the like.
    case notRegular
    /// It is too short, or its head is not that of a lock file.
    case damaged
    /// It is one of ours with another layout.
    case otherVersion
  }

  /// The lock file.
  package var path: String
  /// Whether the file could be read and is one of ours.
  package var isReadable = false
  /// What can be said of the file.
  package var condition = Condition.missing
  /// Why not, when not.
  package var problem: String?
  /// Device and inode of the file that was looked at.
  package var identity: FileIdentity?
  package var commitCounter: UInt64 = 0
  package var slotCount = 0
  /// The holder of the write lease, nil when it is free.
  package var holder: Holder?
  /// The holder of the migration lease, nil when it is free.
  package var migrationHolder: Holder?
  /// First in line first.
  package var waiters: [Waiter] = []
  /// By slot.
  package var members: [Member] = []
  package var staleSlots: [StaleSlot] = []
  /// The kernel's own list of locks on the lock file; empty when it was not asked for, since that
  /// looks at every descriptor of every process.
  package var kernelLocks: [KernelLock] = []

  /// Looks at the lock file of a database, without being a member.
  package static func of(
    databasePath: String, includesKernelLocks: Bool = true
  ) -> LockReport {
    of(
      lockFile: CoordinationFile.path(forDatabase: databasePath),
      includesKernelLocks: includesKernelLocks)
  }

  /// Whether a file begins as a lock file of ours does, of whatever layout version.
  ///
  /// Opens it for reading, without following a link.
  package static func isLockFile(path: String) -> Bool {
    guard let (descriptor, _, _) = LockFile.openForLooking(path: path) else { return false }
    var image = ByteImage(count: 8)
    return FileBytes.read(&image, from: descriptor, at: 0)
      && image.number(at: 0, as: UInt64.self) == LockFileLayout.magic
  }

  static func of(lockFile path: String, includesKernelLocks: Bool) -> LockReport {
    guard let (descriptor, identity, _) = LockFile.openForLooking(path: path) else {
      return LockReport(unopened: path)
    }
    return LockReport(
      path: path, descriptor: descriptor, identity: identity, own: nil,
      includesKernelLocks: includesKernelLocks)
  }

  private init(unopened path: String) {
    self.path = path
    var facts = stat()
    if lstat(path, &facts) != 0 {
      condition = errno == ENOENT || errno == ENOTDIR ? .missing : .refused
    } else {
      condition = facts.st_mode & S_IFMT == S_IFREG ? .refused : .notRegular
    }
    switch condition {
    case .missing: problem = "There is no lock file."
    case .notRegular: problem = "The lock file's path is taken by something else."
    default: problem = "The lock file cannot be opened."
    }
  }

  init(membership: Membership, includesKernelLocks: Bool) {
    self.init(
      path: membership.file.path, descriptor: membership.file.descriptor,
      identity: membership.file.identity, own: membership,
      includesKernelLocks: includesKernelLocks)
  }

  private init(
    path: String, descriptor: GuardedDescriptor, identity: FileIdentity, own: Membership?,
    includesKernelLocks: Bool
  ) {
    self.path = path
    self.identity = identity
    if includesKernelLocks { kernelLocks = KernelLocks.holders(of: identity) }
    var page = HeaderPage()
    do throws(CoordinationError) {
      guard try page.load(from: descriptor, path: path), let header = page.header else {
        condition = .damaged
        problem = "The lock file has no valid header; the next writer makes it good."
        return
      }
      slotCount = header.slotCount
    } catch {
      condition = .otherVersion
      problem = error.description
      return
    }
    condition = .good
    isReadable = true
    commitCounter = page.commitCounter
    let now = BootClock.now()
    let slots = readSlots(descriptor: descriptor, own: own)
    waiters = LockReport.waiters(page: page, live: slots, now: now)
    holder = LockReport.holder(
      LockFileLayout.writeLeaseByte, record: { page.turn },
      reload: {
        _ = try? page.load(from: descriptor, path: path)
      }, descriptor: descriptor, file: identity, slots: slots, own: own)
    migrationHolder = LockReport.holder(
      LockFileLayout.migrationByte, record: { page.migration },
      reload: {
        _ = try? page.load(from: descriptor, path: path)
      }, descriptor: descriptor, file: identity, slots: slots, own: own)
  }

  /// Reads all slots into `members` and `staleSlots`, and returns those that are alive.
  private mutating func readSlots(
    descriptor: GuardedDescriptor, own: Membership?
  ) -> [Int: ProcessSlot] {
    var live: [Int: ProcessSlot] = [:]
    for number in 0..<slotCount {
      let isLive =
        number == own?.slot
        || ByteLock.isLockedByOther(
          LockFileLayout.presenceByte(slot: number), of: descriptor)
      guard let slot = ProcessSlot.read(number, from: descriptor) else { continue }
      let state = ProcessProbe.state(
        pid: slot.pid, startTime: slot.startTime, pidNamespace: slot.pidNamespace)
      let process = slot.description(state: state)
      if isLive {
        live[number] = slot
        members.append(
          Member(
            slot: number, process: process, since: BootClock.Instant(nanoseconds: slot.since),
            token: slot.token, pidNamespace: slot.pidNamespace))
      } else {
        staleSlots.append(
          StaleSlot(slot: number, process: process, pidNamespace: slot.pidNamespace))
      }
    }
    return live
  }

  private static func waiters(
    page: HeaderPage, live: [Int: ProcessSlot], now: BootClock.Instant
  ) -> [Waiter] {
    page.queue.filter { live[$0.slot] != nil }.sorted { $0.isBefore($1) }.map { entry in
      Waiter(
        slot: entry.slot,
        process: live[entry.slot].map { slot in
          slot.description(
            state: ProcessProbe.state(
              pid: slot.pid, startTime: slot.startTime, pidNamespace: slot.pidNamespace))
        },
        waitingFor: max(.zero, BootClock.Instant(nanoseconds: entry.arrival).duration(to: now)),
        isPassedOver: !entry.counts, isYielding: entry.yields)
    }
  }

  private static func holder(
    _ byte: Int64, record: () -> TurnRecord?, reload: () -> Void, descriptor: GuardedDescriptor,
    file: FileIdentity, slots: [Int: ProcessSlot], own: Membership?
  ) -> Holder? {
    // One's own lock does not stand in one's own way, so the kernel is asked by its list then.
    let isLocked =
      ByteLock.isLockedByOther(byte, of: descriptor)
      || own.map {
        KernelLocks.holds(
          byte, of: file, pid: $0.process.pid, descriptor: descriptor.number, pidNamespace: 0)
          == true
      } ?? false
    guard isLocked else { return nil }
    var found: LeaseHolder.Finding?
    for _ in 0..<3 {
      found = LeaseHolder.find(byte: byte, file: file, record: record(), slots: slots)
      if found != nil { break }
      reload()
    }
    let now = BootClock.now()
    return Holder(
      process: found?.process, slot: found?.slot, purpose: found?.purpose, since: found?.since,
      heldFor: found?.since.map { max(.zero, $0.duration(to: now)) },
      pidNamespace: found?.slot.flatMap { slots[$0]?.pidNamespace } ?? record()?.pidNamespace ?? 0)
  }
}

extension MembershipPlace {
  /// Describes a wait for a lease that ended without it.
  func timeout(waited: Duration, byte: Int64) -> LeaseTimeout {
    var timeout = LeaseTimeout(path: path, waited: waited)
    describeHolder(byte: byte, into: &timeout)
    return timeout
  }

  /// Adds to a time-out who holds the lease.
  func describeHolder(
    byte: Int64 = LockFileLayout.writeLeaseByte, into timeout: inout LeaseTimeout
  ) {
    guard let membership = existing else { return }
    let report = LockReport(membership: membership, includesKernelLocks: false)
    let holder =
      byte == LockFileLayout.migrationByte ? report.migrationHolder : report.holder
    timeout.holder = holder?.process
    timeout.isHolderElsewhere = holder?.isElsewhere ?? false
    timeout.purpose = holder?.purpose
    timeout.heldFor = holder?.heldFor
  }
}
