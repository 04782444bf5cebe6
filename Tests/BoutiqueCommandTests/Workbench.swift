import Foundation
import ProcessHarness

/// A directory of its own for one test, and ways to run programs in it.
struct Workbench: Sendable {
  let directory: String
  let children: ChildProcesses

  /// Gives a test a directory and children, and takes both away after it.
  static func with(_ body: (Workbench) async throws -> Void) async throws {
    let directory = NSTemporaryDirectory() + "boutique-command-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o755])
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await withChildProcesses { children in
      try await body(Workbench(directory: directory, children: children))
    }
  }

  /// The path of a database in the directory; nothing is made.
  var database: String { path("app.db") }

  func path(_ name: String) -> String { directory + "/" + name }

  /// Makes a file and returns its path.
  func file(_ name: String, _ text: String) throws -> String {
    try Data(text.utf8).write(to: URL(filePath: path(name)))
    return path(name)
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  /// Starts `boutique`.
  func start(
    _ arguments: String..., environment: [String: String] = [:]
  ) async throws -> ChildProcess {
    try await children.start(built: "boutique", arguments, environment: environment)
  }

  /// Runs `boutique` to its end.
  func boutique(
    _ arguments: String..., input: String = "", environment: [String: String] = [:]
  ) async throws -> Outcome {
    let child = try await children.start(built: "boutique", arguments, environment: environment)
    return try await finish(child, input: input)
  }

  /// Runs a line of shell in the directory; `$BOUTIQUE` is the program under test.
  func shell(_ line: String) async throws -> Outcome {
    let program = try BuiltExecutable.path("boutique")
    let child = try await children.start(
      ChildCommand(
        "bash", ["-c", "cd \"$BENCH\" && \(line)"],
        environment: ["BOUTIQUE": program, "BENCH": directory]))
    return try await finish(child, input: "")
  }

  /// Runs SQL with SQLite's own shell, a program that does not use this library, and returns its
  /// lines.
  @discardableResult
  func sqlite3(_ sql: String, in name: String = "app.db") async throws -> [String] {
    let child = try await children.start(
      ChildCommand("sqlite3", ["-batch", "-cmd", ".timeout 20000", path(name), sql]))
    let outcome = try await finish(child, input: "")
    guard outcome.status == .exited(0), outcome.errors.isEmpty else {
      throw child.failure(.refused(outcome.errors), sql)
    }
    return outcome.lines
  }

  private func finish(_ child: ChildProcess, input: String) async throws -> Outcome {
    if !input.isEmpty { child.send(input.hasSuffix("\n") ? String(input.dropLast()) : input) }
    child.closeInput()
    let status = try await child.exit(within: .seconds(120))
    return Outcome(status: status, lines: child.takeLines(), errors: child.standardError)
  }
}

/// How a program ended and what it said.
struct Outcome: Sendable {
  let status: ExitStatus
  let lines: [String]
  let errors: String

  var succeeded: Bool { status == .exited(0) && errors.isEmpty }
}
