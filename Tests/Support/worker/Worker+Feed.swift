import BoutiqueDB
import ProcessHarness

extension Worker {
  /// `consume`: follows the change feed as a durable consumer.
  ///
  /// name; since, a token; acknowledge (true), each change once it has been told. Emits `change` with the
  /// first row's `key` for each, then `acknowledged`.
  func consume(_ command: Command) async throws -> [String: JSONValue] {
    let since = command["since"]?.string.flatMap { ChangeToken($0) }
    let acknowledges = command["acknowledge"]?.bool ?? true
    for try await change in try database().changes(since: since, consumer: command.text("name")) {
      let key = change.rows.first?.key.map { JSONValue($0) } ?? []
      let members: [String: JSONValue] = [
        "number": .integer(change.token.number), "key": .list(key),
        "isEverything": .bool(change.isEverything),
      ]
      command.emit("change", members)
      guard acknowledges else { continue }
      try await change.acknowledge()
      command.emit("acknowledged", members)
    }
    try Task.checkCancellation()
    return [:]
  }

  /// `waitFor`: token; timeout (milliseconds).
  ///
  /// Answers with the `rows` of the query `sql`, begun when the token was reached.
  func waitForToken(_ command: Command) async throws -> [String: JSONValue] {
    guard let token = ChangeToken(try command.text("token")) else {
      throw Misuse(description: "“token” is none")
    }
    try await database().wait(for: token, timeout: command.milliseconds("timeout") ?? .seconds(60))
    return ["rows": try await query(command)]
  }
}
