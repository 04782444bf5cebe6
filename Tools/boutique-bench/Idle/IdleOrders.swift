/// What a process that only observes does.
struct IdleOrders: Codable, Sendable {
  var path: String
  /// How many live queries it has.
  var queries: Int
  /// How long it does nothing, in nanoseconds.
  var span: Int64
}
