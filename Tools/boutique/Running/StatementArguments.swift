import BoutiqueDB
import CommandLineSupport

/// The values for a statement's parameters, in order or by name.
///
/// A text is bound as a number when it is written exactly as SQLite would write that number (42,
/// -1, 0.5) and as text otherwise (007, 1.50, +1): so numbers compare as numbers, and nothing that
/// only looks like one loses its zeros.
struct StatementArguments: Sendable {
  private(set) var ordered: [SQLValue] = []
  private(set) var named: [String: SQLValue] = [:]

  var isEmpty: Bool { ordered.isEmpty && named.isEmpty }

  init(words: [String], named: [String: SQLValue]) throws(UsageError) {
    if !words.isEmpty, !named.isEmpty {
      throw .conflict("arguments by position", "--param")
    }
    ordered = words.map { Self.value($0) }
    self.named = named
  }

  static func value(_ text: String) -> SQLValue {
    if let integer = Int64(text), String(integer) == text { return .integer(integer) }
    if let real = Double(text), real.isFinite, String(real) == text { return .real(real) }
    return .text(text)
  }

  /// The option that gives one named value.
  static func option<Settings>(
    _ add: @escaping @Sendable (inout Settings, String, SQLValue) -> Void
  ) -> CommandOption<Settings> {
    .value(
      "param", short: "p", "NAME=VALUE",
      help: "The value for :NAME, @NAME or $NAME in the SQL; can be given several times."
    ) { (settings, text) throws(InvalidValue) in
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw InvalidValue(expected: "of the form NAME=VALUE")
      }
      add(&settings, String(parts[0]), value(String(parts[1])))
    }
  }

  /// Calls `body` with each row of the statement.
  func forEachRow(
    of statement: PreparedQuery, _ body: (Row) throws -> Void
  ) throws {
    if named.isEmpty {
      try statement.forEachRow(arguments: ordered, body)
    } else {
      try statement.forEachRow(named: named, body)
    }
  }

  /// Runs the statement to its end and returns the number of rows it changed.
  func run(_ statement: PreparedQuery) throws -> Int {
    named.isEmpty
      ? try statement.run(arguments: ordered) : try statement.run(named: named)
  }
}
