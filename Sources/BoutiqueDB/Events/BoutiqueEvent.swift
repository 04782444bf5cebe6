/// What an operator should know though no call has failed.
public enum BoutiqueEvent: Sendable, Hashable {
  /// The write lease has been held for longer than ``BoutiqueConfiguration/longHoldWarning``; told again
  /// each time the span has doubled, until it ends.
  case longHold(LongHold)

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
