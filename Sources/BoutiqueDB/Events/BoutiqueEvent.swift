/// What an operator should know though no call has failed.
public enum BoutiqueEvent: Sendable, Hashable {
  /// The write lease has been held for longer than ``BoutiqueConfiguration/longHoldWarning``; told again
  /// each time the span has doubled, until it ends.
  case longHold(LongHold)

  /// A durable consumer waits for records of the change log, and there were so many that some had to go.
  ///
  /// It gets one change that says everything. Told once for each consumer until it has caught up, by the
  /// process that removed the records.
  case logBoundReached(LogBound)

  /// A durable consumer has stayed away for longer than its ``BoutiqueConfiguration/consumerExpiry``;
  /// records are no longer kept for it.
  case consumerExpired(ExpiredConsumer)

  /// A consumer whose records had to go.
  public struct LogBound: Sendable, Hashable {
    /// The database.
    public var path: String
    /// The consumer's name.
    public var consumer: String
    /// The process that last consumed under the name.
    public var pid: Int32
    /// Its label.
    public var label: String
    /// The number of the last token that the consumer has acknowledged.
    public var acknowledged: Int64
    /// The number up to which records go.
    public var removedThrough: Int64
    /// The bound, in records.
    public var hardRows: Int
  }

  /// A consumer for which records are no longer kept.
  public struct ExpiredConsumer: Sendable, Hashable {
    /// The database.
    public var path: String
    /// The consumer's name.
    public var consumer: String
    /// When it last began or acknowledged, in milliseconds since 1970.
    public var lastSeen: Int64
    /// The number of the last token that it has acknowledged.
    public var acknowledged: Int64
  }

  /// Who has held the write lease for long.
  public struct LongHold: Sendable, Hashable {
    /// The database.
    public var path: String
    /// The process, nil when it could not be found out.
    public var pid: Int32?
    /// Its label, nil when it could not be found out.
    public var label: String?
    /// Whether it is this open database.
    public var isThisProcess: Bool
    /// What for: the first words of the operation.
    public var purpose: String?
    /// For how long so far.
    public var heldFor: Duration
    /// Whether the process is stopped (SIGSTOP, a debugger, a frozen control group).
    public var isStopped: Bool
  }
}
