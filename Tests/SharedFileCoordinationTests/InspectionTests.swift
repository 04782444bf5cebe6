import Foundation
import SharedFileCoordination
import Testing

@Suite struct InspectionTests {
  @Test func `live locks of a file are found with their holder`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let identity = try #require(file.identity)
    let turn = try file.writeLease.acquire(
      deadline: soon(), purpose: "", isCancelled: { false })
    let locks = KernelLocks.holders(of: identity)
    let lease = try #require(locks.first { $0.covers(LockFileLayout.writeLeaseByte) })
    #expect(lease.kind == .openFileDescription)
    #expect(lease.isExclusive)
    #expect(lease.pid == getpid())
    #expect(!lease.isWaiting)
    #expect(locks.contains { $0.covers(LockFileLayout.presenceByte(slot: 0)) })
    turn.finish()
    #expect(
      !KernelLocks.holders(of: identity).contains { $0.covers(LockFileLayout.writeLeaseByte) })
    file.close()
    #expect(KernelLocks.holders(of: identity).isEmpty)
  }

  @Test func `lines of the kernel's list are read`() {
    // Device fe:01 is 0xfe01 with the C library's packing.
    let identity = FileIdentity(device: 0xFE01, inode: 4242)
    let text = """
      1: OFDLCK  ADVISORY  WRITE -1 fe:01:4242 1073741824 1073741825
      2: POSIX  ADVISORY  READ 77 fe:01:4242 128 128
      2: -> POSIX  ADVISORY  WRITE 78 fe:01:4242 0 EOF
      3: POSIX  ADVISORY  WRITE 79 fe:01:4243 0 EOF
      4: FLOCK  ADVISORY  WRITE 80 fe:02:4242 0 EOF
      garbage
      lock:\t5: FLOCK  ADVISORY  READ 81 fe:01:4242 0 EOF
      """
    #expect(
      KernelLocks.parse(text, identity: identity) == [
        KernelLock(
          kind: .openFileDescription, isExclusive: true, start: 1_073_741_824,
          end: 1_073_741_825, pid: nil, isWaiting: false),
        KernelLock(
          kind: .posix, isExclusive: false, start: 128, end: 128, pid: 77, isWaiting: false),
        KernelLock(
          kind: .posix, isExclusive: true, start: 0, end: .max, pid: 78, isWaiting: true),
        KernelLock(
          kind: .flock, isExclusive: false, start: 0, end: .max, pid: 81, isWaiting: false),
      ])
  }

  @Test(arguments: [
    (120 as Int64, "write"), (121, "checkpoint"), (122, "recovery"), (123, "read mark 0"),
    (127, "read mark 4"), (128, "attached"),
  ])
  func `SQLite's bytes of the shared memory file have names`(byte: Int64, name: String) {
    #expect(SQLiteLockByte(byte, in: .sharedMemory)?.description == name)
  }

  @Test func `SQLite's bytes of the database have names, and a range has several`() {
    #expect(SQLiteLockByte(1_073_741_824, in: .database) == .pending)
    #expect(SQLiteLockByte(1_073_741_825, in: .database) == .reserved)
    #expect(SQLiteLockByte(1_073_742_335, in: .database) == .shared)
    #expect(SQLiteLockByte(1_073_742_336, in: .database) == nil)
    #expect(SQLiteLockByte(120, in: .database) == nil)
    let lock = KernelLock(
      kind: .posix, isExclusive: true, start: 120, end: 123, pid: 1, isWaiting: false)
    #expect(
      SQLiteLockByte.names(in: lock, of: .sharedMemory)
        == [.write, .checkpoint, .recovery, .readMark(0)])
    let shared = KernelLock(
      kind: .posix, isExclusive: false, start: 1_073_741_826, end: 1_073_742_335, pid: 1,
      isWaiting: false)
    #expect(SQLiteLockByte.names(in: shared, of: .database) == [.shared])
  }

  @Test func `a report is made from outside, without a lock and without a slot`() throws {
    let scratch = try Scratch()
    let missing = LockReport.of(databasePath: scratch.database)
    #expect(!missing.isReadable)
    #expect(missing.problem != nil)
    #expect(FileIdentity.of(path: scratch.lockFile) == nil, "looking makes nothing")

    let file = try scratch.open(label: "service")
    let other = try scratch.open(label: "collector")
    file.publish(token: 4711)
    file.ring()
    let turn = try other.writeLease.acquire(
      deadline: soon(), purpose: "sums", isCancelled: { false })
    let before = KernelLocks.holders(of: try #require(file.identity))
    let report = LockReport.of(databasePath: scratch.database)
    #expect(KernelLocks.holders(of: try #require(file.identity)) == before)
    #expect(report.isReadable)
    #expect(report.members.map(\.process.label) == ["service", "collector"])
    #expect(report.members.map(\.token) == [4711, 0])
    #expect(report.holder?.process?.label == "collector")
    #expect(report.holder?.purpose == "sums")
    #expect(report.holder?.slot == 1)
    #expect(report.commitCounter == 1)
    #expect(report.slotCount == 128)
    #expect(report.waiters.isEmpty)
    turn.finish()
  }

  @Test func `the holder's own report shows its own turn`() throws {
    let scratch = try Scratch()
    let file = try scratch.open(label: "service")
    let turn = try file.writeLease.acquire(
      deadline: soon(), purpose: "sums", isCancelled: { false })
    #expect(file.report().holder?.process?.label == "service")
    turn.finish()
    #expect(file.report().holder == nil)
  }

  @Test func `a report survives the way through JSON`() throws {
    let scratch = try Scratch()
    let file = try scratch.open(label: "service")
    let turn = try file.writeLease.acquire(
      deadline: soon(), purpose: "sums", isCancelled: { false })
    let report = file.report()
    let data = try JSONEncoder().encode(report)
    #expect(try JSONDecoder().decode(LockReport.self, from: data) == report)
    turn.finish()
  }

  @Test func `this process is running, a number nobody has is gone`() {
    let own = ProcessProbe.state(pid: getpid(), startTime: 0, pidNamespace: 0)
    #expect(own == .running || own == .sleeping)
    #expect(ProcessProbe.state(pid: getpid(), startTime: 1, pidNamespace: 0) == .gone)
    #expect(ProcessProbe.state(pid: 0x3FFF_FFFF, startTime: 0, pidNamespace: 0) == .gone)
    #expect(ProcessProbe.state(pid: getpid(), startTime: 0, pidNamespace: 1) == .unknown)
  }

  @Test func `a stopped process is seen as stopped, a dead child as zombie`() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sleep")
    process.arguments = ["600"]
    try process.run()
    let pid = process.processIdentifier
    func state() -> ProcessState {
      ProcessProbe.state(pid: pid, startTime: 0, pidNamespace: 0)
    }
    kill(pid, SIGSTOP)
    #expect(eventually { state() == .stopped })
    kill(pid, SIGCONT)
    #expect(eventually { state() == .sleeping })
    kill(pid, SIGKILL)
    process.waitUntilExit()
    #expect(eventually { state() == .gone })
  }

  @Test func `the boot clock's offset of a time namespace is read`() {
    #expect(
      BootClock.parseOffsets("monotonic           0         0\nboottime            0 0\n") == 0)
    #expect(BootClock.parseOffsets("monotonic 5 0\nboottime 86400 7\n") == 86_400_000_000_007)
    #expect(BootClock.parseOffsets("boottime -3 500000000\n") == -2_500_000_000)
    #expect(BootClock.parseOffsets("") == 0)
  }

  @Test func `instants can be moved and compared without overflow`() {
    let instant = BootClock.Instant(nanoseconds: 1000)
    #expect(instant.advanced(by: .nanoseconds(5)).nanoseconds == 1005)
    #expect(instant.advanced(by: .zero - .seconds(1)).nanoseconds == 0)
    #expect(instant.advanced(by: .seconds(Int64.max)) > instant)
    #expect(instant.duration(to: instant.advanced(by: .seconds(2))) == .seconds(2))
    #expect(instant.advanced(by: .seconds(2)).duration(to: instant) == .zero - .seconds(2))
    let first = BootClock.now()
    #expect(first <= BootClock.now())
  }

  @Test func `texts are cut between characters`() {
    var image = ByteImage(count: 16)
    #expect(image.put("aäöü", at: 0, room: 4) == 3)
    #expect(image.text(at: 0, count: 3) == "aä")
    #expect(image.put("ab", at: 8, room: 4) == 2)
  }

  @Test func `a record is whole or nothing`() {
    var image = ByteImage(count: 64)
    #expect(GuardedRecord.number(of: image) == nil)
    image.put(UInt64(99), at: 16)
    GuardedRecord.seal(&image, number: 5)
    #expect(GuardedRecord.number(of: image) == 5)
    for offset in 0..<64 {
      var torn = image
      torn.bytes[offset] ^= 1
      #expect(GuardedRecord.number(of: torn) == nil)
    }
  }
}
