/// What is checked.
package enum Check: String, Codable, Sendable, CaseIterable {
  /// At a quiet point every live value is what a plain connection reads.
  case liveValue
  /// At a quiet point every feed, replayed, gives the tables.
  case feed
  /// The counter that values carry never goes back.
  case monotony
  /// A value is what the database held at its counter.
  case moment
  /// What holds in each state holds in each value.
  case invariant
  /// Tokens rise, and no commit comes twice.
  case token
  /// A change says who made it.
  case origin
  /// Nothing is delivered to the cancelled.
  case cancellation
  /// No value follows an equal one.
  case repetition
  /// `PRAGMA integrity_check` is content.
  case integrity
  /// What was acknowledged is there, what was refused is not, and each commit was counted once.
  case ledger
  /// Nobody fails for no reason.
  case error
  /// Everybody ends in time.
  case stuck
}

/// Something that must not happen, and did.
package struct Violation: Codable, Hashable, Sendable {
  /// Which check failed.
  package var check: Check
  /// The round, from 0.
  package var round: Int
  /// Where it was seen.
  package var process: String
  /// What was seen.
  package var text: String
}

/// What a run came to.
package struct RunReport: Codable, Sendable {
  /// The seed.
  package var seed: UInt64
  /// Rounds that ended.
  package var rounds = 0
  /// Acknowledged commits.
  package var commits = 0
  /// Transactions that were refused or rolled back.
  package var refusals = 0
  /// Processes killed.
  package var kills = 0
  /// Values that live queries delivered.
  package var deliveries = 0
  /// Changes that feeds delivered, and how many of them were of everything.
  package var changes = 0
  /// See ``changes``.
  package var everythings = 0
  /// Values that were compared with what somebody else saw at the same counter.
  package var comparedMoments = 0
  /// What went wrong.
  package var violations: [Violation] = []
}
