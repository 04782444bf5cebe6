import Glibc
import ProcessHarness
import Testing

@Suite struct ChangesTests {
  private func prepare(_ bench: Workbench) async throws {
    let outcome = try await bench.boutique(
      "exec", bench.database, "--create", "-q",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v); CREATE TABLE u (a)", "--label=setup")
    #expect(outcome.succeeded, "\(outcome)")
  }

  @Test func `following tells each commit with its rows and its writer`() async throws {
    try await Workbench.with { bench in
      try await prepare(bench)
      let feed = try await bench.start("changes", bench.database, "--follow", "--json", "--since=0")
      // The commit that made the tables is in the log already; once it has come, the feed is awake.
      _ = try await feed.nextMessage("the first commit") { $0["token"] != nil }
      let exec = try await bench.boutique(
        "exec", bench.database,
        "INSERT INTO t (v) VALUES ('a'), ('b'); UPDATE t SET v = 'c' WHERE id = 1; DELETE FROM t WHERE id = 2",
        "--label=editor")
      #expect(exec.succeeded, "\(exec)")
      let change = try await feed.nextMessage("the commit") { $0["origin"]?["label"] == "editor" }
      #expect(change["tables"] == ["t"])
      #expect(change["everything"] == false)
      let rows = change["rows"]?.list ?? []
      #expect(rows.count > 0 && rows.allSatisfy { $0["table"] == "t" }, "\(change)")
      try await bench.sqlite3("INSERT INTO u VALUES (1)")
      let foreign = try await feed.nextMessage("a foreign commit") { $0["everything"] == true }
      #expect(foreign["origin"]?["kind"] == "foreign")
      feed.signal(SIGTERM)
      #expect(try await feed.exit() == .exited(0))
    }
  }

  @Test func `a listing ends and goes on from its last token`() async throws {
    try await Workbench.with { bench in
      try await prepare(bench)
      for number in 1...3 {
        _ = try await bench.boutique(
          "exec", bench.database, "INSERT INTO t (v) VALUES (?)", "\(number)", "-q",
          "--label=w\(number)")
      }
      let all = try await bench.boutique("changes", bench.database, "--json")
      #expect(all.succeeded, "\(all)")
      let messages = all.lines.compactMap { JSONValue(line: $0) }
      let writers = messages.compactMap { $0["origin"]?["label"]?.string }
      #expect(Array(writers.suffix(3)) == ["w1", "w2", "w3"])
      let second = try #require(messages.dropLast().last?["token"]?.string)
      let rest = try await bench.boutique("changes", bench.database, "--since=\(second)")
      // Between two sole openers the log is begun anew, which may count as “everything”.
      let named = rest.lines.filter { !$0.hasSuffix("  everything") }
      #expect(named.count == 1, "\(rest)")
      #expect(named.first?.hasSuffix("“w3”  t: +1") == true, "\(rest)")
      let last = try #require(messages.last?["token"]?.string)
      let none = try await bench.boutique("changes", bench.database, "--since", last)
      #expect(none.succeeded && none.lines.isEmpty, "\(none)")
    }
  }

  @Test func `a token that is none is refused`() async throws {
    try await Workbench.with { bench in
      try await prepare(bench)
      let outcome = try await bench.boutique("changes", bench.database, "--since=yesterday")
      #expect(outcome.status == .exited(2), "\(outcome)")
    }
  }

  @Test func `a token of another file brings everything`() async throws {
    try await Workbench.with { bench in
      try await prepare(bench)
      let outcome = try await bench.boutique(
        "changes", bench.database, "--json", "--since=abcdef-7")
      #expect(outcome.succeeded, "\(outcome)")
      #expect(outcome.lines.first.flatMap { JSONValue(line: $0) }?["everything"] == true)
    }
  }
}
