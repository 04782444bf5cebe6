/// Who has a lease and what for; written by the holder right after it took the lease's byte.
///
/// It is never cleared, which saves a write per turn: while the byte is free it is history, and
/// while the byte is locked it is the holder's, or, for the microseconds between lock and record,
/// the one's before; `LeaseHolder` tells these two apart by what `/proc` says of the lock.
package struct TurnRecord: Sendable, Equatable {
  /// The boot clock's reading at the turn's begin: another one with every turn, so two looks can
  /// tell whether one was between them.
  package var number: UInt64 = 0
  /// The holder's slot, −1 when it has none.
  package var slot: Int32 = -1
  package var pid: Int32 = 0
  package var startTime: UInt64 = 0
  package var pidNamespace: UInt64 = 0
  /// When the turn began, on the boot clock.
  package var since: UInt64 = 0
  package var userID: UInt32 = 0
  package var descriptor: Int32 = -1
  package var purpose: String = ""
  package var label: String = ""

  static let size = 256
  static let purposeRoom = 96
  static let labelRoom = 64

  init() {}

  /// Reads a record, nil when it is torn, empty or garbage.
  init?(_ image: ByteImage) {
    guard let number = GuardedRecord.number(of: image) else { return nil }
    self.number = number
    slot = image.number(at: 8, as: Int32.self)
    pid = image.number(at: 12, as: Int32.self)
    startTime = image.number(at: 16, as: UInt64.self)
    pidNamespace = image.number(at: 24, as: UInt64.self)
    since = image.number(at: 32, as: UInt64.self)
    userID = image.number(at: 40, as: UInt32.self)
    descriptor = image.number(at: 44, as: Int32.self)
    purpose = image.text(
      at: 56, count: min(Self.purposeRoom, Int(image.number(at: 48, as: UInt16.self))))
    label = image.text(
      at: 152, count: min(Self.labelRoom, Int(image.number(at: 50, as: UInt16.self))))
  }

  /// The record's bytes, sealed with the turn's number.
  var image: ByteImage {
    var image = ByteImage(count: Self.size)
    image.put(slot, at: 8)
    image.put(pid, at: 12)
    image.put(startTime, at: 16)
    image.put(pidNamespace, at: 24)
    image.put(since, at: 32)
    image.put(userID, at: 40)
    image.put(descriptor, at: 44)
    let purposeCount = image.put(purpose, at: 56, room: Self.purposeRoom)
    image.put(UInt16(purposeCount), at: 48)
    let labelCount = image.put(label, at: 152, room: Self.labelRoom)
    image.put(UInt16(labelCount), at: 50)
    GuardedRecord.seal(&image, number: max(1, number))
    return image
  }
}
