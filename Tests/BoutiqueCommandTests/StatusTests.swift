import ProcessHarness
import Testing

@Suite struct StatusTests {
  @Test func `the status is one JSON object`() async throws {
    try await Workbench.with { bench in
      _ = try await bench.boutique("exec", bench.database, "CREATE TABLE t (a)", "--create")
      let outcome = try await bench.boutique("status", bench.database, "--json")
      #expect(outcome.succeeded, "\(outcome)")
      #expect(outcome.lines.count == 1)
      let status = try #require(JSONValue(line: outcome.lines.first ?? ""))
      #expect(status["path"]?.string == bench.database)
      #expect(status["journalMode"] == "wal")
      #expect(status["sqliteVersion"]?.string?.hasPrefix("3.") == true)
      #expect(status["newestToken"]?["generation"]?.string?.isEmpty == false)
    }
  }

  @Test func `for people it is names and values`() async throws {
    try await Workbench.with { bench in
      _ = try await bench.boutique("exec", bench.database, "CREATE TABLE t (a)", "--create")
      let outcome = try await bench.boutique("status", bench.database)
      #expect(outcome.succeeded, "\(outcome)")
      for name in ["database", "log", "token", "writer", "waiting", "SQLite"] {
        #expect(outcome.lines.contains { $0.hasPrefix(name + " ") }, "\(outcome)")
      }
    }
  }

  @Test func `holder and waiters are named while they hold and wait`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (n)")
      let holder = try await bench.start(
        "import", bench.database, "t", "-", "--format=jsonl", "--label=the holder")
      for number in 1...300 { holder.send("{\"n\":\(number)}") }
      try await bench.waitForHolder(label: "the holder")
      let waiter = try await bench.start(
        "exec", bench.database, "INSERT INTO t VALUES (0)", "--label=the waiter", "--timeout=60")
      let status = try await bench.waitForStatus("a waiter") { status in
        status["waiters"]?.list?.contains { $0["member"]?["label"] == "the waiter" } == true
      }
      #expect(status["holder"]?["member"]?["pid"]?.int == Int(holder.processID))
      let text = try await bench.boutique("status", bench.database)
      #expect(
        text.lines.contains { $0.hasPrefix("writer") && $0.contains("the holder") }, "\(text)")
      holder.closeInput()
      #expect(try await holder.exit() == .exited(0))
      #expect(try await waiter.exit() == .exited(0))
      #expect(try await bench.sqlite3("SELECT count(*) FROM t") == ["301"])
    }
  }
}

extension Workbench {
  /// Asks for the status until it is as wanted.
  func waitForStatus(
    _ awaited: String, where wants: (JSONValue) -> Bool
  ) async throws -> JSONValue {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      let outcome = try await boutique("status", database, "--json")
      if let status = outcome.lines.first.flatMap({ JSONValue(line: $0) }), wants(status) {
        return status
      }
      guard ContinuousClock.now < deadline else {
        Issue.record("the status never showed \(awaited): \(outcome)")
        return .null
      }
    }
  }

  /// Waits until a process with a label holds the write lease.
  func waitForHolder(label: String) async throws {
    _ = try await waitForStatus("\(label) as holder") { status in
      status["holder"]?["member"]?["label"]?.string == label
    }
  }

  /// Starts a line of shell on a terminal of its own; its input is what is typed there.
  func startOnTerminal(
    _ line: String, environment: [String: String]
  ) async throws -> ChildProcess {
    var variables = environment
    variables["BOUTIQUE"] = try BuiltExecutable.path("boutique")
    variables["BENCH"] = directory
    variables["SHELL"] = "/bin/bash"
    return try await children.start(
      ChildCommand("script", ["-q", "-e", "-c", line, "/dev/null"], environment: variables))
  }
}
