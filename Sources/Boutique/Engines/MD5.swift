import Foundation

/// The MD5 digest of RFC 1321, for the form of ``CacheKey/value`` only.
///
/// Nothing is kept safe by it: whoever wants to can make two texts with one digest. It is here because no
/// library that every Linux system has offers it.
enum MD5 {
  /// How far each step rotates, by round and step modulo 4.
  private static let rotations: [[UInt32]] = [
    [7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21],
  ]

  /// The whole parts of |sin(i + 1)| · 2³².
  private static let sines: [UInt32] = (1...64).map { UInt32(abs(sin(Double($0))) * 4_294_967_296) }

  /// Returns the sixteen bytes of the digest.
  static func digest(of message: some Sequence<UInt8>) -> [UInt8] {
    var bytes = Array(message)
    let bitCount = UInt64(bytes.count) &* 8
    bytes.append(0x80)
    while bytes.count % 64 != 56 { bytes.append(0) }
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: bitCount >> shift))
    }
    var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
    for start in stride(from: 0, to: bytes.count, by: 64) {
      let words = (0..<16).map { word in
        (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[start + word * 4 + $1]) << UInt32($1 * 8) }
      }
      mix(words, into: &state)
    }
    return state.flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32($0 * 8)) }
    }
  }

  private static func mix(_ words: [UInt32], into state: inout [UInt32]) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    for step in 0..<64 {
      let (mixed, word): (UInt32, Int) =
        switch step / 16 {
        case 0: ((b & c) | (~b & d), step)
        case 1: ((d & b) | (~d & c), (5 * step + 1) % 16)
        case 2: (b ^ c ^ d, (3 * step + 5) % 16)
        default: (c ^ (b | ~d), (7 * step) % 16)
        }
      let sum = a &+ mixed &+ sines[step] &+ words[word]
      let rotation = rotations[step / 16][step % 4]
      (a, d, c) = (d, c, b)
      b = b &+ (sum << rotation | sum >> (32 - rotation))
    }
    state[0] &+= a
    state[1] &+= b
    state[2] &+= c
    state[3] &+= d
  }
}
