import BoutiqueDB
import ProcessHarness

extension Worker {
  /// `observe`: follows a query.
  ///
  /// sql, arguments; keep, to go on after an error. Emits `value` with `rows` for each value until
  /// cancelled, and with `keep` `trouble` for each error; `done` when the sequence ends by itself.
  func observe(_ command: Command) async throws -> [String: JSONValue] {
    let sql = try command.text("sql")
    let values = try database().observe { connection in
      try connection.query(sql, arguments: command.arguments).map(\.values)
    }
    var iterator = values.makeAsyncIterator()
    while true {
      do {
        guard let rows = try await iterator.next(isolation: nil) else { break }
        command.emit("value", ["rows": .list(rows.map { .list($0.map { JSONValue($0) }) })])
      } catch {
        switch error {
        case BoutiqueError.fileReplaced, BoutiqueError.closed: throw error
        default:
          guard command["keep"]?.bool == true else { throw error }
          command.emit("trouble", describe(error))
        }
      }
    }
    try Task.checkCancellation()
    return [:]
  }

  /// `changes`: follows the change feed.
  ///
  /// since, a token (without: from now). Emits `following` once, then `change` for each.
  func followChanges(_ command: Command) async throws -> [String: JSONValue] {
    let database = try database()
    // A token of now, since a feed without one begins only when it is first asked for a change.
    var since = command["since"]?.string.flatMap { ChangeToken($0) }
    if since == nil { since = try await database.currentToken() }
    let feed = database.changes(since: since)
    command.emit("following")
    for try await change in feed {
      command.emit(
        "change",
        [
          "token": .text(change.token.description),
          "number": .integer(change.token.number),
          "tables": .list(change.tables.map { .text($0) }),
          "rows": .integer(Int64(change.rows.count)),
          "isEverything": .bool(change.isEverything),
          "origin": origin(change.origin),
        ])
    }
    try Task.checkCancellation()
    return [:]
  }

  private func origin(_ origin: ChangeOrigin) -> JSONValue {
    switch origin {
    case .thisProcess: "this"
    case .process(let pid, let label): ["pid": .integer(Int64(pid)), "label": .text(label)]
    case .foreign: "foreign"
    }
  }
}
