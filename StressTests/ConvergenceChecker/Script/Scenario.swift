/// Everything that one run does, apart from the interleaving: it is generated from a seed, kept as a script,
/// and made shorter when it fails.
package struct Scenario: Codable, Hashable, Sendable {
  /// The seed it was generated from; processes draw their pauses from it.
  package var seed: UInt64
  /// How many times writers run and pause.
  package var rounds: Int
  /// Who makes the file and its schema: a program without the library, or a process with it.
  package var isMadeByForeigner: Bool
  /// The writing and observing processes.
  package var processes: [ProcessPlan] = []
  /// The statements that make the schema, in order.
  package var schema: [SchemaStatement] = []
  /// What the writers do, in order for each writer.
  package var operations: [Operation] = []
  /// The live queries.
  package var queries: [QueryPlan] = []
  /// The change feeds.
  package var feeds: [FeedPlan] = []
  /// What goes wrong, and when.
  package var disturbances: [Disturbance] = []
  /// A fault of the checker's own making; only tests of the checker have one.
  package var plant: Plant?

  /// Creates an empty scenario.
  package init(seed: UInt64, rounds: Int, isMadeByForeigner: Bool) {
    self.seed = seed
    self.rounds = rounds
    self.isMadeByForeigner = isMadeByForeigner
  }

  /// The processes with live queries or feeds.
  var observers: [ProcessPlan] {
    let names = Set(queries.map(\.observer) + feeds.map(\.observer))
    return processes.filter { $0.role == .observer || names.contains($0.name) }
  }

  func process(_ name: String) -> ProcessPlan? { processes.first { $0.name == name } }
}

/// One process that takes part.
package struct ProcessPlan: Codable, Hashable, Sendable {
  /// What kind of program it is.
  package enum Role: String, Codable, Sendable, CaseIterable {
    /// Writes through the library; may have live queries and feeds, too.
    case library
    /// Writes with Python's sqlite3, over one connection.
    case python
    /// Writes with the `sqlite3` shell, one process for each transaction.
    case shell
    /// Has live queries and feeds.
    case observer
  }

  /// Its name, which is also its label.
  package var name: String
  /// What it is.
  package var role: Role
  /// How it opens the database.
  package var settings: Settings
  /// How many writes it has under way at the same time (library only).
  package var lanes = 1
}

/// How a process opens the database.
package struct Settings: Codable, Hashable, Sendable {
  /// Milliseconds between two looks without a bell.
  package var pollInterval = 250
  /// Whether inotify rings.
  package var usesInotify = true
  /// Connections for reading.
  package var readerCount = 4
  /// Rows of a table beyond which it counts as wholly changed.
  package var captureRowLimit = 1000
  /// Commits kept in the change log.
  package var retention = 100_000
  /// Writes that share a commit.
  package var groupCommitLimit = 16
  /// Whether foreign commits are captured by triggers.
  package var isForeignCapturePrecise = false
  /// Capture modes by table.
  package var captureModes: [String: String] = [:]
  /// `PRAGMA synchronous`.
  package var synchronous = "normal"
  /// Whether foreign keys are enforced.
  package var foreignKeys = true
  /// Whether a foreign program may checkpoint.
  package var foreignCheckpoints = false
}

/// One statement of the schema.
package struct SchemaStatement: Codable, Hashable, Sendable {
  /// What it makes, for people.
  package var name: String
  /// The statement.
  package var sql: String
}

/// One transaction of a writer, or one thing that is done outside of transactions.
package struct Operation: Codable, Hashable, Sendable {
  /// What is done.
  package enum Kind: String, Codable, Sendable {
    /// Steps in one transaction, committed.
    case transaction
    /// Steps in one transaction, rolled back.
    case rollback
    /// VACUUM.
    case vacuum
    /// A checkpoint, passive or truncating.
    case checkpoint
    /// The database is closed and opened again.
    case reopen
  }

  /// Its number, unique in the scenario.
  package var id: Int
  /// Which round it belongs to, from 0.
  package var round: Int
  /// The process that does it.
  package var writer: String
  /// What is done.
  package var kind: Kind
  /// The statements.
  package var steps: [Step] = []
  /// Whether counter and ledger are written before the steps instead of after them.
  package var isStampedFirst = false
  /// A counted query whose answer the writer tells just before it commits.
  package var probe: Int?
}

/// A part of a transaction.
package struct Step: Codable, Hashable, Sendable {
  /// A statement; nil for a savepoint.
  package var sql: String?
  /// Whether the transaction goes on when the statement fails.
  package var mayFail = false
  /// The steps in a savepoint.
  package var savepoint: [Step]?
  /// Whether the savepoint is rolled back.
  package var isUndone = false

  static func statement(_ sql: String, mayFail: Bool = false) -> Step {
    Step(sql: sql, mayFail: mayFail)
  }
}

/// One live query in one observing process.
package struct QueryPlan: Codable, Hashable, Sendable {
  /// How it is observed.
  package enum Style: String, Codable, Sendable {
    /// `for await` over `observe`.
    case sequence
    /// The property wrapper on the main actor.
    case property
    /// A statement of the query language; `sql` says the same in SQL.
    case statement
  }

  /// Its number, unique in the scenario.
  package var id: Int
  /// The observing process.
  package var observer: String
  /// The statement; with two of them the second is run with the first value of the first as its argument.
  package var sql: [String]
  /// How it is observed.
  package var style = Style.sequence
  /// Whether its closure reads the counter of commits, too.
  ///
  /// Such a query depends on every commit; one that does not proves that its region is right.
  package var isCounted = false
  /// Milliseconds that the consumer rests between two values.
  package var pause = 0
  /// After how many values the consumer is cancelled and another begins.
  package var restartsAfter: Int?
  /// A sum over all values of the answer that must hold in each.
  package var constantSum: Int64?
}

/// One change feed in one observing process, replayed into a copy of all tables.
package struct FeedPlan: Codable, Hashable, Sendable {
  /// How it begins and goes on.
  package enum Kind: String, Codable, Sendable, CaseIterable {
    /// From now on; a copy is read first.
    case live
    /// Leaves off now and then and goes on from its token.
    case resuming
    /// Keeps copy and token in a file, and goes on from there after it was killed.
    case durable
  }

  /// Its number, unique in the scenario.
  package var id: Int
  /// The observing process.
  package var observer: String
  /// How it begins and goes on.
  package var kind: Kind
  /// Milliseconds that it rests after a change.
  package var pause = 0
  /// After how many changes it leaves off, or writes its file.
  package var every = 10
}

/// Something that goes wrong while writers run.
package struct Disturbance: Codable, Hashable, Sendable {
  /// What goes wrong.
  package enum Kind: String, Codable, Sendable, CaseIterable {
    /// A process is killed and started again.
    case kill
    /// A process stands still for a moment.
    case stop
    /// An observer closes its database and opens it again.
    case reopen
    /// The lock file, which is the bell too, is deleted.
    case deleteLockFile
  }

  /// The round, from 0.
  package var round: Int
  /// How many writes of the round have ended before it happens.
  package var after: Int
  /// What happens.
  package var kind: Kind
  /// To which process; nil where it is the file that is meant.
  package var target: String?
  /// For how many milliseconds.
  package var milliseconds = 0
}

/// A fault that the checker must find; one for each check.
package enum Plant: String, Codable, Sendable, CaseIterable {
  /// A feed's replay leaves out a change.
  case droppedChange
  /// A feed's replay leaves out a column of an update.
  case droppedColumn
  /// A feed gives a change twice.
  case repeatedChange
  /// A live query keeps an old value.
  case staleValue
  /// A live query gives an older value after a newer one.
  case backwards
  /// A live query gives the same value twice.
  case doubledValue
  /// A live query gives a value after it was cancelled.
  case afterCancellation
  /// A value shows half of a transfer.
  case tornValue
  /// A value differs from what the database held at its counter.
  case wrongMoment
  /// A writer says that it has committed what it has not.
  case swallowedWrite
  /// A writer says that it has failed though it has committed.
  case committedFailure
  /// A feed says that a commit of the library was foreign.
  case wrongOrigin
  /// A writer ends by itself.
  case crash
  /// The file is damaged.
  case damagedFile
}
