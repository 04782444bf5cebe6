/// Why a lease was not had in time: who holds it, since when, what for.
package struct LeaseTimeout: Sendable, Codable, Equatable {
  /// The lock file.
  package var path: String
  /// How long the caller waited.
  package var waited: Duration
  /// The process that holds the lease, as far as it can be known.
  package var holder: ProcessDescription?
  /// What the holder said it does.
  package var purpose: String?
  /// How long the holder has had its turn.
  package var heldFor: Duration?
  /// How many live processes stood in line before the caller.
  package var waitersBefore: Int
  /// Whether the holder's number is one of another pid namespace, and means nothing here.
  package var isHolderElsewhere = false

  /// Makes a description of a wait that ended without the lease.
  package init(
    path: String, waited: Duration, holder: ProcessDescription? = nil, purpose: String? = nil,
    heldFor: Duration? = nil, waitersBefore: Int = 0
  ) {
    self.path = path
    self.waited = waited
    self.holder = holder
    self.purpose = purpose
    self.heldFor = heldFor
    self.waitersBefore = waitersBefore
  }
}

extension LeaseTimeout: CustomStringConvertible {
  /// The whole story in a few sentences.
  package var description: String {
    var text = "The write lease of \(path) was not free within \(Self.seconds(waited))."
    guard let holder else {
      text += " Who holds it could not be found out."
      if waitersBefore > 0 { text += " \(waitersBefore) waited before this process." }
      return text
    }
    text += " It is held by \(holder)"
    if let heldFor { text += " for \(Self.seconds(heldFor))" }
    if let purpose, !purpose.isEmpty { text += " (\(purpose))" }
    text += "."
    if waitersBefore > 0 { text += " \(waitersBefore) waited before this process." }
    switch holder.state {
    case .stopped:
      text += " That process is stopped: let it go on with `kill -CONT \(holder.pid)`, "
      text += "or end it with `kill -KILL \(holder.pid)`; the lease is then free at once."
    case .zombie, .gone:
      text += " That process is dead, yet its lock is held: a child that it forked has it. "
      text += "Find the child and end it."
    case .unknown:
      text +=
        isHolderElsewhere
        ? " It runs in another pid namespace (a container), where it has that number; look there."
        : " Its state cannot be seen from here (another user)."
    case .running, .sleeping:
      text += " It is alive; wait longer, or find out what keeps it."
    }
    return text
  }

  static func seconds(_ duration: Duration) -> String {
    let milliseconds = duration.clampedNanoseconds / 1_000_000
    let hundredths = (milliseconds % 1000) / 10
    return "\(milliseconds / 1000).\(hundredths < 10 ? "0" : "")\(hundredths) s"
  }
}
