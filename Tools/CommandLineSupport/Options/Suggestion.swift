/// Finds the word someone probably meant.
package enum Suggestion {
  /// Returns the candidate nearest to `word`, or nil when none is near enough to be a slip.
  package static func nearest(to word: String, among candidates: [String]) -> String? {
    let limit = max(1, min(3, word.count / 3))
    var best: (candidate: String, distance: Int)?
    for candidate in candidates {
      let distance = distance(Array(word.lowercased()), Array(candidate.lowercased()))
      if distance <= limit, distance < (best?.distance ?? .max) {
        best = (candidate, distance)
      }
    }
    if let best { return best.candidate }
    let continued = candidates.filter { word.count >= 3 && $0.hasPrefix(word) }
    return continued.count == 1 ? continued[0] : nil
  }

  /// Counts insertions, deletions, replacements and swaps of neighbours between two words.
  static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var beforePrevious: [Int] = []
    var previous = Array(0...right.count)
    for i in left.indices {
      var current = [i + 1]
      for j in right.indices {
        var cost = previous[j] + (left[i] == right[j] ? 0 : 1)
        cost = min(cost, previous[j + 1] + 1, current[j] + 1)
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
          cost = min(cost, beforePrevious[j - 1] + 1)
        }
        current.append(cost)
      }
      beforePrevious = previous
      previous = current
    }
    return previous[right.count]
  }
}
