import Glibc
import ProcessHarness
import Testing

@Suite struct WatchTests {
  private let schema = "CREATE TABLE t (n); INSERT INTO t VALUES (1); CREATE TABLE other (n)"
  private let sum = "SELECT sum(n) AS sum FROM t"

  /// Waits for a line of `watch --json` whose only row has this sum.
  private func sees(_ sum: Int, _ child: ChildProcess) async throws -> JSONValue {
    try await child.nextMessage("a value with sum \(sum)") { message in
      message["rows"]?.list?.first?["sum"]?.int == sum
    }
  }

  @Test func `commits of the sqlite3 shell and of boutique exec are seen`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let watch = try await bench.start("watch", bench.database, sum, "--json")
      #expect(try await sees(1, watch)["number"] == 1)
      try await bench.sqlite3("INSERT INTO t VALUES (10)")
      #expect(try await sees(11, watch)["number"] == 2)
      let exec = try await bench.boutique("exec", bench.database, "INSERT INTO t VALUES (100)")
      #expect(exec.succeeded, "\(exec)")
      #expect(try await sees(111, watch)["number"] == 3)
      try await bench.sqlite3("DELETE FROM t")
      _ = try await watch.nextMessage("no sum") {
        $0["rows"]?.list?.first?["sum"] == JSONValue.null
      }
    }
  }

  @Test func `the interval can be chosen, and the number of values`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let watch = try await bench.start(
        "watch", bench.database, sum, "--json", "--interval=0.05", "--count=2")
      _ = try await sees(1, watch)
      try await bench.sqlite3("INSERT INTO t VALUES (5)")
      _ = try await sees(6, watch)
      #expect(try await watch.exit() == .exited(0))
    }
  }

  @Test func `rolled-back writes and equal results are not shown`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let watch = try await bench.start("watch", bench.database, sum, "--json", "-n", "2")
      _ = try await sees(1, watch)
      try await bench.sqlite3("BEGIN; INSERT INTO t VALUES (5); ROLLBACK")
      try await bench.sqlite3("INSERT INTO other VALUES (1); UPDATE t SET n = n")
      try await bench.sqlite3("INSERT INTO t VALUES (2)")
      #expect(try await sees(3, watch)["number"] == 2)
      #expect(try await watch.exit() == .exited(0))
      #expect(watch.takeLines().isEmpty)
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a signal ends it in order`(signal: Int32) async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let watch = try await bench.start("watch", bench.database, sum, "--json")
      _ = try await sees(1, watch)
      watch.signal(signal)
      #expect(try await watch.exit() == .exited(0))
      #expect(watch.standardError.isEmpty)
    }
  }

  @Test func `a statement that cannot work ends it`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let outcome = try await bench.boutique(
        "watch", bench.database, "SELECT * FROM nowhere", "--json")
      #expect(outcome.status == .exited(1))
      #expect(outcome.errors.contains("no such table: nowhere"), "\(outcome)")
    }
  }

  @Test func `a table that is dropped and comes back is watched on`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let watch = try await bench.start("watch", bench.database, sum, "--json")
      _ = try await sees(1, watch)
      try await bench.sqlite3("DROP TABLE t")
      let trouble = try await watch.nextMessage("an error") { $0["error"] != nil }
      #expect(trouble["error"]?.string?.contains("no such table: t") == true)
      try await bench.sqlite3("BEGIN; CREATE TABLE t (n); INSERT INTO t VALUES (7); COMMIT")
      #expect(try await sees(7, watch)["number"] == 2)
    }
  }

  @Test func `off a terminal each value is a table of its own`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let watch = try await bench.start("watch", bench.database, "SELECT n FROM t", "-n2")
      _ = try await watch.next("a head") { $0.text.hasPrefix("-- 1  ") }
      _ = try await watch.next("a row") { $0.text == "1" }
      try await bench.sqlite3("INSERT INTO t VALUES (22)")
      _ = try await watch.next("a head") { $0.text.hasPrefix("-- 2  ") }
      _ = try await watch.next("a row") { $0.text == "22" }
      #expect(try await watch.exit() == .exited(0))
    }
  }

  @Test func `a terminal shows the live table on its second screen and is given back`() async throws
  {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let terminal = try await bench.startOnTerminal(
        "\"$BOUTIQUE\" watch \"$BENCH/app.db\" 'SELECT n AS number FROM t'",
        environment: ["TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "60", "LINES": "10"])
      let first = try await terminal.next("the first frame") { $0.text.contains("1 row  change 1") }
      #expect(first.text.contains("\u{1B}[?1049h"))
      try await bench.sqlite3(
        "INSERT INTO t SELECT value FROM json_each('[20,21,22,23,24,25,26,27]')")
      _ = try await terminal.next("the second frame") { $0.text.contains("9 rows  change 2") }
      // Ctrl-C, as typed.
      terminal.send("\u{3}")
      #expect(try await terminal.exit() == .exited(0))
      let rest = terminal.takeLines().joined()
      #expect(rest.contains("… and 4 more rows"), "\(rest)")
      #expect(rest.contains("\u{1B}[?25h\u{1B}[?1049l"))
    }
  }

  @Test func `a reader that leaves ends it without a word`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let pipe = try await bench.children.start(
        ChildCommand(
          "bash",
          [
            "-c",
            "\"$BOUTIQUE\" watch \"$DB\" '\(sum)' --json | head -n 1; echo \"${PIPESTATUS[0]}\"",
          ],
          environment: [
            "BOUTIQUE": try BuiltExecutable.path("boutique"), "DB": bench.database,
          ]))
      _ = try await sees(1, pipe)
      try await bench.sqlite3("INSERT INTO t VALUES (1)")
      _ = try await pipe.next("the status") { $0.text == "0" }
      #expect(try await pipe.exit() == .exited(0))
      #expect(pipe.standardError.isEmpty)
    }
  }

  @Test func `a database that is replaced ends it with the reason`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      try await bench.sqlite3(schema, in: "other.db")
      let watch = try await bench.start("watch", bench.database, sum, "--json")
      _ = try await sees(1, watch)
      _ = try await bench.shell("mv other.db app.db")
      #expect(try await watch.exit() == .exited(1))
      #expect(watch.standardError.contains("is no longer the file that was opened"))
    }
  }
}
