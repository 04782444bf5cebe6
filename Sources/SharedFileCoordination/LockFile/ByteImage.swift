/// Bytes with a fixed little-endian layout, in memory.
package struct ByteImage: Sendable, Equatable {
  /// The bytes; their number never changes.
  package var bytes: [UInt8]

  /// Makes an image of so many zero bytes.
  package init(count: Int) {
    bytes = [UInt8](repeating: 0, count: count)
  }

  /// Makes an image of bytes that were read.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Returns the number at an offset.
  package func number<Number: FixedWidthInteger>(at offset: Int, as: Number.Type) -> Number {
    bytes.withUnsafeBytes { raw in
      Number(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
  }

  /// Puts a number at an offset.
  package mutating func put<Number: FixedWidthInteger>(_ value: Number, at offset: Int) {
    bytes.withUnsafeMutableBytes { raw in
      raw.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Number.self)
    }
  }

  /// Returns the text of at most `count` bytes at an offset; what is not UTF-8 is replaced.
  package func text(at offset: Int, count: Int) -> String {
    let end = min(bytes.count, offset + max(0, count))
    guard offset < end else { return "" }
    return String(decoding: bytes[offset..<end], as: UTF8.self)
  }

  /// Puts as much of a text as fits into `room` bytes, cut between characters of the encoding.
  ///
  /// - Returns: How many bytes the text took.
  package mutating func put(_ text: String, at offset: Int, room: Int) -> Int {
    let all = Array(text.utf8)
    var count = min(all.count, room)
    // A byte 10xxxxxx continues a character that began before the cut.
    while count > 0, count < all.count, all[count] & 0xC0 == 0x80 { count -= 1 }
    bytes.replaceSubrange(offset..<(offset + count), with: all[0..<count])
    return count
  }
}

/// A record that readers without a lock can tell whole from torn: number, content, checksum,
/// number (`LockFileLayout`, invariant 2).
package enum GuardedRecord {
  /// Writes number and checksum around a record's content.
  package static func seal(_ image: inout ByteImage, number: UInt64) {
    let size = image.bytes.count
    image.put(number, at: 0)
    image.put(checksum(image.bytes[0..<(size - 16)]), at: size - 16)
    image.put(number, at: size - 8)
  }

  /// Returns the number of a whole record, nil when it is torn, empty or garbage.
  package static func number(of image: ByteImage) -> UInt64? {
    let size = image.bytes.count
    let front = image.number(at: 0, as: UInt64.self)
    guard front != 0, front == image.number(at: size - 8, as: UInt64.self),
      image.number(at: size - 16, as: UInt64.self) == checksum(image.bytes[0..<(size - 16)])
    else { return nil }
    return front
  }

  /// Returns a 64-bit sum that a torn or random record has with no practical probability.
  ///
  /// Works on words: records are written on every turn, and byte by byte cost as much as the write.
  package static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.withUnsafeBytes { raw in
      var sum: UInt64 = 0x9E37_79B9_7F4A_7C15
      var offset = 0
      while offset + 8 <= raw.count {
        let word = UInt64(
          littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        sum = (sum ^ word) &* 0xFF51_AFD7_ED55_8CCD
        sum ^= sum >> 32
        offset += 8
      }
      while offset < raw.count {
        sum = (sum ^ UInt64(raw[offset])) &* 0xC4CE_B9FE_1A85_EC53
        sum ^= sum >> 29
        offset += 1
      }
      return sum
    }
  }
}
