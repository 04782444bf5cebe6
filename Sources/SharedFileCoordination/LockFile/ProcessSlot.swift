/// What a process writes about itself into its slot.
///
/// It means something only while the slot's presence byte is locked; then its owner is alive, or
/// a child that it forked without exec is.
package struct ProcessSlot: Sendable, Equatable {
  package var pid: Int32 = 0
  package var userID: UInt32 = 0
  package var startTime: UInt64 = 0
  package var pidNamespace: UInt64 = 0
  /// Makes the name of the wake-up socket impossible to guess before the record is read.
  package var nonce: UInt64 = 0
  /// When the process joined, on the boot clock.
  package var since: UInt64 = 0
  /// Change token up to which the process has read.
  package var token: Int64 = 0
  /// Number of the descriptor whose locks are the process's presence, for `/proc/PID/fdinfo`.
  package var descriptor: Int32 = -1
  package var label: String = ""
  package var command: String = ""

  static let labelRoom = 64
  static let commandRoom = 320

  init() {}

  /// Reads a record, nil when it is torn, empty or garbage.
  init?(_ image: ByteImage) {
    guard GuardedRecord.number(of: image) != nil else { return nil }
    pid = image.number(at: 8, as: Int32.self)
    userID = image.number(at: 12, as: UInt32.self)
    startTime = image.number(at: 16, as: UInt64.self)
    pidNamespace = image.number(at: 24, as: UInt64.self)
    nonce = image.number(at: 32, as: UInt64.self)
    since = image.number(at: 40, as: UInt64.self)
    token = image.number(at: 48, as: Int64.self)
    descriptor = image.number(at: 56, as: Int32.self)
    label = image.text(
      at: 64, count: min(Self.labelRoom, Int(image.number(at: 60, as: UInt16.self))))
    command = image.text(
      at: 128, count: min(Self.commandRoom, Int(image.number(at: 62, as: UInt16.self))))
  }

  /// Reads a slot's record from the file, a few times when it is being written.
  static func read(_ slot: Int, from descriptor: GuardedDescriptor) -> ProcessSlot? {
    var image = ByteImage(count: LockFileLayout.slotSize)
    for _ in 0..<3 {
      guard
        FileBytes.read(&image, from: descriptor, at: LockFileLayout.slotOffset(slot: slot))
      else { return nil }
      if let record = ProcessSlot(image) { return record }
      // All zeroes: never used. Anything else may be a write in progress.
      if image.number(at: 0, as: UInt64.self) == 0 { return nil }
    }
    return nil
  }

  /// The record's bytes, sealed with a number.
  func image(number: UInt64) -> ByteImage {
    var image = ByteImage(count: LockFileLayout.slotSize)
    image.put(pid, at: 8)
    image.put(userID, at: 12)
    image.put(startTime, at: 16)
    image.put(pidNamespace, at: 24)
    image.put(nonce, at: 32)
    image.put(since, at: 40)
    image.put(token, at: 48)
    image.put(descriptor, at: 56)
    let labelCount = image.put(label, at: 64, room: Self.labelRoom)
    image.put(UInt16(labelCount), at: 60)
    let commandCount = image.put(command, at: 128, room: Self.commandRoom)
    image.put(UInt16(commandCount), at: 62)
    GuardedRecord.seal(&image, number: number)
    return image
  }

  /// Returns the name of the socket that wakes this slot's owner (abstract namespace, unix(7)).
  package func wakeName(file: FileIdentity, slot: Int) -> String {
    func hex(_ number: some BinaryInteger) -> String { String(number, radix: 16) }
    return "boutique-\(hex(file.device)):\(hex(file.inode))-\(hex(slot))-\(hex(pid))-"
      + "\(hex(startTime))-\(hex(nonce))"
  }

  /// Returns the process as others describe it.
  func description(state: ProcessState) -> ProcessDescription {
    ProcessDescription(
      pid: pid, startTime: startTime, label: label, command: command, userID: userID, state: state)
  }
}
