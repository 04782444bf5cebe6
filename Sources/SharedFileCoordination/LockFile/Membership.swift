// One process's part in one lock file: the open file, the slot, the socket that wakes it.
//
// Invariants
//  1. The presence byte is locked before anything is written into the slot, and written into only
//     while it is locked.
//  2. Everything is given up by letting go of the last reference: so a thread that waits or holds
//     a turn never finds its descriptor closed or its slot taken over. The record is cleared first,
//     while the byte is still locked: so what lies in a slot without owner is that of one who died.
//
// Steps of joining: open → lock the first free presence byte → zero the queue entry → make and name
// the socket → write the slot record. Death after any step frees the byte; what was written is then
// a leftover. A stop after the lock and before the record shows the former owner's record as alive
// in reports, which `/proc` contradicts (`KernelLocks.holds`).

import CLinuxShims
import Glibc
import Synchronization

/// A process's open lock file, slot and wake-up socket.
final class Membership: Sendable {
  let file: LockFile
  /// Nil when all slots were taken.
  let slot: Int?
  let process: OwnProcess
  private let origin = ForkGuard()
  private let socket: GuardedDescriptor?
  /// Under its mutex; the record in the file is written only inside.
  private let record: Mutex<(slot: ProcessSlot, number: UInt64, epoch: UInt64)>

  /// Joins the processes that use a lock file.
  init(file: LockFile, options: CoordinationOptions, token: Int64) throws(CoordinationError) {
    self.file = file
    process = OwnProcess()
    var mine = ProcessSlot()
    mine.pid = process.pid
    mine.userID = process.userID
    mine.startTime = process.startTime
    mine.pidNamespace = process.pidNamespace
    mine.since = BootClock.now().nanoseconds
    mine.token = token
    mine.descriptor = file.descriptor.number
    mine.label = options.label
    mine.command = options.command

    var taken: Int?
    for candidate in 0..<file.slotCount
    where try ByteLock.tryLock(
      LockFileLayout.presenceByte(slot: candidate), of: file.descriptor, path: file.path)
    {
      taken = candidate
      break
    }
    slot = taken
    let number = clx_guarded_socket()
    // Without a socket (no descriptors left) the process neither wakes nor is woken; it looks.
    socket = number >= 0 ? GuardedDescriptor(adopting: number, holdsLocks: false) : nil
    if let taken {
      try FileBytes.write(
        ByteImage(count: LockFileLayout.queueEntrySize), to: file.descriptor,
        at: LockFileLayout.queueEntryOffset(slot: taken), path: file.path)
      if let socket { Membership.bind(socket, for: &mine, file: file.identity, slot: taken) }
    }
    let first = UInt64.random(in: 1...UInt64(UInt32.max))
    var page = HeaderPage()
    let epoch = try page.load(from: file) ? page.header?.epoch ?? 0 : 0
    record = Mutex((mine, first, epoch))
    if let taken {
      try FileBytes.write(
        mine.image(number: first), to: file.descriptor,
        at: LockFileLayout.slotOffset(slot: taken), path: file.path)
    }
  }

  deinit {
    // While the presence byte is still ours. So a record without a living owner is that of a process that
    // died, and a report can say so. A forked child's descriptor is closed already.
    guard let slot, origin.isSameProcess else { return }
    try? FileBytes.write(
      ByteImage(count: LockFileLayout.slotSize), to: file.descriptor,
      at: LockFileLayout.slotOffset(slot: slot), path: file.path)
  }

  /// Gives the socket the name under which a releasing holder reaches this process.
  ///
  /// Where that is not allowed the process is not woken; it looks.
  private static func bind(
    _ socket: GuardedDescriptor, for mine: inout ProcessSlot, file: FileIdentity, slot: Int
  ) {
    for _ in 0..<8 {
      mine.nonce = UInt64.random(in: 1...UInt64.max)
      let name = mine.wakeName(file: file, slot: slot)
      if clx_abstract_bind(socket.number, name, name.utf8.count) != -EADDRINUSE { return }
    }
  }

  /// Writes the slot's record again when the file's content was made anew meanwhile.
  func refresh(epoch: UInt64) {
    guard slot != nil else { return }
    record.withLock { record in
      guard record.epoch != epoch else { return }
      record.epoch = epoch
      write(&record)
    }
  }

  /// Writes the slot's record again when it is not what this process wrote; whoever releases the
  /// lease reads in it how to wake us.
  func restoreRecord() {
    guard let slot else { return }
    record.withLock { record in
      var image = ByteImage(count: LockFileLayout.slotSize)
      let isThere = FileBytes.read(
        &image, from: file.descriptor, at: LockFileLayout.slotOffset(slot: slot))
      if !isThere || image != record.slot.image(number: record.number) { write(&record) }
    }
  }

  /// Writes the change token that this process has reached.
  func publish(token: Int64) {
    record.withLock { record in
      record.slot.token = token
      write(&record)
    }
  }

  private func write(_ record: inout (slot: ProcessSlot, number: UInt64, epoch: UInt64)) {
    guard let slot else { return }
    record.number += 1
    // Others' reports read it, and wakers the socket's name; without it both do with less.
    try? FileBytes.write(
      record.slot.image(number: record.number), to: file.descriptor,
      at: LockFileLayout.slotOffset(slot: slot), path: file.path)
  }

  // MARK: Queue

  /// Writes this process's place in line; ticket 0 leaves the line.
  func writeTicket(_ ticket: UInt64, yieldsSince: UInt64? = nil) throws(CoordinationError) {
    guard let slot else { return }
    var image = ByteImage(count: LockFileLayout.queueEntrySize)
    image.put(ticket, at: 0)
    if let yieldsSince { image.put(yieldsSince | LeaseQueue.Entry.yieldsMark, at: 8) }
    try FileBytes.write(
      image, to: file.descriptor, at: LockFileLayout.queueEntryOffset(slot: slot), path: file.path)
  }

  /// Marks a waiter as passed over.
  ///
  /// Only while holding the write lease.
  func markPassedOver(_ entry: LeaseQueue.Entry) {
    var image = ByteImage(count: 8)
    image.put(entry.ticket, at: 0)
    // Lost, it costs the next waiter the same patience again.
    try? FileBytes.write(
      image, to: file.descriptor, at: LockFileLayout.queueEntryOffset(slot: entry.slot) + 8,
      path: file.path)
  }

  /// Whether a slot has a living owner.
  func isLive(slot other: Int) -> Bool {
    other == slot
      || ByteLock.isLockedByOther(
        LockFileLayout.presenceByte(slot: other), of: file.descriptor)
  }

  /// Zeroes the queue entry of a dead process, under the lock of its slot's byte, so that no new
  /// owner's ticket can be hit.
  ///
  /// Only while holding the write lease.
  func sweep(_ entry: LeaseQueue.Entry) {
    let byte = LockFileLayout.presenceByte(slot: entry.slot)
    guard entry.slot != slot,
      (try? ByteLock.tryLock(byte, of: file.descriptor, path: file.path)) == true
    else { return }
    defer { ByteLock.unlock(byte, of: file.descriptor) }
    try? FileBytes.write(
      ByteImage(count: LockFileLayout.queueEntrySize), to: file.descriptor,
      at: LockFileLayout.queueEntryOffset(slot: entry.slot), path: file.path)
  }

  /// Wakes the first in line that can be reached.
  ///
  /// A message that cannot be delivered (its process died, or lives in another network namespace)
  /// goes to the next one as well; the one that was not reached looks by itself.
  func wakeNext(in page: inout HeaderPage) {
    guard let sender = socket, (try? page.load(from: file)) == true else { return }
    for entry in LeaseQueue.line(page.queue, without: slot) where isLive(slot: entry.slot) {
      guard let name = wakeName(slot: entry.slot) else { continue }
      let result = clx_abstract_send(sender.number, name, name.utf8.count)
      // A full queue means that it has been woken and has not looked yet.
      if result == 0 || -result == EAGAIN || -result == ENOBUFS { return }
    }
  }

  /// Whether a slot's owner is seen to be stopped.
  func isStopped(slot other: Int) -> Bool {
    guard let record = read(slot: other) else { return false }
    return ProcessProbe.state(
      pid: record.pid, startTime: record.startTime, pidNamespace: record.pidNamespace) == .stopped
  }

  private func wakeName(slot other: Int) -> String? {
    read(slot: other)?.wakeName(file: file.identity, slot: other)
  }

  private func read(slot other: Int) -> ProcessSlot? {
    ProcessSlot.read(other, from: file.descriptor)
  }

  /// Waits for a wake-up, for the caller's own signal, or for a time.
  func wait(signal: GuardedDescriptor, nanoseconds: UInt64) {
    let ready = clx_wait(
      socket?.number ?? -1, signal.number, Int64(clamping: nanoseconds))
    if ready & 1 != 0, let socket { clx_drain_socket(socket.number) }
    if ready & 2 != 0 { clx_drain_eventfd(signal.number) }
  }

  // MARK: Turns

  /// Writes who holds a lease.
  ///
  /// Only while holding that lease.
  func writeTurn(
    purpose: String, label: String, since: BootClock.Instant, at offset: Int
  ) {
    var turn = TurnRecord()
    turn.number = since.nanoseconds
    turn.slot = slot.map(Int32.init) ?? -1
    turn.pid = process.pid
    turn.startTime = process.startTime
    turn.pidNamespace = process.pidNamespace
    turn.since = since.nanoseconds
    turn.userID = process.userID
    turn.descriptor = file.descriptor.number
    turn.purpose = purpose
    turn.label = label
    // Only others' errors and reports read it.
    try? FileBytes.write(turn.image, to: file.descriptor, at: offset, path: file.path)
  }
}
