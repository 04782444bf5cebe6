/// Numbers that are the same for the same seed, on every machine (SplitMix64: Steele, Lea and Flood, "Fast
/// Splittable Pseudorandom Number Generators").
struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// A generator for one purpose, so that a draw more in one place changes nothing in another.
  init(seed: UInt64, purpose: String) {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in purpose.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    self.init(seed: seed ^ hash)
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// A number of the range.
  mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

  /// True in `percent` of a hundred cases.
  mutating func chance(_ percent: Int) -> Bool { int(1...100) <= percent }

  /// An element, or nil when there is none.
  mutating func pick<C: Collection>(_ elements: C) -> C.Element? {
    elements.randomElement(using: &self)
  }

  /// One of the values given.
  mutating func one<Value>(_ first: Value, _ others: Value...) -> Value {
    let index = int(0...others.count)
    return index == 0 ? first : others[index - 1]
  }
}
