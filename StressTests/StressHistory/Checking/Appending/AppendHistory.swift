/// A history of appends, by lists.
struct AppendHistory {
  let operations: [OperationRecord]
  private(set) var lists: [ListFacts] = []
  private var numbers: [String: Int] = [:]
  /// Whether an operation has certainly taken effect: acknowledged, or seen.
  private(set) var hasTakenEffect: [Bool]
  /// Operations of which a value was seen in the order of some list.
  private(set) var isSeen: [Bool]

  /// O(size of the history).
  init(_ operations: [OperationRecord], final: [String: [Int64]]?) {
    self.operations = operations
    hasTakenEffect = operations.map { $0.outcome == .done }
    isSeen = [Bool](repeating: false, count: operations.count)
    for (index, operation) in operations.enumerated() {
      for step in operation.steps {
        switch (step.kind, step.value) {
        case (.append, .integer(let value)):
          lists[number(of: step.key)].noteAppend(value, by: index)
        case (.read, .list(let list)) where operation.outcome == .done:
          lists[number(of: step.key)].noteReading(list, by: index)
        default: break
        }
      }
    }
    if let final { for key in final.keys { _ = number(of: key) } }
    for index in lists.indices {
      lists[index].end(final: final.map { $0[lists[index].key] ?? [] })
      for writer in lists[index].orderedWriters where writer >= 0 {
        isSeen[writer] = true
        if operations[writer].outcome == .unknown { hasTakenEffect[writer] = true }
      }
    }
  }

  private mutating func number(of key: String) -> Int {
    if let number = numbers[key] { return number }
    numbers[key] = lists.count
    lists.append(ListFacts(key: key))
    return lists.count - 1
  }

  /// Says which must come before which; O(size of the history), and a sort for real time.
  func graph() -> DependencyGraph {
    var graph = DependencyGraph(operationCount: operations.count)
    for (thing, list) in lists.enumerated() {
      let writers = list.orderedWriters
      for place in 1..<max(1, writers.count) where writers[place - 1] >= 0 && writers[place] >= 0 {
        graph.add(writers[place - 1], writers[place], .laterWrite, thing: thing)
      }
      for reading in list.readings where list.isPrefix(reading.list) {
        let count = reading.list.count
        // What it appended itself before it read, it has not read of anybody.
        var last = count - 1
        while last >= 0, writers[last] == reading.operation { last -= 1 }
        if last >= 0, writers[last] >= 0 {
          graph.add(writers[last], reading.operation, .read, thing: thing)
        }
        if count < writers.count, writers[count] >= 0 {
          graph.add(reading.operation, writers[count], .overwritten, thing: thing)
        }
      }
    }
    graph.addTime(operations, counts: hasTakenEffect)
    return graph
  }
}
