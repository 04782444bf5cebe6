/// A distribution of measured numbers.
///
/// A quantile is the nearest rank, so always a value that really occurred.
struct Samples {
  private let sorted: [Int64]

  /// Ranks the numbers.
  init(_ values: some Sequence<Int64>) { sorted = values.sorted() }

  /// How many there are.
  var count: Int { sorted.count }

  /// The largest; 0 of none.
  var largest: Int64 { sorted.last ?? 0 }

  /// Returns the number below which a share of all numbers lies; 0 of none.
  func quantile(_ share: Double) -> Int64 {
    guard !sorted.isEmpty else { return 0 }
    let rank = Int((share * Double(sorted.count)).rounded(.up)) - 1
    return sorted[min(sorted.count - 1, max(0, rank))]
  }
}

/// Averages over rounds.
enum Median {
  /// Returns the middle value, or the mean of the two in the middle; 0 of none.
  static func of(_ values: some Sequence<Double>) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2)
      ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }
}

/// Numbers that a seed decides, so that an order can be run again (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  /// Begins at a seed.
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
