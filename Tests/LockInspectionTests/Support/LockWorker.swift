import Glibc
import ProcessHarness
import Synchronization

/// A worker seen from a test; its commands are those of `Tests/Support/worker/Worker.swift`.
final class LockWorker: Sendable {
  let child: ChildProcess
  private let lastID = Mutex(0)

  init(_ child: ChildProcess) { self.child = child }

  var pid: pid_t { child.processID }

  /// Sends a command and returns its number at once.
  @discardableResult
  func begin(_ verb: String, _ members: [String: JSONValue] = [:]) -> Int {
    let id = lastID.withLock { last in
      last += 1
      return last
    }
    var members = members
    members["do"] = .text(verb)
    members["id"] = .integer(Int64(id))
    child.send((try? JSONValue.object(members).line()) ?? "")
    return id
  }

  /// Waits for an event of a command.
  @discardableResult
  func event(_ name: String, of id: Int) async throws -> JSONValue {
    let event = try await child.nextMessage("\(name) of command \(id)") {
      $0["re"]?.int == id && ($0["event"] == .text(name) || $0["event"] == "failed")
    }
    if event["event"] == "failed", name != "failed" {
      throw child.failure(.refused(event["message"]?.string ?? ""), name)
    }
    return event
  }

  /// Performs a command to its end.
  @discardableResult
  func perform(_ verb: String, _ members: [String: JSONValue] = [:]) async throws -> JSONValue {
    try await event("done", of: begin(verb, members))
  }

  /// Takes the write lease, writes, and stays in the transaction; returns the command's number.
  @discardableResult
  func hold() async throws -> Int {
    let id = begin("hold", ["sql": ["INSERT INTO note (body) VALUES ('held')"]])
    try await event("holding", of: id)
    return id
  }

  /// Asks for the write lease without waiting for it.
  @discardableResult
  func beginWrite() -> Int {
    begin("exec", ["sql": "INSERT INTO note (body) VALUES ('waited for')"])
  }

  func release(_ id: Int) async throws {
    try await perform("release", ["of": .integer(Int64(id))])
  }
}
