/// How a write used up the time it was given.
public struct WriteTimeout: Sendable, Hashable {
  /// The database.
  public var path: String
  /// The time that the write was given, its wait included.
  public var limit: Duration
  /// How long it waited for its turn.
  public var waited: Duration
  /// How long its closure ran.
  public var ran: Duration

  /// Creates a description of a write that took too long.
  public init(path: String, limit: Duration, waited: Duration, ran: Duration) {
    self.path = path
    self.limit = limit
    self.waited = waited
    self.ran = ran
  }
}
