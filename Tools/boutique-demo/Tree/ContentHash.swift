/// FNV-1a with 64 bits, a well-known hash that fits in five lines; not a cryptographic one.
///
/// Source of the two constants: "The FNV Non-Cryptographic Hash Algorithm", draft-eastlake-fnv,
/// section 5 (64-bit).
enum ContentHash {
  /// Returns the hash of some bytes.
  static func fnv1a(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    // An index loop: iterators are slow in debug builds, in which the quick demo runs.
    var index = 0
    while index < bytes.count {
      hash = (hash ^ UInt64(bytes[index])) &* 0x0000_0100_0000_01B3
      index &+= 1
    }
    return hash
  }

  /// Returns the hash of some bytes.
  static func fnv1a(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { fnv1a($0) } }

  /// A hash as 16 hexadecimal digits.
  static func text(_ hash: UInt64) -> String {
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
