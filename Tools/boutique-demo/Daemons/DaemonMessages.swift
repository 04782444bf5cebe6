import Foundation
import Glibc

/// What the coordinator tells a daemon, as the first line of its standard input.
struct DaemonOrders: Codable, Sendable {
  /// What the daemon is.
  enum Role: Codable, Sendable {
    /// Writes the files whose path's hash leaves this remainder.
    case indexer(share: Int, of: Int)
    /// Keeps the live table.
    case reporter(fileCount: Int)
  }

  /// The option before the label, which makes a process a daemon; no user has a use for it.
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
  /// The orders as a line.
  var line: String {
    get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) + "\n" }
  }

  /// Reads the line from standard input, and not one byte more.
  static func readFromStandardInput() throws -> DaemonOrders {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      let got = read(STDIN_FILENO, &byte, 1)
      if got < 0, errno == EINTR { continue }
      if got <= 0 || byte == UInt8(ascii: "\n") { break }
      bytes.append(byte)
    }
    guard !bytes.isEmpty else {
      throw DemoFailure("there are no orders on standard input; start Tools/demo instead")
    }
    return try JSONDecoder().decode(Self.self, from: Data(bytes))
  }
}
