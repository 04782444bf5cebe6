/// Numbers that are the same for the same seed, on every machine (SplitMix64: Steele, Lea and Flood, "Fast
/// Splittable Pseudorandom Number Generators").
package struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// A generator for one purpose, so that a draw more in one place changes nothing in another.
  package init(seed: UInt64, purpose: String) {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in purpose.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    state = seed ^ hash
  }

  /// The next 64 bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// A number of the range.
  package mutating func int(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }

  /// True in `percent` of a hundred cases.
  package mutating func chance(_ percent: Int) -> Bool { int(1...100) <= percent }
}
