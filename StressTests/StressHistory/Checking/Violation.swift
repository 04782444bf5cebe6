/// A promise that a history shows broken.
package struct Violation: Codable, Hashable, Sendable {
  /// The promise, in a word or two: `lost update`, `torn read`.
  package var check: String
  /// What happened, in a sentence that can be understood without the history.
  package var text: String
  /// The least part of the history that shows it, in order of time.
  package var operations: [OperationRecord]
  /// What orders them, where the check knows: the edges of a cycle.
  package var edges: [ViolationEdge]?

  /// Describes a broken promise.
  package init(
    check: String, text: String, operations: [OperationRecord] = [],
    edges: [ViolationEdge]? = nil
  ) {
    self.check = check
    self.text = text
    self.operations = operations
    self.edges = edges
  }

  /// The processes that take part in it.
  package var processes: [Int] { Set(operations.map(\.process)).sorted() }
}
