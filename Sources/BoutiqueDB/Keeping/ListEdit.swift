/// What turns one state of a list into the next.
struct ListEdit<Element> {
  /// Positions before, ascending.
  var removed: [Int] = []
  /// Positions afterwards, ascending.
  var inserted: [(position: Int, element: Element)] = []
  /// Positions afterwards.
  var replaced: [(position: Int, element: Element)] = []

  var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && replaced.isEmpty }

  /// Beyond so many, one pass over the whole list is cheaper than shifting its rest for each.
  private static var shiftLimit: Int { 8 }

  func apply(to list: inout [Element]) {
    if removed.count == 1, inserted.count == 1 {
      list.move(from: removed[0], to: inserted[0].position, as: inserted[0].element)
    } else if removed.count + inserted.count <= Self.shiftLimit {
      for position in removed.reversed() { list.remove(at: position) }
      for (position, element) in inserted { list.insert(element, at: position) }
    } else {
      list = merged(list)
    }
    for (position, element) in replaced { list[position] = element }
  }

  private func merged(_ list: [Element]) -> [Element] {
    var result: [Element] = []
    result.reserveCapacity(list.count - removed.count + inserted.count)
    var next = 0
    var arrivals = inserted[...]
    func takeArrivals() {
      while let first = arrivals.first, first.position == result.count {
        result.append(first.element)
        arrivals.removeFirst()
      }
    }
    for position in removed + [list.count] {
      while next < position {
        takeArrivals()
        guard let first = arrivals.first else {
          result.append(contentsOf: list[next..<position])
          next = position
          break
        }
        // Up to the next arrival in one piece.
        let end = min(position, next + first.position - result.count)
        result.append(contentsOf: list[next..<end])
        next = end
      }
      next = position + 1
    }
    takeArrivals()
    return result
  }
}

extension ListEdit: Sendable where Element: Sendable {}

extension Array {
  /// Takes an element out and puts another in, so that only what lies between is shifted.
  ///
  /// - Parameter end: where the new one is afterwards.
  fileprivate mutating func move(from start: Int, to end: Int, as element: Element) {
    withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      (base + start).deinitialize(count: 1)
      // Memory is moved as it is: nothing is retained or released.
      if start < end {
        (base + start).moveInitialize(from: base + start + 1, count: end - start)
      } else if end < start {
        (base + end + 1).moveInitialize(from: base + end, count: start - end)
      }
      (base + end).initialize(to: element)
    }
  }
}
