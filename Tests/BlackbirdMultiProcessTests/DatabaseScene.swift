import Foundation
import Glibc
import ProcessHarness
import Synchronization
import Testing

/// What must hold when several processes share one Blackbird database, seen with real processes.
///
/// Serialized: each test has the machine's few cores to itself.
@Suite(.serialized) enum BlackbirdProcesses {}

/// The stage of one test: a directory with a database, and processes that end with the test.
struct DatabaseScene: Sendable {
  let directory: String
  let children: ChildProcesses

  var path: String { directory + "/app.db" }

  /// Starts a worker; no database is open yet.
  func worker() async throws -> BlackbirdWorker {
    let child = try await children.start(built: "boutique-test-worker")
    _ = try await child.nextMessage("ready") { $0["event"] == "ready" }
    return BlackbirdWorker(child)
  }

  /// Starts a worker and opens the database in it.
  func opened(_ label: String, _ members: [String: JSONValue] = [:]) async throws -> BlackbirdWorker
  {
    let worker = try await worker()
    var members = members
    members["path"] = .text(path)
    members["label"] = .text(label)
    try await worker.perform("blackbird.open", members)
    return worker
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

  /// Starts a Python program with `db`, a connection to the database, already made.
  func python(_ program: String) async throws -> ChildProcess {
    let prelude = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
      def say(text):
          print(text, flush=True)

      """
    return try await children.start(ChildCommand("python3", ["-c", prelude + program, path]))
  }

  /// Fails the test unless SQLite finds the database whole.
  func expectIntegrity(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let found = try await shell("PRAGMA integrity_check")
    #expect(found == ["ok"], sourceLocation: sourceLocation)
  }
}

/// Gives a test a directory and processes of its own.
func withDatabaseScene(_ body: (DatabaseScene) async throws -> Void) async throws {
  let parent = FileManager.default.temporaryDirectory.path
  let directory = "\(parent)/blackbird-\(UUID().uuidString.prefix(8))"
  try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  defer {
    if ProcessInfo.processInfo.environment["BOUTIQUE_KEEP_TEMPORARY"] == nil {
      try? FileManager.default.removeItem(atPath: directory)
    }
  }
  try await withChildProcesses { children in
    try await body(DatabaseScene(directory: directory, children: children))
  }
}

/// A worker seen from a test; its commands are those of `Tests/Support/worker`.
final class BlackbirdWorker: Sendable {
  /// An error that a worker's command ended with.
  struct Failure: Error, CustomStringConvertible {
    let name: String
    let message: String
    var description: String { "\(name): \(message)" }
  }

  let child: ChildProcess
  private let lastID = Mutex(0)

  init(_ child: ChildProcess) { self.child = child }

  var processID: pid_t { child.processID }

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
  func end(of id: Int, within bound: Duration = ChildProcess.usualBound) async throws -> JSONValue {
    let event = try await child.nextMessage("the end of command \(id)", within: bound) {
      $0["re"]?.int == id && ["done", "failed", "cancelled"].contains($0["event"])
    }
    guard event["event"] == "done" else {
      throw Failure(name: event["error"]?.string ?? "", message: event["message"]?.string ?? "")
    }
    return event
  }

  /// Performs a command to its end; throws its error.
  @discardableResult
  func perform(_ verb: String, _ members: [String: JSONValue] = [:]) async throws -> JSONValue {
    try await end(of: begin(verb, members))
  }

  func execute(_ sql: String) async throws {
    try await perform("blackbird.execute", ["sql": .text(sql)])
  }

  func query(_ sql: String) async throws -> JSONValue {
    try await perform("blackbird.query", ["sql": .text(sql)])["rows"] ?? .null
  }
}
