import Foundation

// What the coordinator and its processes say to each other: one line each, a letter and a JSON object. Events
// (E) come by themselves, answers (S) come one for each question.

/// What the coordinator asks of a process.
struct Command: Codable, Sendable {
  enum Kind: String, Codable, Sendable {
    /// Do these operations, in order.
    case run
    /// Say what the live values and the feeds' copies are.
    case report
    /// Say it in full.
    case dump
    /// Close the database and open it again.
    case reopen
    /// Close the database and end.
    case end
  }

  var kind: Kind
  var operations: [Operation]?
  /// The queries that operations ask, by number.
  var probes: [String: [String]]?
  /// How many times the operations may have been tried before.
  var attempt: Int?
}

/// What a process tells by itself.
struct Event: Codable, Sendable {
  enum Kind: String, Codable, Sendable {
    /// The database is open.
    case ready
    /// A transaction was committed.
    case committed
    /// A transaction was not committed.
    case refused
    /// Something outside of transactions has ended, well or not.
    case ended
    /// All operations have ended.
    case done
    /// Something that must not happen.
    case violation
    /// The process cannot go on.
    case failed
  }

  var kind: Kind
  var operation: Int?
  /// The transaction's entry in the ledger.
  var entry: String?
  var text: String?
  var check: Check?
  var sample: Sample?
}

/// What a query's answer was when the counter of commits had a value.
struct Sample: Codable, Hashable, Sendable {
  var query: Int
  var counter: Int64
  var hash: String
}

/// A query's answer.
struct AnswerState: Codable, Hashable, Sendable {
  var hash: String?
  var counter: Int64?
  /// What the query failed with.
  var error: String?
  var lines: [String]?
}

/// A table's content.
struct CopyState: Codable, Hashable, Sendable {
  var hash: String
  var rows: [String]?
}

/// What an observing process has.
struct ObserverState: Codable, Sendable {
  /// Answers by query; missing where nothing has been delivered yet.
  var answers: [String: AnswerState] = [:]
  /// Copies by feed and table; missing where a feed has not begun.
  var copies: [String: [String: CopyState]] = [:]
  /// The feeds' positions; they move while there is something to read.
  var positions: [Int64] = []
  var samples: [Sample] = []
  var deliveries = 0
  var changes = 0
  /// How many of the changes said that anything may have changed.
  var everythings = 0
}

/// What a plain connection finds.
struct FreshState: Codable, Sendable {
  var counter: Int64
  var answers: [String: AnswerState]
  var copies: [String: CopyState]
  /// The ledger's entries with their counters.
  var ledger: [String: Int64]
  /// What `PRAGMA integrity_check` says when it is not "ok".
  var damage: [String]
}

enum Wire {
  static func line(_ letter: String, _ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { return letter }
    return letter + " " + String(decoding: data, as: UTF8.self)
  }

  static func value<Value: Decodable>(_ type: Value.Type, of line: String) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(line.dropFirst(2).utf8))
  }
}
