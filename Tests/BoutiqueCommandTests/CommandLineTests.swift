import Foundation
import Glibc
import ProcessHarness
import Testing

@Suite struct CommandLineTests {
  static let commands = [
    "import", "query", "exec", "watch", "changes", "status", "backup", "check",
  ]

  /// Operands that would do something with a database.
  static func operands(_ command: String, _ bench: Workbench) throws -> [String] {
    switch command {
    case "import": ["t", try bench.file("t.csv", "a\n1\n")]
    case "query", "watch": ["SELECT 1"]
    case "exec": ["CREATE TABLE t (a)"]
    case "backup": [bench.path("copy.db")]
    default: []
    }
  }

  @Test(arguments: commands)
  func `every command explains itself`(command: String) async throws {
    try await Workbench.with { bench in
      let outcome = try await bench.boutique(command, "--help")
      #expect(outcome.succeeded, "\(outcome)")
      #expect(outcome.lines.first?.hasPrefix("usage: boutique \(command) [OPTION]... DB") == true)
      for option in ["--timeout", "--label", "--help", "--version"] {
        #expect(outcome.lines.contains { $0.contains(option) })
      }
      let other = try await bench.boutique("help", command)
      #expect(other.lines == outcome.lines)
    }
  }

  @Test func `the program explains itself and tells its version`() async throws {
    try await Workbench.with { bench in
      for arguments in [["--help"], ["help"], ["-h"]] {
        let child = try await bench.children.start(built: "boutique", arguments)
        #expect(try await child.exit() == .exited(0))
        let text = child.takeLines().joined(separator: "\n")
        for command in Self.commands { #expect(text.contains("  \(command) ")) }
      }
      for outcome in [
        try await bench.boutique("--version"), try await bench.boutique("query", "--version"),
      ] { #expect(outcome.lines.first?.hasPrefix("boutique ") == true) }
    }
  }

  @Test(arguments: [
    ([], "usage: boutique COMMAND"),
    (["qeury", "x"], "unknown command “qeury”; did you mean query?"),
    (["--jsno"], "unknown option --jsno"),
    (["query"], "DB is missing"),
    (["query", "db", "--jsno"], "unknown option --jsno; did you mean --json?"),
    (
      ["watch", "db", "SELECT 1", "--count=0"], "option --count: “0” is not a whole number above 0"
    ),
    (["watch", "db", "SELECT 1", "--interval=0"], "option --interval: “0” is not"),
    (["exec", "db", "SELECT 1", "--timeout=soon"], "option --timeout: “soon” is not a number"),
    (["exec", "db", "SELECT 1", "--timeout"], "option --timeout needs a value"),
    (["query", "db", "SELECT 1", "-p", "x"], "option -p: “x” is not of the form NAME=VALUE"),
    (["check", "db", "more"], "“more” is one operand too many"),
    (["backup", "db"], "DEST is missing"),
    (["status", "db", "--json=1"], "option --json takes no value"),
    (["query", "", "SELECT 1"], "the name of the database is empty"),
  ])
  func `a wrong command line is told and nothing is touched`(
    arguments: [String], message: String
  ) async throws {
    try await Workbench.with { bench in
      let line = arguments.map { "'\($0)'" }.joined(separator: " ")
      let outcome = try await bench.shell("\"$BOUTIQUE\" \(line)")
      #expect(outcome.status == .exited(2))
      #expect(outcome.lines.isEmpty)
      #expect(outcome.errors.contains(message), "\(outcome)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: bench.directory).isEmpty)
    }
  }

  @Test(arguments: commands)
  func `a missing database is an error and is not made`(command: String) async throws {
    try await Workbench.with { bench in
      let child = try await bench.children.start(
        built: "boutique", [command, bench.database] + Self.operands(command, bench))
      child.closeInput()
      #expect(try await child.exit() == .exited(1))
      #expect(
        child.standardError == "boutique: the database \(bench.database) does not exist\n")
      #expect(bench.exists("app.db") == false)
    }
  }

  @Test(arguments: commands)
  func `a file that is no database is left as it is`(command: String) async throws {
    try await Workbench.with { bench in
      let text = String(repeating: "This is a text and not a database.\n", count: 100)
      let file = try bench.file("app.db", text)
      let child = try await bench.children.start(
        built: "boutique", [command, file] + Self.operands(command, bench))
      child.closeInput()
      #expect(try await child.exit() == .exited(1))
      #expect(child.standardError.contains("is not an SQLite database"), "\(child.standardError)")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
      #expect(bench.exists("app.db-wal") == false)
    }
  }

  @Test func `a directory is no database`() async throws {
    try await Workbench.with { bench in
      let outcome = try await bench.boutique("query", bench.directory, "SELECT 1")
      #expect(outcome.status == .exited(1))
      #expect(outcome.errors.hasPrefix("boutique: "), "\(outcome)")
    }
  }

  @Test func `a missing directory is named`() async throws {
    try await Workbench.with { bench in
      let outcome = try await bench.boutique(
        "exec", bench.path("no/app.db"), "CREATE TABLE t (a)", "--create")
      #expect(outcome.status == .exited(1))
      #expect(outcome.errors.contains(bench.path("no")), "\(outcome)")
    }
  }
}

/// What a user without rights meets.
///
/// Root is stopped by no mode, so these tests run the program as
/// another user; they need root for that.
@Suite(.enabled(if: geteuid() == 0, "needs root to become another user"))
struct PermissionTests {
  /// Runs the program as nobody.
  ///
  /// It is copied, since the build directory may be closed to others.
  private func asNobody(_ bench: Workbench, _ line: String) async throws -> Outcome {
    try await bench.shell(
      """
      cp "$BOUTIQUE" program && chmod 755 program && \
      exec setpriv --reuid=65534 --regid=65534 --clear-groups ./program \(line)
      """)
  }

  @Test func `a directory that may not be written cannot be written to, and says so`() async throws
  {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (a)")
      let write = try await asNobody(bench, "exec app.db 'INSERT INTO t VALUES (1)'")
      #expect(write.status == .exited(1))
      #expect(write.errors.contains("cannot be written"), "\(write)")
      let create = try await asNobody(bench, "exec new.db --create 'CREATE TABLE t (a)'")
      #expect(create.status == .exited(1))
      #expect(create.errors.contains("no permission"), "\(create)")
      #expect(try await bench.sqlite3("SELECT count(*) FROM t") == ["0"])
    }
  }

  @Test func `a file that may not be read says whose it is`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (a)")
      _ = try await bench.shell("chmod 600 app.db")
      let read = try await asNobody(bench, "query app.db 'SELECT 1'")
      #expect(read.status == .exited(1))
      #expect(read.errors.contains("root"), "\(read)")
    }
  }

  @Test func `a readable database in such a directory can be read`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (a); INSERT INTO t VALUES (5)")
      let read = try await asNobody(bench, "query app.db 'SELECT a FROM t' --no-header")
      #expect(read.lines == ["5"], "\(read)")
    }
  }
}
