/// Finds the sets of nodes that reach each other (Tarjan, "Depth-first search and linear graph algorithms").
enum StrongComponents {
  /// Returns the components of more than one node; O(nodes + edges), without recursion.
  static func find(_ graph: DependencyGraph, _ adjacency: Adjacency) -> [[Int]] {
    let count = graph.nodeCount
    var index = [Int](repeating: -1, count: count)
    var low = [Int](repeating: 0, count: count)
    var isOnStack = [Bool](repeating: false, count: count)
    var nextEdge = adjacency.starts
    var stack: [Int] = []
    var path: [Int] = []
    var next = 0
    var components: [[Int]] = []
    for root in 0..<count where index[root] < 0 {
      path.append(root)
      while let node = path.last {
        if index[node] < 0 {
          index[node] = next
          low[node] = next
          next += 1
          stack.append(node)
          isOnStack[node] = true
        }
        var child = -1
        while nextEdge[node] < adjacency.starts[node + 1] {
          let target = graph.targets[adjacency.edges[nextEdge[node]]]
          if index[target] < 0 {
            child = target
            break
          }
          if isOnStack[target] { low[node] = min(low[node], low[target]) }
          nextEdge[node] += 1
        }
        if child >= 0 {
          path.append(child)
          continue
        }
        path.removeLast()
        guard low[node] == index[node] else { continue }
        var component: [Int] = []
        while let member = stack.popLast() {
          isOnStack[member] = false
          component.append(member)
          if member == node { break }
        }
        if component.count > 1 { components.append(component) }
      }
    }
    return components
  }
}
