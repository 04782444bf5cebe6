/// Which operation must come before which, and why.
///
/// The nodes are operations and, behind them, moments: an operation that has ended points to the moment of
/// its end, each moment to the next one, and the last moment before an operation's beginning to that
/// operation. So real time takes three edges an operation instead of one for each pair.
struct DependencyGraph {
  /// Why one comes before the other.
  enum Reason: Int {
    /// The other's write comes later in the order of the versions (ww).
    case laterWrite
    /// The other has read what the one wrote (wr).
    case read
    /// The other has overwritten what the one read (rw).
    case overwritten
    /// The one had ended when the other began, or the way there over moments.
    case time

    var sign: String {
      switch self {
      case .laterWrite: "ww"
      case .read: "wr"
      case .overwritten: "rw"
      case .time: "real time"
      }
    }
  }

  /// How many nodes are operations.
  let operationCount: Int
  private(set) var nodeCount: Int
  private(set) var origins: [Int] = []
  private(set) var targets: [Int] = []
  private(set) var reasons: [Int] = []
  /// The thing that an edge is about, by a number of the caller's.
  private(set) var things: [Int] = []

  init(operationCount: Int) {
    self.operationCount = operationCount
    nodeCount = operationCount
  }

  /// Adds an edge; one from a node to itself says nothing.
  mutating func add(_ origin: Int, _ target: Int, _ reason: Reason, thing: Int = -1) {
    guard origin != target else { return }
    origins.append(origin)
    targets.append(target)
    reasons.append(reason.rawValue)
    things.append(thing)
  }

  /// Adds the edges of real time between those operations that count.
  ///
  /// Only an acknowledged operation has an end: of any other it is not known when it took effect.
  /// O(n log n) for n operations.
  mutating func addTime(_ operations: [OperationRecord], counts: [Bool]) {
    var ends: [(time: Int64, node: Int)] = []
    var beginnings: [(time: Int64, node: Int)] = []
    for (node, operation) in operations.enumerated() where counts[node] {
      beginnings.append((operation.began, node))
      if operation.outcome == .done, let ended = operation.ended { ends.append((ended, node)) }
    }
    ends.sort { $0.time < $1.time }
    beginnings.sort { $0.time < $1.time }
    let first = nodeCount
    nodeCount += ends.count
    var passed = 0
    for beginning in beginnings {
      while passed < ends.count, ends[passed].time < beginning.time { passed += 1 }
      if passed > 0 { add(first + passed - 1, beginning.node, .time) }
    }
    for (index, end) in ends.enumerated() {
      add(end.node, first + index, .time)
      if index > 0 { add(first + index - 1, first + index, .time) }
    }
  }
}

/// A part of a graph's edges, by the node they leave.
struct Adjacency {
  /// The edges of node n are `edges[starts[n]..<starts[n + 1]]`, as places in the graph's lists.
  let starts: [Int]
  let edges: [Int]

  /// Takes the edges that are wanted; O(nodes + edges).
  init(_ graph: DependencyGraph, where isWanted: (_ edge: Int) -> Bool) {
    var starts = [Int](repeating: 0, count: graph.nodeCount + 1)
    var wanted: [Int] = []
    for edge in graph.origins.indices where isWanted(edge) {
      wanted.append(edge)
      starts[graph.origins[edge] + 1] += 1
    }
    for node in 0..<graph.nodeCount { starts[node + 1] += starts[node] }
    var next = starts
    var edges = [Int](repeating: 0, count: wanted.count)
    for edge in wanted {
      let origin = graph.origins[edge]
      edges[next[origin]] = edge
      next[origin] += 1
    }
    self.starts = starts
    self.edges = edges
  }
}
