import Foundation
import Glibc
import ProcessHarness
import Synchronization

/// An error that a worker's command ended with.
struct ValueWorkerError: Error, CustomStringConvertible {
  let name: String
  let description: String
}

/// A worker that uses stored values, seen from a test.
final class ValueWorker: Sendable {
  let child: ChildProcess
  private let lastID = Mutex(0)

  init(_ child: ChildProcess) { self.child = child }

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

  /// Waits for the end of a command; throws its error.
  @discardableResult
  func end(of id: Int) async throws -> JSONValue {
    let endings: Set<JSONValue?> = ["done", "failed", "cancelled"]
    let event = try await child.nextMessage("the end of command \(id)") {
      $0["re"]?.int == id && endings.contains($0["event"])
    }
    guard event["event"] == "done" else {
      let name = event["event"] == "cancelled" ? "cancelled" : event["error"]?.string ?? "unnamed"
      throw ValueWorkerError(name: name, description: "\(name): \(event["message"]?.string ?? "")")
    }
    return event
  }

  /// Performs a command to its end; throws its error.
  @discardableResult
  func perform(_ verb: String, _ members: [String: JSONValue] = [:]) async throws -> JSONValue {
    try await end(of: begin(verb, members))
  }

  /// Waits for an event of a running command.
  func event(
    _ name: JSONValue, of id: Int,
    where wanted: @escaping @Sendable (JSONValue) -> Bool = { _ in true }
  ) async throws -> JSONValue {
    let event = try await child.nextMessage("\(name) of command \(id)") {
      $0["re"]?.int == id && ($0["event"] == name && wanted($0) || $0["event"] == "failed")
    }
    guard event["event"] == name else {
      throw ValueWorkerError(name: "failed", description: "\(event)")
    }
    return event
  }

  /// Cancels a command and waits for its end; throws any other error.
  func cancel(_ id: Int) async throws {
    begin("cancel", ["of": .integer(Int64(id))])
    do { try await end(of: id) } catch let error as ValueWorkerError where error.name == "cancelled"
    {}
  }
}

/// A directory with a settings file and a key file, and processes that end with the test.
struct ValueScene: Sendable {
  let directory: String
  let children: ChildProcesses

  var path: String { directory + "/settings.db" }
  var keyFile: String { directory + "/keys/settings.key" }

  /// Starts a worker that knows the settings file, or the group's in the scene's XDG directories.
  func worker(group: String? = nil) async throws -> ValueWorker {
    let child = try await children.start(
      built: "boutique-test-worker",
      environment: [
        "XDG_CONFIG_HOME": directory + "/config", "XDG_DATA_HOME": directory + "/data",
      ])
    let worker = ValueWorker(child)
    _ = try await child.nextMessage("ready") { $0["event"] == "ready" }
    try await name(in: worker, group: group)
    return worker
  }

  func name(
    in worker: ValueWorker, path: String? = nil, keyFile: String? = nil, group: String? = nil
  ) async throws {
    if let group {
      try await worker.perform("values", ["group": .text(group)])
    } else {
      try await worker.perform(
        "values",
        ["path": .text(path ?? self.path), "keyFile": .text(keyFile ?? self.keyFile)])
    }
  }

  func workers(_ count: Int) async throws -> [ValueWorker] {
    var workers: [ValueWorker] = []
    for _ in 0..<count { workers.append(try await worker()) }
    return workers
  }

  /// Runs SQL in the `sqlite3` shell and returns what it printed.
  @discardableResult
  func shell(_ sql: String) async throws -> [String] {
    let shell = try await children.start(
      ChildCommand("sqlite3", ["-batch", "-bail", "-cmd", ".timeout 30000", path, sql]))
    let status = try await shell.exit()
    if status != .exited(0) { throw shell.failure(.ended(status), "success of \(sql)") }
    return shell.takeLines()
  }
}

/// Gives a test a directory and processes of its own.
func withValueScene(_ body: (ValueScene) async throws -> Void) async throws {
  let directory =
    FileManager.default.temporaryDirectory.path + "/boutique-\(UUID().uuidString.prefix(8))"
  try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  defer {
    if ProcessInfo.processInfo.environment["BOUTIQUE_KEEP_TEMPORARY"] == nil {
      try? FileManager.default.removeItem(atPath: directory)
    }
  }
  try await withChildProcesses { children in
    try await body(ValueScene(directory: directory, children: children))
  }
}
