import ProcessHarness
import Testing

@Suite struct ExecTests {
  @Test func `a script of many statements is one transaction`() async throws {
    try await Workbench.with { bench in
      let script = """
        -- a comment; with a semicolon
        CREATE TABLE t (id INTEGER PRIMARY KEY, v);
        INSERT INTO t (v) VALUES ('a;b'), ('c');
        UPDATE t SET v = 'x' WHERE id = 1;
        CREATE TRIGGER tr AFTER DELETE ON t BEGIN INSERT INTO t (v) VALUES ('gone'); END;
        DELETE FROM t WHERE id = 2;

        """
      let file = try bench.file("script.sql", script)
      let outcome = try await bench.boutique("exec", bench.database, "--create", "-f", file)
      #expect(outcome.succeeded, "\(outcome)")
      #expect(outcome.lines == ["5 rows changed"])
      #expect(try await bench.sqlite3("SELECT v FROM t") == ["x", "gone"])
    }
  }

  @Test func `a script that fails leaves nothing behind`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (n UNIQUE)")
      let outcome = try await bench.boutique(
        "exec", bench.database, "-",
        input: "INSERT INTO t VALUES (1); CREATE TABLE u (a); INSERT INTO t VALUES (1);")
      #expect(outcome.status == .exited(1))
      #expect(outcome.errors.contains("UNIQUE constraint failed: t.n"), "\(outcome)")
      #expect(
        try await bench.sqlite3(
          "SELECT count(*) FROM t; SELECT count(*) FROM sqlite_schema WHERE name = 'u'") == [
            "0", "0",
          ])
    }
  }

  @Test func `one statement takes arguments`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (a, b)")
      let positional = try await bench.boutique(
        "exec", bench.database, "INSERT INTO t VALUES (?, ?)", "-5", "it's")
      let named = try await bench.boutique(
        "exec", bench.database, "INSERT INTO t VALUES (:a, :b)", "-p", "a=1", "-p", "b=")
      #expect(positional.lines == ["1 row changed"], "\(positional)")
      #expect(named.lines == ["1 row changed"], "\(named)")
      #expect(try await bench.sqlite3("SELECT a, quote(b) FROM t") == ["-5|'it''s'", "1|''"])
    }
  }

  @Test func `quiet prints nothing`() async throws {
    try await Workbench.with { bench in
      let outcome = try await bench.boutique(
        "exec", bench.database, "CREATE TABLE t (a)", "--create", "-q")
      #expect(outcome.succeeded && outcome.lines.isEmpty, "\(outcome)")
    }
  }

  @Test(arguments: [
    "BEGIN; SELECT 1; COMMIT", "ATTACH 'x' AS y", "PRAGMA journal_mode = DELETE", "VACUUM",
  ])
  func `statements that would break the sharing are refused`(sql: String) async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (a)")
      let outcome = try await bench.boutique("exec", bench.database, sql)
      #expect(outcome.status == .exited(1), "\(outcome)")
      #expect(outcome.errors.hasPrefix("boutique: "))
      #expect(bench.exists("x") == false)
    }
  }

  @Test func `many at once lose nothing`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (n); INSERT INTO t VALUES (0)")
      let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
        for _ in 0..<8 {
          group.addTask {
            try await bench.boutique("exec", bench.database, "UPDATE t SET n = n + 1")
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let failed = outcomes.filter { !$0.succeeded }
      #expect(failed.isEmpty)
      #expect(try await bench.sqlite3("SELECT n FROM t") == ["8"])
    }
  }

  @Test func `a wait that is too long names who holds the lock`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (n)")
      let holder = try await bench.start(
        "import", bench.database, "t", "-", "--format=jsonl", "--label=slow import")
      for number in 1...300 { holder.send("{\"n\":\(number)}") }
      try await bench.waitForHolder(label: "slow import")
      let outcome = try await bench.boutique(
        "exec", bench.database, "INSERT INTO t VALUES (1)", "--timeout=0.2")
      #expect(outcome.status == .exited(1))
      #expect(outcome.errors.contains("pid \(holder.processID)"), "\(outcome)")
      #expect(outcome.errors.contains("slow import"), "\(outcome)")
    }
  }

  @Test func `a stopped holder is named as stopped and keeps its turn`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (n)")
      let holder = try await bench.start(
        "import", bench.database, "t", "-", "--format=jsonl", "--label=sleeper")
      for number in 1...300 { holder.send("{\"n\":\(number)}") }
      try await bench.waitForHolder(label: "sleeper")
      await holder.stop()
      let outcome = try await bench.boutique(
        "exec", bench.database, "INSERT INTO t VALUES (1)", "--timeout=0.2")
      #expect(outcome.status == .exited(1))
      #expect(outcome.errors.contains("it is stopped"), "\(outcome)")
      #expect(outcome.errors.contains("kill -CONT \(holder.processID)"), "\(outcome)")
      let status = try await bench.boutique("status", bench.database)
      #expect(
        status.lines.contains { $0.hasPrefix("writer") && $0.contains("stopped") }, "\(status)")
      holder.resume()
      holder.closeInput()
      #expect(try await holder.exit() == .exited(0))
      #expect(try await bench.sqlite3("SELECT count(*) FROM t") == ["300"])
    }
  }

  @Test func `a program without the library is waited for, and named`() async throws {
    try await Workbench.with { bench in
      let made = try await bench.boutique(
        "exec", bench.database, "CREATE TABLE t (n)", "--create", "-q")
      #expect(made.succeeded, "\(made)")
      let shell = try await bench.children.start(
        ChildCommand("sqlite3", ["-batch", bench.database]))
      shell.send("BEGIN IMMEDIATE; INSERT INTO t VALUES (1); SELECT 'held';")
      _ = try await shell.next("the lock") { $0.text == "held" }
      let refused = try await bench.boutique(
        "exec", bench.database, "INSERT INTO t VALUES (2)", "--timeout=0.2")
      #expect(refused.status == .exited(1))
      #expect(refused.errors.contains("pid \(shell.processID)"), "\(refused)")
      #expect(refused.errors.contains("does not use this library"), "\(refused)")
      let patient = try await bench.start(
        "exec", bench.database, "INSERT INTO t VALUES (3)", "--timeout=100")
      let read = try await bench.boutique("query", bench.database, "SELECT count(*) AS n FROM t")
      #expect(read.lines == ["n", "0"], "\(read)")
      shell.send("COMMIT;")
      #expect(try await patient.exit() == .exited(0))
      #expect(try await bench.sqlite3("SELECT n FROM t") == ["1", "3"])
    }
  }
}
