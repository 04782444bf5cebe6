import Foundation
import SharedFileCoordination
import Testing

/// Real processes that die or stop at bad moments.
///
/// They speak the documented layout from Python, so that the layout is tested too.
@Suite(.enabled(if: PythonChild.isAvailable, "python3 plays the other process"))
struct OtherProcessTests {
  private func child(_ scratch: Scratch, slot: Int) throws -> PythonChild {
    let child = try PythonChild(lockFile: scratch.lockFile)
    let byte = LockFileLayout.presenceByte(slot: slot)
    #expect(try child.tell("lock \(byte)") == "ok")
    let record = slotRecord(child)
    try child.tell("pwrite \(LockFileLayout.slotOffset(slot: slot)) \(record.hex)")
    return child
  }

  private func startTime(of pid: Int32) -> UInt64 {
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return 0 }
    return UInt64(text[end...].split(separator: " ")[20]) ?? 0
  }

  private func slotRecord(_ child: PythonChild) -> ByteImage {
    var image = ByteImage(count: LockFileLayout.slotSize)
    image.put(child.pid, at: 8)
    image.put(startTime(of: child.pid), at: 16)
    image.put(child.descriptor, at: 56)
    image.put(UInt16(image.put("python", at: 64, room: 64)), at: 60)
    GuardedRecord.seal(&image, number: 1)
    return image
  }

  private func holdLease(_ child: PythonChild, slot: Int, writeRecord: Bool = true) throws {
    #expect(try child.tell("lock \(LockFileLayout.writeLeaseByte)") == "ok")
    guard writeRecord else { return }
    var image = ByteImage(count: 256)
    image.put(Int32(slot), at: 8)
    image.put(child.pid, at: 12)
    image.put(startTime(of: child.pid), at: 16)
    image.put(BootClock.now().nanoseconds, at: 32)
    image.put(child.descriptor, at: 44)
    image.put(UInt16(image.put("long import", at: 56, room: 96)), at: 48)
    image.put(UInt16(image.put("python", at: 152, room: 64)), at: 50)
    GuardedRecord.seal(&image, number: BootClock.now().nanoseconds)
    try child.tell("pwrite \(LockFileLayout.turnOffset) \(image.hex)")
  }

  private func queueUp(_ child: PythonChild, slot: Int, ticket: UInt64) throws {
    var entry = ByteImage(count: 16)
    entry.put(ticket, at: 0)
    try child.tell("pwrite \(LockFileLayout.queueEntryOffset(slot: slot)) \(entry.hex)")
  }

  private func acquire(
    _ file: CoordinationFile, deadline: BootClock.Instant = soon()
  ) throws(CoordinationError) -> WriteTurn {
    try file.writeLease.acquire(deadline: deadline, purpose: "test", isCancelled: { false })
  }

  private func timeout(_ file: CoordinationFile) throws -> LeaseTimeout {
    let error = #expect(throws: CoordinationError.self) {
      try acquire(file, deadline: BootClock.now(advancedBy: .milliseconds(30))).finish()
    }
    guard case .leaseTimeout(let timeout) = error else {
      throw TestFailure(text: "\(String(describing: error))")
    }
    return timeout
  }

  @Test func `a holder killed with kill -9 frees the lease for the one that waits`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let holder = try child(scratch, slot: 5)
    try holdLease(holder, slot: 5)
    let waiting = Worker { try acquire(file).finish() }
    #expect(eventually { file.report().waiters.count == 1 })
    #expect(file.report().holder?.process?.pid == holder.pid)
    #expect(!waiting.isDone)
    holder.killAndWait()
    try waiting.value()
    let report = file.report()
    #expect(report.holder == nil)
    #expect(report.staleSlots.map(\.slot) == [5])
    #expect(report.staleSlots.first?.process.state == .gone)
    #expect(report.members.count == 1)
  }

  @Test func `a stopped holder is named with its number and the word stopped`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let holder = try child(scratch, slot: 3)
    try holdLease(holder, slot: 3)
    #expect(holder.stop())
    let timeout = try timeout(file)
    #expect(timeout.holder?.pid == holder.pid)
    #expect(timeout.holder?.label == "python")
    #expect(timeout.holder?.state == .stopped)
    #expect(timeout.purpose == "long import")
    #expect(timeout.description.contains("kill -CONT \(holder.pid)"))
    holder.signal(SIGCONT)
    #expect(try holder.tell("unlock \(LockFileLayout.writeLeaseByte)") == "ok")
    try acquire(file).finish()
  }

  @Test func `a holder that stopped before it wrote its record is found by the kernel's list`()
    throws
  {
    let scratch = try Scratch()
    let file = try scratch.open(label: "former")
    // The record says that this process has the lease, as it had.
    try acquire(file).finish()
    let holder = try child(scratch, slot: 3)
    try holdLease(holder, slot: 3, writeRecord: false)
    #expect(holder.stop())
    let timeout = try timeout(file)
    #expect(timeout.holder?.pid == holder.pid)
    #expect(timeout.holder?.state == .stopped)
    #expect(timeout.purpose == nil)
  }

  @Test func `a stopped first waiter is passed over once, and is nobody's obstacle then`() throws {
    let scratch = try Scratch()
    // Only because it is seen to be stopped: for others the patience has no end here.
    let file = try scratch.open(label: "a", patience: .seconds(3600))
    let other = try scratch.open(label: "b")
    let waiter = try child(scratch, slot: 7)
    try queueUp(waiter, slot: 7, ticket: 1000)
    #expect(waiter.stop())
    try acquire(file).finish()
    #expect(file.report().waiters.map(\.isPassedOver) == [true])
    // Now a turn is had on the quick way, without a place in line.
    for member in [file, other, file] { try acquire(member, deadline: BootClock.now()).finish() }
    // Awake, it takes a new ticket and is respected again.
    waiter.signal(SIGCONT)
    try queueUp(waiter, slot: 7, ticket: BootClock.now().nanoseconds)
    #expect(throws: CoordinationError.self) {
      try acquire(file, deadline: BootClock.now()).finish()
    }
  }

  @Test func `nobody goes before a live waiter, though the lease is free`() throws {
    let scratch = try Scratch()
    let file = try scratch.open(patience: .seconds(3600))
    let waiter = try child(scratch, slot: 7)
    try queueUp(waiter, slot: 7, ticket: 1000)
    #expect(try timeout(file).waitersBefore == 1)
    // The same with the ticket taken back.
    try queueUp(waiter, slot: 7, ticket: 0)
    try acquire(file, deadline: BootClock.now()).finish()
  }

  @Test func `one that does not take the free lease though it runs is passed over in the end`()
    throws
  {
    let scratch = try Scratch()
    let file = try scratch.open()
    let waiter = try child(scratch, slot: 7)
    try queueUp(waiter, slot: 7, ticket: 1000)
    try acquire(file).finish()
    #expect(file.report().waiters.map(\.isPassedOver) == [true])
  }

  @Test func `a waiter killed in line delays nobody and its entry is cleared`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let waiter = try child(scratch, slot: 7)
    try queueUp(waiter, slot: 7, ticket: 1000)
    waiter.killAndWait()
    try acquire(file, deadline: BootClock.now()).finish()
    let bytes = try scratch.read(scratch.lockFile)
    let offset = LockFileLayout.queueEntryOffset(slot: 7)
    #expect(bytes[offset..<(offset + 16)].allSatisfy { $0 == 0 })
  }

  @Test func `a killed holder whose forked child lives is told from a free lease`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let holder = try child(scratch, slot: 3)
    try holdLease(holder, slot: 3)
    let orphan = try #require(Int32(try holder.tell("fork")))
    holder.killAndWait()
    let timeout = try timeout(file)
    #expect(timeout.holder == nil || timeout.holder?.state == .gone)
    #expect(file.report().kernelLocks.contains { $0.pid == orphan })
    kill(orphan, SIGKILL)
    try acquire(file).finish()
  }

  @Test func `somebody stopped while making the file is not waited for without end`() throws {
    let scratch = try Scratch()
    try scratch.write([], to: scratch.lockFile)
    let maker = try PythonChild(lockFile: scratch.lockFile)
    #expect(try maker.tell("lock \(LockFileLayout.initByte)") == "ok")
    #expect(maker.stop())
    let file = try scratch.open()
    #expect(file.degradedReason?.contains("being made by another process") == true)
    let turn = try acquire(file)
    let isDegraded = turn.isDegraded
    #expect(isDegraded)
    turn.finish()
    maker.killAndWait()
    // It is tried again now and then; the turns in between do without.
    #expect(
      try eventually {
        try acquire(file).finish()
        return file.degradedReason == nil
      })
    #expect(file.slotNumber == 0)
  }

  @Test func `a torn record is not believed`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let holder = try child(scratch, slot: 3)
    try holdLease(holder, slot: 3)
    // Front and back of one record, the middle of another: what a reader may see in between.
    try holder.tell("pwrite \(LockFileLayout.turnOffset + 56) \(Array("false".utf8).hex)")
    let holderInReport = try #require(file.report().holder)
    #expect(holderInReport.purpose == nil)
    #expect(holderInReport.process?.pid == holder.pid)
  }
}

extension ByteImage {
  var hex: String { bytes.hex }
}

extension [UInt8] {
  var hex: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
