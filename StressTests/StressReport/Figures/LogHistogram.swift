/// Counts of values in buckets whose width grows with the value: sixteen to each doubling, so that a value
/// is known to about six percent, whatever its size.
///
/// Adding is a few instructions and takes no room for each value; asking takes time for each bucket.
package struct LogHistogram: Hashable, Sendable {
  /// Counts by bucket, up to the last that has any.
  private var counts: [Int] = []
  /// How many values there are.
  package private(set) var count = 0
  /// The least value, exactly; 0 when there is none.
  package private(set) var least: Int64 = 0
  /// The greatest value, exactly; 0 when there is none.
  package private(set) var greatest: Int64 = 0

  private static let bitsInBucket = 4
  private static let bucketsInDoubling = 1 << bitsInBucket

  /// A histogram of nothing.
  package init() {}

  /// Counts a value; a negative one counts as 0.
  package mutating func add(_ value: Int64) {
    let value = max(0, value)
    let bucket = Self.bucket(of: value)
    if bucket >= counts.count {
      counts += Array(repeating: 0, count: bucket + 1 - counts.count)
    }
    counts[bucket] += 1
    least = count == 0 ? value : min(least, value)
    greatest = max(greatest, value)
    count += 1
  }

  /// Counts the values of another, too.
  package mutating func add(_ other: LogHistogram) {
    guard other.count > 0 else { return }
    if other.counts.count > counts.count {
      counts += Array(repeating: 0, count: other.counts.count - counts.count)
    }
    for (bucket, number) in other.counts.enumerated() { counts[bucket] += number }
    least = count == 0 ? other.least : min(least, other.least)
    greatest = max(greatest, other.greatest)
    count += other.count
  }

  /// The value that a part of all values does not exceed: the middle of its bucket, and within what was
  /// really seen; `nil` when there is none.
  package func quantile(_ part: Double) -> Int64? {
    guard count > 0 else { return nil }
    let rank = max(1, Int((part * Double(count)).rounded(.up)))
    if rank >= count { return greatest }
    var seen = 0
    for (bucket, number) in counts.enumerated() {
      seen += number
      guard seen >= rank else { continue }
      let low = Self.lowest(of: bucket)
      let middle = low + (Self.lowest(of: bucket + 1) - low) / 2
      return min(greatest, max(least, middle))
    }
    return greatest
  }

  /// Counts in ranges that touch each other, `perDoubling` (1, 2, 4, 8, 16) to each doubling, from the first
  /// that has any to the last.
  package func ranges(perDoubling: Int) -> [(low: Int64, high: Int64, count: Int)] {
    guard count > 0 else { return [] }
    let merged = Self.bucketsInDoubling / perDoubling
    let first = Self.bucket(of: least) / merged
    let last = Self.bucket(of: greatest) / merged
    return (first...last).map { range in
      let buckets = (range * merged)..<min((range + 1) * merged, counts.count)
      return (
        Self.lowest(of: range * merged), Self.lowest(of: (range + 1) * merged),
        counts[buckets].reduce(0, +)
      )
    }
  }

  private static func bucket(of value: Int64) -> Int {
    if value < bucketsInDoubling { return Int(value) }
    let exponent = Int64.bitWidth - 1 - value.leadingZeroBitCount
    let rest = Int(value >> (exponent - bitsInBucket)) & (bucketsInDoubling - 1)
    return (exponent - bitsInBucket + 1) * bucketsInDoubling + rest
  }

  /// The lowest value of a bucket.
  private static func lowest(of bucket: Int) -> Int64 {
    if bucket < bucketsInDoubling { return Int64(bucket) }
    let exponent = bucket / bucketsInDoubling - 1
    let head = Int64(bucketsInDoubling + bucket % bucketsInDoubling)
    // Above the last bucket of all there is nothing.
    return head.multipliedReportingOverflow(by: 1 << Int64(exponent)).overflow
      ? .max : head << Int64(exponent)
  }
}

extension LogHistogram: Codable {
  private enum CodingKeys: String, CodingKey {
    case least
    case greatest
    /// Pairs of a bucket and its count, one after the other; empty buckets are left out.
    case buckets
  }

  /// Reads what ``encode(to:)`` has written.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let pairs = try container.decode([Int].self, forKey: .buckets)
    for index in stride(from: 0, to: pairs.count - 1, by: 2) {
      let (bucket, number) = (pairs[index], pairs[index + 1])
      guard bucket >= counts.count, bucket < 64 * Self.bucketsInDoubling,
        (1...(1 << 50)).contains(number)
      else {
        throw DecodingError.dataCorruptedError(
          forKey: .buckets, in: container, debugDescription: "buckets are not in order")
      }
      counts += Array(repeating: 0, count: bucket - counts.count) + [number]
      count += number
    }
    least = try container.decode(Int64.self, forKey: .least)
    greatest = try container.decode(Int64.self, forKey: .greatest)
    guard count == 0 || Self.bucket(of: max(0, greatest)) < counts.count, 0 <= least,
      least <= greatest
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .greatest, in: container, debugDescription: "not the greatest value")
    }
  }

  /// Writes the buckets that have any.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(least, forKey: .least)
    try container.encode(greatest, forKey: .greatest)
    let pairs = counts.enumerated().filter { $0.element > 0 }.flatMap { [$0.offset, $0.element] }
    try container.encode(pairs, forKey: .buckets)
  }
}
