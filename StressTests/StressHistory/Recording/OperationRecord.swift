/// One thing that a client of a process did to the database: what it asked, what it was told, and between
/// which two moments it must have taken effect.
package struct OperationRecord: Codable, Hashable, Sendable {
  /// How an operation ended.
  package enum Outcome: String, Codable, Sendable {
    /// The client was told that it was done.
    case done
    /// The client was told that it was not done, and so it certainly has no effect.
    case refused
    /// Nobody was told: the process died or the answer leaves it open. It has taken effect, or will, or not.
    case unknown
  }

  /// The process, by the number of its start: a process that is started again has a new number.
  package var process: Int
  /// The client in the process; a client's operations come one after the other.
  package var client: Int
  /// The number of the operation in its process.
  package var number: Int
  /// What was asked for: a word of the workload (`transfer`, `append`).
  package var name: String
  /// What was done, in order; the values read are known when the outcome is ``Outcome/done``.
  package var steps: [Step]
  /// When it was asked for, in nanoseconds of the boot's monotonic clock, which all processes share.
  package var began: Int64
  /// When it was answered; `nil` when it never was.
  package var ended: Int64?
  /// How it ended.
  package var outcome: Outcome
  /// What it was refused with.
  package var error: String?

  /// Describes an operation; nothing is known of its end unless it is given.
  package init(
    process: Int, client: Int = 0, number: Int, name: String, steps: [Step], began: Int64,
    ended: Int64? = nil, outcome: Outcome = .unknown, error: String? = nil
  ) {
    self.process = process
    self.client = client
    self.number = number
    self.name = name
    self.steps = steps
    self.began = began
    self.ended = ended
    self.outcome = outcome
    self.error = error
  }
}

/// One access of an operation to one thing.
package struct Step: Codable, Hashable, Sendable {
  /// What is done to the thing.
  package enum Kind: String, Codable, Sendable {
    /// Its value was read.
    case read
    /// A value was put at the end of its list.
    case append
    /// It was given a value.
    case set
    /// A number was added to it.
    case add
    /// It was made, and was not there before.
    case insert
    /// It was removed.
    case delete
    /// It was taken for work.
    case take
    /// Work on it was finished.
    case finish
  }

  package var kind: Kind
  /// The thing: an account, a list, a name.
  package var key: String
  /// What was read or written.
  package var value: StepValue

  /// Describes an access.
  package init(_ kind: Kind, _ key: String, _ value: StepValue = .none) {
    self.kind = kind
    self.key = key
    self.value = value
  }
}

/// What a step read or wrote.
package enum StepValue: Codable, Hashable, Sendable {
  /// Nothing: the thing is not there, or the value is not known or does not matter.
  case none
  case integer(Int64)
  case text(String)
  /// A list, first element first.
  case list([Int64])
}
