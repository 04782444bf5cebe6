/// The first bytes of the lock file.
package struct LockFileHeader: Sendable, Equatable {
  static let size = 32

  /// How many processes have a place in the queue.
  package var slotCount: Int
  /// Random number of this making of the content; when it changes, records have to be written
  /// again.
  package var epoch: UInt64

  /// Reads a header.
  ///
  /// - Returns: Nil when it is not one of ours or damaged.
  /// - Throws: `.layoutVersion` when it is ours and of another version.
  init?(_ image: ByteImage, path: String) throws(CoordinationError) {
    guard image.number(at: 0, as: UInt64.self) == LockFileLayout.magic else { return nil }
    // Magic and version stand where they stand in every version to come; the checksum may not.
    let version = image.number(at: 8, as: UInt32.self)
    guard version == LockFileLayout.version else {
      // Zero is not a version: a writer that died between the pages of the header, or damage.
      if version == 0 { return nil }
      throw .layoutVersion(path: path, found: version, expected: LockFileLayout.version)
    }
    let count = Int(image.number(at: 12, as: UInt32.self))
    guard (1...LockFileLayout.maximumSlotCount).contains(count),
      image.number(at: 24, as: UInt64.self) == GuardedRecord.checksum(image.bytes[0..<24])
    else { return nil }
    slotCount = count
    epoch = image.number(at: 16, as: UInt64.self)
  }

  init(slotCount: Int, epoch: UInt64) {
    self.slotCount = slotCount
    self.epoch = epoch
  }

  var image: ByteImage {
    var image = ByteImage(count: Self.size)
    image.put(LockFileLayout.magic, at: 0)
    image.put(LockFileLayout.version, at: 8)
    image.put(UInt32(slotCount), at: 12)
    image.put(epoch, at: 16)
    image.put(GuardedRecord.checksum(image.bytes[0..<24]), at: 24)
    return image
  }
}
