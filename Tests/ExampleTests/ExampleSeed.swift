import Foundation

/// Random numbers that a failed run can be repeated with.
enum ExampleSeed {
  /// Takes the seed of BOUTIQUE_SEED, or a new one, and prints it.
  static func generator(_ test: String) -> SplitMix {
    let given = ProcessInfo.processInfo.environment["BOUTIQUE_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
    print("\(test): BOUTIQUE_SEED=\(seed)")
    return SplitMix(state: seed)
  }
}

/// The generator SplitMix64 (Steele and others, 2014).
struct SplitMix: RandomNumberGenerator {
  fileprivate var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
