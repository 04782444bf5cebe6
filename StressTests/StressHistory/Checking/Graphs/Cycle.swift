/// Operations each of which must come before the next one, and the last before the first.
struct Cycle {
  /// One step of the way around.
  struct Step {
    /// The operation's node.
    let operation: Int
    /// Why it comes before the next one.
    let reason: DependencyGraph.Reason
    /// What that is about.
    let thing: Int
  }

  let steps: [Step]

  /// The name in the literature (Adya, "Weak Consistency"): which kinds of dependencies it takes.
  var name: String {
    let usesTime = steps.contains { $0.reason == .time }
    let overwrites = steps.count { $0.reason == .overwritten }
    let name =
      overwrites > 1
      ? "G2"
      : overwrites == 1
        ? "G-single" : steps.contains { $0.reason == .read } ? "G1c" : "G0"
    return usesTime ? name + "-realtime" : name
  }

  /// Returns one short cycle for each set of operations that cannot be put in order.
  ///
  /// Of the kinds of dependencies it takes as few as are enough: a cycle of writes alone says more than one that
  /// needs real time. O(nodes + edges), and for what is found O(size) times at most `starts`.
  static func find(_ graph: DependencyGraph, atMost bound: Int) -> [Cycle] {
    let all = StrongComponents.find(graph, Adjacency(graph) { _ in true })
    return all.prefix(bound).compactMap { component in
      var isMember = [Bool](repeating: false, count: graph.nodeCount)
      for node in component { isMember[node] = true }
      for level in levels {
        let adjacency = Adjacency(graph) { edge in
          level.contains(graph.reasons[edge]) && isMember[graph.origins[edge]]
            && isMember[graph.targets[edge]]
        }
        let parts = StrongComponents.find(graph, adjacency)
        guard let part = parts.min(by: { $0.count < $1.count }) else { continue }
        if let cycle = shortest(graph, adjacency, in: part) { return cycle }
      }
      return nil
    }
  }

  private static let levels: [Set<Int>] = {
    let (write, read, over, time) = (
      DependencyGraph.Reason.laterWrite.rawValue, DependencyGraph.Reason.read.rawValue,
      DependencyGraph.Reason.overwritten.rawValue, DependencyGraph.Reason.time.rawValue
    )
    return [
      [write], [write, read], [write, read, over], [write, time], [write, read, time],
      [write, read, over, time],
    ]
  }()

  /// From how many operations of a set the way around is looked for.
  private static let starts = 200

  private static func shortest(
    _ graph: DependencyGraph, _ adjacency: Adjacency, in part: [Int]
  ) -> Cycle? {
    var best: Cycle?
    for start in part.filter({ $0 < graph.operationCount }).sorted().prefix(starts) {
      guard let cycle = around(graph, adjacency, from: start) else { continue }
      if cycle.steps.count < best?.steps.count ?? .max { best = cycle }
      // Shorter than two is none.
      if best?.steps.count == 2 { break }
    }
    return best
  }

  /// Looks for the way from a node back to it over the fewest operations: moments cost nothing, so what
  /// they lead to is looked at first.
  private static func around(
    _ graph: DependencyGraph, _ adjacency: Adjacency, from start: Int
  ) -> Cycle? {
    var cameBy: [Int: Int] = [:]
    var near = [start]
    var far: [Int] = []
    while !near.isEmpty {
      while let node = near.popLast() {
        for place in adjacency.starts[node]..<adjacency.starts[node + 1] {
          let edge = adjacency.edges[place]
          let target = graph.targets[edge]
          guard cameBy[target] == nil else { continue }
          cameBy[target] = edge
          if target == start { return way(graph, cameBy, to: start) }
          if target >= graph.operationCount { near.append(target) } else { far.append(target) }
        }
      }
      near = far
      far = []
    }
    return nil
  }

  private static func way(_ graph: DependencyGraph, _ cameBy: [Int: Int], to end: Int) -> Cycle {
    var steps: [Step] = []
    var node = end
    var reason: DependencyGraph.Reason?
    var thing = -1
    repeat {
      guard let edge = cameBy[node] else { break }
      node = graph.origins[edge]
      // Over moments it is one step of time, whatever the last edge says.
      let isOverMoment = reason != nil || node >= graph.operationCount
      reason = isOverMoment ? .time : DependencyGraph.Reason(rawValue: graph.reasons[edge])
      thing = isOverMoment ? -1 : graph.things[edge]
      if node < graph.operationCount, let found = reason {
        steps.append(Step(operation: node, reason: found, thing: thing))
        reason = nil
      }
    } while node != end
    return Cycle(steps: steps.reversed())
  }
}
