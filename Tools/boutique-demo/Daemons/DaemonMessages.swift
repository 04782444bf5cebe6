import Foundation

/// What the coordinator tells a daemon on its command line.
struct DaemonOrders: Codable, Sendable {
  /// What the daemon is.
  enum Role: Codable, Sendable {
    /// Writes the files whose path's hash leaves this remainder.
    case indexer(share: Int, of: Int)
    /// Keeps the live table.
    case reporter(fileCount: Int)
  }

  /// The option before the orders; no user has a use for it.
  static let option = "--daemon"

  var role: Role
  /// The name in `status()`, in error messages and in the database.
  var label: String
  var database: String
  /// The tree, for titles; the daemon's working directory is the tree.
  var tree: String
  /// Files of the tree that belong to the demo itself begin like this.
  var excludedPrefix: [UInt8]?
  /// How many files an indexer puts into a transaction.
  var batch: Int
  /// When (`CLOCK_MONOTONIC`) no further pass is begun.
  var deadline: Int64
}

/// What a daemon tells the coordinator, one line of JSON each, through descriptor 3.
enum DaemonMessage: Codable, Sendable {
  /// The reporter has delivered a value that includes this row of `commit_stamp`; 0 for the first.
  case seen(Int64)
  /// The reporter's account at its end.
  case reporter(ReporterAccount)
  /// An indexer's account at its end.
  case indexer(IndexerAccount)
}

/// What an indexer did.
struct IndexerAccount: Codable, Sendable {
  var transactions = 0
  var filesRead = 0
  var unreadable = 0
  var vanished = 0
  var fullPasses = 0
  /// Rows with a note of the shell that went with files that were gone.
  var notesSwept = 0
  var wasStopped = false
  /// From the call of `write` to the first line of its closure.
  var waits = Durations.Summary()
}

/// What the reporter saw.
struct ReporterAccount: Codable, Sendable {
  /// The last value the live query delivered.
  var last: [KindTotal] = []
  var refreshes = 0
  var commitsSeen = 0
  /// From the stamp of each indexer's commit to the value that includes it.
  var fromIndexers = Durations.Summary()
  /// The same for the shell's commits, whose clock ticks in milliseconds.
  var fromShell = Durations.Summary()
  /// How long the query itself took.
  var query = Durations.Summary()
}

extension DaemonMessage {
  /// The message as a line.
  var line: String {
    get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) + "\n" }
  }

  /// Reads a line back.
  init(line: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(line.utf8)) }
}

extension DaemonOrders {
  /// The orders as one word of a command line.
  var word: String {
    get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
  }

  /// Reads the word back.
  init(word: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(word.utf8)) }
}
