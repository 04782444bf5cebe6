/// How a live value is read, and what it depends on.
struct LiveQueryPlan<Value: Sendable>: Sendable {
  var scopes: [LiveSignal.Scope]
  var read: @Sendable (Blackbird.Database) async throws -> Value
}
