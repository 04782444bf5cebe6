import Glibc
import ProcessHarness

extension BlackbirdWorker {
  /// Waits for the next event of that name of a command that goes on.
  func event(_ name: JSONValue, of id: Int) async throws -> JSONValue {
    let event = try await child.nextMessage("\(name) of command \(id)") {
      $0["re"]?.int == id
        && ($0["event"] == name || ["failed", "cancelled"].contains($0["event"]))
    }
    guard event["event"] == name else {
      throw Failure(name: event["error"]?.string ?? "", message: event["message"]?.string ?? "")
    }
    return event
  }

  /// Subscribes, and returns the command's number once the subscription is in effect.
  func sink(_ members: [String: JSONValue] = [:]) async throws -> Int {
    let id = begin("watched.sink", members)
    try await end(of: id)
    return id
  }

  /// Returns the next change of a subscription.
  func change(of id: Int) async throws -> JSONValue { try await event("change", of: id) }

  /// Writes a row of the table `Watched`.
  func write(_ number: Int, score: Int = 0) async throws {
    try await perform(
      "watched.write", ["number": .integer(Int64(number)), "score": .integer(Int64(score))])
  }

  /// Reads a score through the cache.
  func read(_ number: Int) async throws -> Int {
    try await perform("watched.read", ["number": .integer(Int64(number))])["score"]?.int ?? -2
  }

  func stop() { child.signal(SIGSTOP) }
  func goOn() { child.signal(SIGCONT) }
}
