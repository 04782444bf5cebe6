import BoutiqueDB
import ProcessHarness
import TestDatabase
import Testing

/// A plan of one script.
func plan(_ sql: String) -> BoutiqueMigrationPlan {
  BoutiqueMigrationPlan { BoutiqueMigration("schema") { conn in try conn.executeScript(sql) } }
}

/// Runs another program to its end and returns the lines it printed.
func outside(_ program: String, _ arguments: [String]) async throws -> [String] {
  try await withChildProcesses { children in
    let child = try await children.start(ChildCommand(program, arguments))
    let status = try await child.exit()
    if status != .exited(0) { throw child.failure(.ended(status), "success of \(arguments)") }
    return child.takeLines()
  }
}

/// Runs SQL in the `sqlite3` shell, which waits for others, and returns its lines.
func shell(_ path: String, _ sql: String...) async throws -> [String] {
  try await outside("sqlite3", ["-batch", "-bail", "-cmd", ".timeout 30000", path] + sql)
}

extension BoutiqueDB {
  /// Runs a closure and returns its commit as the feed shows it.
  func captured(_ body: @escaping @Sendable (BoutiqueConnection) throws -> Void) async throws
    -> BoutiqueChange
  {
    let start = try await currentToken()
    try await write(body)
    var feed = changes(since: start).makeAsyncIterator()
    // "Everything" comes first where nobody can vouch for what was between.
    var change = try #require(try await feed.next())
    while change.isEverything { change = try #require(try await feed.next()) }
    return change
  }

  /// Runs one statement and returns its commit as the feed shows it.
  func captured(_ sql: String, _ arguments: SQLValue...) async throws -> BoutiqueChange {
    try await captured { _ = try $0.execute(sql, arguments: arguments) }
  }
}

extension Row {
  /// The values by name.
  var named: [String: SQLValue] {
    Dictionary(zip(columns, values)) { first, _ in first }
  }
}

/// What a test expects of one captured row.
struct Image: Equatable, CustomStringConvertible {
  var kind: RowChange.Kind
  var before: [String: SQLValue]?
  var after: [String: SQLValue]?
  var updates: [String: SQLValue]?

  init(
    _ kind: RowChange.Kind, before: [String: SQLValue]? = nil, after: [String: SQLValue]? = nil,
    updates: [String: SQLValue]? = nil
  ) {
    self.kind = kind
    self.before = before
    self.after = after
    self.updates = updates
  }

  init(_ row: RowChange) {
    self.init(
      row.kind, before: row.before?.named, after: row.after?.named, updates: row.updates?.named)
  }

  var description: String {
    func text(_ row: [String: SQLValue]?) -> String {
      row.map { "\($0.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })" } ?? "–"
    }
    return "\(kind) \(text(before)) → \(text(after)) set \(text(updates))"
  }
}
