import Foundation

/// What is known of one list: who appended what, who read what, and so the order of its versions.
struct ListFacts {
  /// A list as somebody saw it.
  struct Reading {
    /// The operation's place in the history; -1 for the final state.
    let operation: Int
    let list: [Int64]
  }

  let key: String
  /// Who appended a value, whatever came of it.
  private(set) var writers: [Int64: Int] = [:]
  private(set) var readings: [Reading] = []
  /// Values that two operations claim, by the second of them; the test itself is wrong then.
  private(set) var claimedTwice: [(value: Int64, operation: Int)] = []
  /// The longest list that anybody saw, and so the order of the appends.
  private(set) var longest = Reading(operation: -1, list: [])
  /// The final state's list, where there is one.
  private(set) var final: [Int64]?
  /// Where each value of ``longest`` stands; the first place of one that stands there twice.
  private(set) var positions: [Int64: Int] = [:]
  /// For each place of ``longest``, who appended it; -1 when nobody has.
  private(set) var orderedWriters: [Int] = []

  init(key: String) { self.key = key }

  mutating func noteAppend(_ value: Int64, by operation: Int) {
    if let other = writers[value], other != operation {
      claimedTwice.append((value, operation))
    } else {
      writers[value] = operation
    }
  }

  mutating func noteReading(_ list: [Int64], by operation: Int) {
    readings.append(Reading(operation: operation, list: list))
    if list.count > longest.list.count { longest = readings[readings.count - 1] }
  }

  /// Ends the collection; with the final state, which counts as the last reading.
  mutating func end(final: [Int64]?) {
    self.final = final
    if let final, final.count >= longest.list.count {
      longest = Reading(operation: -1, list: final)
    }
    orderedWriters.reserveCapacity(longest.list.count)
    for (place, value) in longest.list.enumerated() {
      if positions[value] == nil { positions[value] = place }
      orderedWriters.append(writers[value] ?? -1)
    }
  }

  /// Whether a list is the beginning of the longest one.
  func isPrefix(_ list: [Int64]) -> Bool {
    list.count <= longest.list.count
      && list.withUnsafeBytes { a in
        longest.list.withUnsafeBytes { b in
          guard let x = a.baseAddress, let y = b.baseAddress else { return true }
          return memcmp(x, y, a.count) == 0
        }
      }
  }

  /// The first reading that shows at least so many elements.
  func reader(ofLength length: Int) -> Int? {
    readings.first { $0.list.count >= length && $0.operation >= 0 }?.operation
  }
}
