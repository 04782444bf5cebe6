/// The positions of a difference between two lists.
struct ListPositions: Hashable, Sendable {
  /// In the old list, ascending.
  var removed: [Int] = []
  /// In the new list, ascending.
  var inserted: [Int] = []
  /// In the old list and in the new one, ascending by the latter.
  var moved: [ListMove] = []
  /// In the new list, ascending.
  var updated: [Int] = []
}

extension ListPositions {
  /// Finds the difference of two lists by what tells their rows apart.
  ///
  /// As few rows move as can: those outside of the longest run that both lists have in the same order.
  ///
  /// - Parameter areAlike: whether the row at a position of the old list has the content of the one at a position
  ///   of the new.
  init(
    from old: [Int64], to new: [Int64], _ areAlike: (_ before: Int, _ after: Int) -> Bool
  ) {
    let before = Dictionary(zip(old, old.indices)) { first, _ in first }
    var stays = Array(repeating: false, count: old.count)
    var common: [(from: Int, to: Int)] = []
    for (place, rowID) in new.enumerated() {
      guard let from = before[rowID] else {
        inserted.append(place)
        continue
      }
      stays[from] = true
      common.append((from, place))
      if !areAlike(from, place) { updated.append(place) }
    }
    removed = stays.indices.filter { !stays[$0] }
    let inOrder = Self.longestAscent(common.map(\.from))
    for (index, pair) in common.enumerated() where !inOrder[index] {
      moved.append(ListMove(from: pair.from, to: pair.to))
    }
  }

  /// Finds the difference of two lists of which nothing tells the rows apart.
  init(_ old: Int, _ new: Int, _ areAlike: (_ before: Int, _ after: Int) -> Bool) {
    let shorter = min(old, new)
    var head = 0
    while head < shorter, areAlike(head, head) { head += 1 }
    var tail = 0
    while tail < shorter - head, areAlike(old - 1 - tail, new - 1 - tail) { tail += 1 }
    let both = shorter - head - tail
    updated = (head..<head + both).filter { !areAlike($0, $0) }
    removed = Array(head + both..<old - tail)
    inserted = Array(head + both..<new - tail)
  }

  /// Returns which numbers make up a longest ascending part.
  private static func longestAscent(_ numbers: [Int]) -> [Bool] {
    /// For each length the place of the smallest number that ends such a part.
    var ends: [Int] = []
    var previous = Array(repeating: -1, count: numbers.count)
    for (index, number) in numbers.enumerated() {
      var low = 0
      var high = ends.count
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[index] = ends[low - 1] }
      if low < ends.count { ends[low] = index } else { ends.append(index) }
    }
    var result = Array(repeating: false, count: numbers.count)
    var index = ends.last ?? -1
    while index >= 0 {
      result[index] = true
      index = previous[index]
    }
    return result
  }
}
