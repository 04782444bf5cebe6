import Foundation
import Glibc
import ProcessHarness
import SharedFileCoordination
import Testing

/// What `boutique-locks` shows, with real processes.
///
/// Serialized: each test has the machine's few cores to itself.
@Suite(.serialized) enum Locks {}

/// The stage of one test: a directory with a database, and processes that end with the test.
struct LockScene: Sendable {
  let directory: String
  let children: ChildProcesses

  /// The database that the test is about.
  var path: String { file("app.db") }

  func file(_ name: String) -> String { directory + "/" + name }

  /// Gives a test a directory and processes of its own, and takes both away after it.
  static func with(_ body: (LockScene) async throws -> Void) async throws {
    let parent = FileManager.default.temporaryDirectory.path
    let directory = "\(parent)/boutique-locks-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o755])
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await withChildProcesses { children in
      try await body(LockScene(directory: directory, children: children))
    }
  }

  // MARK: Processes

  /// Starts a worker and opens a database in it.
  func opened(
    _ label: String, _ path: String? = nil, _ members: [String: JSONValue] = [:]
  ) async throws -> LockWorker {
    try await opened(label, path, members, in: children.start(built: "boutique-test-worker"))
  }

  /// Opens a database in a worker that was just started.
  func opened(
    _ label: String, _ path: String? = nil, _ members: [String: JSONValue] = [:],
    in child: ChildProcess
  ) async throws -> LockWorker {
    let worker = LockWorker(child)
    _ = try await child.nextMessage("ready") { $0["event"] == "ready" }
    var all: [String: JSONValue] = [
      "path": .text(path ?? self.path), "label": .text(label),
      "migrations": [
        ["id": "notes", "sql": ["CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT)"]]
      ],
    ]
    all.merge(members) { _, new in new }
    try await worker.perform("open", all)
    return worker
  }

  /// Starts a worker that holds the write lease, and has written, until it is released.
  func holding(_ label: String, _ path: String? = nil) async throws -> LockWorker {
    let worker = try await opened(label, path)
    try await worker.hold()
    return worker
  }

  /// Starts the `sqlite3` shell and runs statements in it; it stays open.
  func shell(_ statements: String, on path: String? = nil) async throws -> ChildProcess {
    let shell = try await children.start(
      ChildCommand("sqlite3", ["-batch", path ?? self.path]))
    shell.send(statements + "\nSELECT 'the shell is there';")
    _ = try await shell.next("the shell's answer") { $0.text == "the shell is there" }
    return shell
  }

  /// Starts a Python program that says “there” and then waits for its input to end.
  func python(_ program: String, _ arguments: [String]) async throws -> ChildProcess {
    let child = try await children.start(
      ChildCommand(
        "python3",
        [
          "-c",
          "import sqlite3, sys, fcntl\n\(program)\nprint('there', flush=True)\nsys.stdin.read()",
        ]
          + arguments))
    _ = try await child.next("its place") { $0.text == "there" }
    return child
  }

  // MARK: The program

  /// Runs `boutique-locks` to its end.
  func locks(_ arguments: String..., environment: [String: String] = [:]) async throws -> Shown {
    try await finish(
      children.start(built: "boutique-locks", arguments, environment: environment))
  }

  /// Runs `boutique-locks` through another program, such as `setpriv`.
  func locks(through program: [String], _ arguments: String...) async throws -> Shown {
    let path = try BuiltExecutable.path("boutique-locks")
    return try await finish(
      children.start(
        ChildCommand(program[0], Array(program.dropFirst()) + [path] + arguments)))
  }

  func finish(_ child: ChildProcess) async throws -> Shown {
    child.closeInput()
    let status = try await child.exit(within: .seconds(120))
    return Shown(status: status, lines: child.takeLines(), errors: child.standardError)
  }

  /// Returns what `--json` says of one database.
  func json(_ arguments: String...) async throws -> JSONValue {
    let child = try await children.start(
      built: "boutique-locks", ["--json"] + (arguments.isEmpty ? [path] : arguments))
    return try await finish(child).database
  }

  /// Looks again and again until a database is as wanted.
  func waitForJSON(
    _ awaited: String, where wants: (JSONValue) -> Bool,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> JSONValue {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      let found = try await json(path)
      if wants(found) { return found }
      guard ContinuousClock.now < deadline else {
        Issue.record("never showed \(awaited): \(found)", sourceLocation: sourceLocation)
        return found
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Waits until a worker stands in line for the write lease, as the lock file tells anyone who looks.
  func waitUntilInLine(_ worker: LockWorker, _ path: String? = nil) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
      let waiters = LockReport.of(
        databasePath: path ?? self.path, includesKernelLocks: false
      ).waiters
      if waiters.contains(where: { $0.process?.pid == worker.pid }) { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw worker.child.failure(.timedOut(.seconds(60)), "its place in line")
  }
}

/// What the program showed.
struct Shown: Sendable {
  let status: ProcessHarness.ExitStatus
  let lines: [String]
  let errors: String

  var text: String { lines.joined(separator: "\n") }

  var whole: JSONValue { lines.first.flatMap { JSONValue(line: $0) } ?? .null }

  /// The only database of a JSON output.
  var database: JSONValue { whole["databases"]?.list?.first ?? .null }
}

extension JSONValue {
  /// The kinds of a database's findings.
  var findings: [String] { self["findings"]?.list?.compactMap { $0["kind"]?.string } ?? [] }

  /// The process of some number.
  func process(_ pid: pid_t) -> JSONValue? {
    self["processes"]?.list?.first { $0["pid"]?.int == Int(pid) }
  }

  /// The names of SQLite's locks that a process has.
  func sqliteLocks(of pid: pid_t) -> Set<String> {
    let own = self["sqlite_locks"]?.list?.filter { $0["process"]?["pid"]?.int == Int(pid) }
    return Set(own?.compactMap { $0["name"]?.string } ?? [])
  }

  var double: Double? {
    switch self {
    case .number(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }
}
