/// Collects what a check finds, and leaves out what only repeats it.
struct Findings {
  private(set) var violations: [Violation] = []
  private let operations: [OperationRecord]
  private let bound: Int
  private var counts: [String: Int] = [:]

  /// Collects findings about operations, `bound` of each kind at most.
  init(_ operations: [OperationRecord], bound: Int = 3) {
    self.operations = operations
    self.bound = bound
  }

  /// Adds what was found.
  ///
  /// - Parameters:
  ///   - places: the operations that show it, by their places in the history; -1 is none.
  ///   - order: why each of these places comes before the next, and the last before the first.
  mutating func add(
    _ check: String, _ text: @autoclosure () -> String, _ places: [Int] = [],
    order: [(place: Int, reason: String)] = []
  ) {
    counts[check, default: 0] += 1
    guard counts[check, default: 0] <= bound else { return }
    let places = Set(places.filter { $0 >= 0 }).sorted()
    let edges = order.enumerated().compactMap { index, step -> ViolationEdge? in
      let next = order[(index + 1) % order.count].place
      guard let from = places.firstIndex(of: step.place), let to = places.firstIndex(of: next)
      else { return nil }
      return ViolationEdge(from: from, to: to, reason: step.reason)
    }
    violations.append(
      Violation(
        check: check, text: text(), operations: places.map { operations[$0] },
        edges: edges.isEmpty ? nil : edges))
  }

  /// Whether something of the kind was found.
  func has(_ check: String) -> Bool { counts[check] != nil }
}

extension OperationRecord {
  /// Which it is, in few words.
  package var place: String { "\(name) #\(number) of process \(process)" }
}

extension [Int64] {
  /// The list, or its end when it is long.
  var short: String {
    count <= 12 ? "\(self)" : "[… \(suffix(10).map(String.init).joined(separator: ", "))]"
  }
}
