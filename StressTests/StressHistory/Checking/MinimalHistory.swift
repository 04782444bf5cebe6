/// Makes a history that shows a violation small (Zeller and Hildebrandt, "Simplifying and Isolating
/// Failure-Inducing Input").
package enum MinimalHistory {
  /// Returns operations of which none can be left out without the violation being gone, as far as `bound` trials
  /// reach.
  ///
  /// - Parameters:
  ///   - shows: whether the operations, in the same order, still show it; must be so for all of them. A check
  ///     that judges a final state must leave out of it what the missing operations explain.
  ///   - bound: how often `shows` is asked at most.
  package static func shrink(
    _ operations: [OperationRecord], bound: Int = 500,
    showing shows: ([OperationRecord]) -> Bool
  ) -> [OperationRecord] {
    var current = operations
    var trials = 0
    var parts = 2
    while current.count > 1, trials < bound {
      let size = (current.count + parts - 1) / parts
      var hasShrunk = false
      var start = 0
      while start < current.count, trials < bound {
        let rest = Array(current[..<start]) + current[min(start + size, current.count)...]
        trials += 1
        if !rest.isEmpty, shows(rest) {
          current = rest
          hasShrunk = true
        } else {
          start += size
        }
      }
      if hasShrunk {
        parts = max(2, parts - 1)
      } else if size == 1 {
        break
      } else {
        parts = min(current.count, parts * 2)
      }
    }
    return current
  }
}
