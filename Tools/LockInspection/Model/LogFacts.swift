/// The write-ahead log and its index.
package struct LogFacts: Codable, Sendable, Equatable {
  /// The size of the file.
  package var bytes: Int64
  package var pageBytes: Int?
  /// Committed pages in the log; nil while its index does not say.
  package var frames: Int?
  /// How many of them are in the database file as well.
  package var checkpointedFrames: Int?
  /// How many are not.
  package var uncheckpointedFrames: Int?
  /// The read marks in use.
  package var readers: [Reader] = []

  /// Makes facts about a log of some size.
  package init(bytes: Int64) {
    self.bytes = bytes
  }

  /// A process that reads a snapshot of the log.
  package struct Reader: Codable, Sendable, Equatable {
    package var process: ProcessReference?
    package var mark: Int
    /// Up to which page of the log the snapshot goes.
    package var frame: Int
    /// How many pages have been added since; nil when not known.
    package var framesBehind: Int?
    /// Whether a checkpoint has to stop at it.
    package var holdsLogBack: Bool

    /// Makes facts about a reader.
    package init(
      process: ProcessReference?, mark: Int, frame: Int, framesBehind: Int?, holdsLogBack: Bool
    ) {
      self.process = process
      self.mark = mark
      self.frame = frame
      self.framesBehind = framesBehind
      self.holdsLogBack = holdsLogBack
    }
  }
}

/// The change log and those who follow it.
package struct ChangeFacts: Codable, Sendable, Equatable {
  /// The oldest token that is kept; nil when the log is empty.
  package var firstToken: Int64?
  /// The newest token; nil when the log is empty.
  package var lastToken: Int64?
  package var consumers: [Consumer] = []

  /// Makes facts about an empty change log.
  package init() {}

  /// A durable consumer.
  package struct Consumer: Codable, Sendable, Equatable {
    package var name: String
    /// Up to where it has acknowledged.
    package var token: Int64
    /// How many commits it has still to take; acknowledgements are none.
    package var behind: Int64
    /// How long ago it was last heard of; nil when not known.
    package var lastSeenSecondsAgo: Double?

    /// Makes facts about a consumer.
    package init(name: String, token: Int64, behind: Int64, lastSeenSecondsAgo: Double?) {
      self.name = name
      self.token = token
      self.behind = behind
      self.lastSeenSecondsAgo = lastSeenSecondsAgo
    }
  }
}
