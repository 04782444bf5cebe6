/// Why one operation of a violation must have come before another.
package struct ViolationEdge: Codable, Hashable, Sendable {
  /// The earlier one, by its index in the violation's operations.
  package var from: Int
  /// The later one.
  package var to: Int
  /// The reason, in a few words: `read its value`, `ended before it began`.
  package var reason: String

  /// Describes a dependency.
  package init(from: Int, to: Int, reason: String) {
    self.from = from
    self.to = to
    self.reason = reason
  }
}
