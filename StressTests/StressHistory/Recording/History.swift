/// Everything that all processes of a run did, and what they measured.
package struct History: Codable, Sendable {
  /// The operations, in order of their beginnings.
  package var operations: [OperationRecord]
  /// What was measured, in order of time.
  package var samples: [Sample]
  /// What processes saw that must not be, and the run's own observations.
  package var notes: [Note]

  /// Puts what was recorded in order.
  package init(operations: [OperationRecord] = [], samples: [Sample] = [], notes: [Note] = []) {
    self.operations = operations.sorted {
      ($0.began, $0.process, $0.number) < ($1.began, $1.process, $1.number)
    }
    self.samples = samples.sorted { $0.time < $1.time }
    self.notes = notes.sorted { $0.time < $1.time }
  }
}

/// One measurement.
package struct Sample: Codable, Hashable, Sendable {
  /// What was measured.
  package enum Kind: String, Codable, Sendable, CaseIterable {
    /// How long a write waited for its turn, in nanoseconds.
    case lockWait
    /// How long it took from a commit to the value of a live query, in nanoseconds.
    case refresh
    /// The length of the write-ahead log, in bytes.
    case logBytes
  }

  package var kind: Kind
  package var process: Int
  /// When, in nanoseconds of the monotonic clock.
  package var time: Int64
  package var value: Int64

  /// Describes a measurement.
  package init(_ kind: Kind, process: Int, time: Int64, value: Int64) {
    self.kind = kind
    self.process = process
    self.time = time
    self.value = value
  }
}

/// Something a process says besides its operations.
package struct Note: Codable, Hashable, Sendable {
  /// What it is.
  package enum Kind: String, Codable, Sendable {
    /// Something that must not be: a check in the process itself has failed.
    case violation
    /// An error that the faults of the run explain; counted, not judged.
    case trouble
    /// An error that is judged when all is over: only then is it known which faults had struck before it.
    case error
  }

  package var kind: Kind
  package var process: Int
  package var time: Int64
  /// The check that failed, or the error's kind.
  package var subject: String
  package var text: String
  /// When it began to see that, until ``time``; `nil` where it saw nothing.
  package var since: Int64?
  /// What it saw, as reads.
  package var seen: [Step]?

  /// Describes what a process says.
  package init(
    _ kind: Kind, process: Int, time: Int64, subject: String, text: String, since: Int64? = nil,
    seen: [Step]? = nil
  ) {
    self.since = since
    self.seen = seen
    self.kind = kind
    self.process = process
    self.time = time
    self.subject = subject
    self.text = text
  }
}
