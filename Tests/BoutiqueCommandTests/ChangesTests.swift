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
      // Nobody came between the sole openers, which is proven.
      #expect(rest.lines.count == 1, "\(rest)")
      #expect(rest.lines.first?.hasSuffix("“w3”  t: +1") == true, "\(rest)")
      let last = try #require(messages.last?["token"]?.string)
      let none = try await bench.boutique("changes", bench.database, "--since", last)
      #expect(none.succeeded && none.lines.isEmpty, "\(none)")
    }
  }

  @Test func `a foreign commit after the last record is listed`() async throws {
    try await Workbench.with { bench in
      try await prepare(bench)
      let before = try await bench.boutique("changes", bench.database)
      #expect(
        before.succeeded && !before.lines.contains { $0.hasSuffix("everything") }, "\(before)")
      try await bench.sqlite3("INSERT INTO t (v) VALUES ('f')")
      let after = try await bench.boutique("changes", bench.database)
      #expect(after.lines.count == before.lines.count + 1, "\(after)")
      #expect(after.lines.last?.hasSuffix("everything") == true, "\(after)")
    }
  }

  @Test func `changed columns have their names`() async throws {
    try await Workbench.with { bench in
      try await prepare(bench)
      for sql in ["INSERT INTO t VALUES (7, 'a')", "UPDATE t SET v = 'b'"] {
        _ = try await bench.boutique("exec", bench.database, "-q", sql)
      }
      let listing = try await bench.boutique("changes", bench.database, "--json")
      let update = listing.lines.last.flatMap { JSONValue(line: $0) }?["rows"]?.list?.first
      #expect(update?["kind"] == "update" && update?["key"] == [7], "\(listing)")
      #expect(update?["columns"] == ["v"], "\(listing)")
    }
  }

  @Test func `a durable consumer lists what it has not acknowledged`() async throws {
    try await Workbench.with { bench in
      try await prepare(bench)
      func insert(_ value: String) async throws {
        _ = try await bench.boutique(
          "exec", bench.database, "-q", "INSERT INTO t (v) VALUES (?)", value, "--label=\(value)")
      }
      try await insert("one")
      func list(_ more: String) async throws -> [String] {
        let outcome = try await bench.boutique(
          "changes", bench.database, "--consumer=log", more, "--label=lister")
        #expect(outcome.succeeded, "\(outcome)")
        return outcome.lines
      }
      let all = try await list("--since=oldest")
      #expect(all.last?.contains("“one”") == true)
      let again = try await list("--acknowledge")
      #expect(again == all)
      #expect(try await list("--acknowledge") == [])
      try await insert("two")
      let rest = try await list("-a")
      #expect(rest.count == 1 && rest.last?.contains("“two”") == true, "\(rest)")
      let misused = try await bench.boutique("changes", bench.database, "--acknowledge")
      #expect(misused.status == .exited(2))

      try await insert("three")
      let status = try await bench.boutique("status", bench.database, "--json")
      let consumer = status.lines.first.flatMap { JSONValue(line: $0) }?["consumers"]?.list?.first
      #expect(consumer?["name"] == "log" && consumer?["lag"] == 1, "\(status)")
      #expect(consumer?["isCutOff"] == false && consumer?["pid"] == nil, "\(status)")
      let text = try await bench.boutique("status", bench.database)
      let line = text.lines.first { $0.hasPrefix("log ") && $0.contains("away") }
      #expect(line?.contains("1 commit") == true, "\(text)")
      #expect(text.lines.contains { $0.hasPrefix("changes ") && $0.contains("kept") }, "\(text)")
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
