import Foundation
import ProcessHarness
import Testing

@Suite struct QueryTests {
  private let schema = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, real REAL, text TEXT, data BLOB);
    INSERT INTO t VALUES (1, 0.5, 'plain', x'00ff'), (2, 9e999, 'tab	"q", new' || char(10) || 'line', x''),
      (3, NULL, '', NULL), (-9223372036854775808, 1e100, 'NULL', NULL);
    """
  private let everything = "SELECT * FROM t ORDER BY rowid"

  @Test func `JSON lines hold every value exactly`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let outcome = try await bench.boutique("query", bench.database, everything, "--json")
      #expect(outcome.succeeded, "\(outcome)")
      #expect(
        outcome.lines == [
          #"{"id":-9223372036854775808,"real":1e+100,"text":"NULL","data":null}"#,
          #"{"id":1,"real":0.5,"text":"plain","data":"x'00ff'"}"#,
          #"{"id":2,"real":9e999,"text":"tab\t\"q\", new\nline","data":"x''"}"#,
          #"{"id":3,"real":null,"text":"","data":null}"#,
        ])
    }
  }

  @Test func `CSV is quoted as needed and tells NULL from empty`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let outcome = try await bench.boutique("query", bench.database, everything, "--csv")
      #expect(
        outcome.lines == [
          "id,real,text,data", "-9223372036854775808,1e+100,NULL,", "1,0.5,plain,x'00ff'",
          "2,9e999,\"tab\t\"\"q\"\", new", "line\",x''", "3,,\"\",",
        ])
    }
  }

  @Test func `off a terminal tab-separated values are the default`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let sql = "SELECT id, text FROM t WHERE id > 0"
      let plain = try await bench.boutique("query", bench.database, sql)
      let named = try await bench.boutique("query", bench.database, sql, "--tsv", "--header")
      let bare = try await bench.boutique("query", bench.database, sql, "--no-header")
      #expect(
        plain.lines == ["id\ttext", "1\tplain", "2\t\"tab\t\"\"q\"\", new", "line\"", "3\t\"\""])
      #expect(named.lines == plain.lines)
      #expect(bare.lines == Array(plain.lines.dropFirst()))
    }
  }

  @Test func `a table shows NULL apart from text`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let outcome = try await bench.boutique(
        "query", bench.database, "SELECT id, text, data FROM t WHERE id <> 2 ORDER BY id", "--table"
      )
      #expect(
        outcome.lines == [
          "                  id  text    data",
          "────────────────────  ──────  ───────",
          "-9223372036854775808  'NULL'  NULL",
          "                   1  plain   x'00ff'",
          "                   3          NULL",
        ])
    }
  }

  @Test(arguments: ["--csv", "--tsv", "--json"])
  func `what query writes import reads back the same`(format: String) async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let outcome = try await bench.shell(
        """
        "$BOUTIQUE" query app.db '\(everything)' \(format) > out && \
        "$BOUTIQUE" exec copy.db --create -q \
          'CREATE TABLE t (id INTEGER PRIMARY KEY, real REAL, text TEXT, data)' && \
        "$BOUTIQUE" import copy.db t out -q --format=\(format == "--json" ? "jsonl" : String(format.dropFirst(2)))
        """)
      #expect(outcome.succeeded, "\(outcome)")
      let dump = "SELECT id, quote(real), quote(text) FROM t ORDER BY id"
      #expect(
        try await bench.sqlite3(dump, in: "copy.db") == (try await bench.sqlite3(dump)))
    }
  }

  @Test func `arguments are bound by position and by name`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let positional = try await bench.boutique(
        "query", bench.database, "SELECT typeof(?), typeof(?), typeof(?), typeof(?), ? AS v", "42",
        "0.5", "007", "-1", "it's", "--json")
      #expect(
        positional.lines
          == [
            #"{"typeof(?)":"integer","typeof(?):2":"real","typeof(?):3":"text","typeof(?):4":"integer","v":"it's"}"#
          ], "\(positional)")
      let named = try await bench.boutique(
        "query", bench.database, "SELECT text FROM t WHERE id = :id OR text = @text", "-p", "id=1",
        "--param=text=", "--no-header")
      #expect(named.lines == ["plain", "\"\""], "\(named)")
    }
  }

  @Test func `wrong arguments are an error, not a guess`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let missing = try await bench.boutique("query", bench.database, "SELECT ?, ?", "1")
      #expect(missing.status == .exited(1))
      #expect(missing.errors.contains("2 arguments expected, 1 given"), "\(missing)")
      let unknown = try await bench.boutique("query", bench.database, "SELECT :a", "-pb=1")
      #expect(unknown.status == .exited(1))
      #expect(unknown.errors.contains("no parameter is named 'b'"), "\(unknown)")
      let both = try await bench.boutique("query", bench.database, "SELECT ?", "1", "-pb=1")
      #expect(both.status == .exited(2))
    }
  }

  @Test func `the statement can come from a file or standard input`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let file = try bench.file("q.sql", "SELECT text FROM t\nWHERE id = ? -- one\n")
      for outcome in [
        try await bench.boutique("query", bench.database, "-f", file, "1", "--no-header"),
        try await bench.boutique(
          "query", bench.database, "-", "1", "--no-header", input: "SELECT text FROM t WHERE id = ?"
        ),
      ] { #expect(outcome.lines == ["plain"], "\(outcome)") }
      let empty = try await bench.boutique("query", bench.database, input: "\n")
      #expect(empty.status == .exited(1))
      #expect(empty.errors == "boutique: standard input is empty\n")
    }
  }

  @Test(arguments: [
    "DELETE FROM t", "CREATE TABLE u (a)", "INSERT INTO t DEFAULT VALUES RETURNING id",
    "DROP TABLE t",
    "PRAGMA user_version = 5",
  ])
  func `a query changes nothing`(sql: String) async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let before = try await bench.sqlite3(".dump")
      let outcome = try await bench.boutique("query", bench.database, sql)
      #expect(outcome.status == .exited(1))
      #expect(outcome.errors.hasPrefix("boutique: "), "\(outcome)")
      #expect(try await bench.sqlite3(".dump") == before)
    }
  }

  @Test func `queries leave schema and journal mode of a foreign database as they were`()
    async throws
  {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let look = "PRAGMA journal_mode; SELECT sql FROM sqlite_schema; PRAGMA user_version"
      let before = try await bench.sqlite3(look)
      for arguments in [
        ["query", bench.database, "SELECT 1"], ["check", bench.database],
        ["status", bench.database], ["watch", bench.database, "SELECT 1", "-n1", "--json"],
        ["changes", bench.database], ["backup", bench.database, bench.path("copy.db")],
      ] {
        let child = try await bench.children.start(built: "boutique", arguments)
        child.closeInput()
        #expect(try await child.exit() == .exited(0), "\(arguments) \(child.standardError)")
      }
      #expect(try await bench.sqlite3(look) == before)
    }
  }

  @Test func `no rows still have their header`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let csv = try await bench.boutique(
        "query", bench.database, "SELECT id, text FROM t WHERE 0", "--csv")
      #expect(csv.lines == ["id,text"])
      let json = try await bench.boutique("query", bench.database, "SELECT 1 WHERE 0", "--json")
      #expect(json.lines.isEmpty && json.succeeded)
    }
  }

  @Test func `an error of the statement is told`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let outcome = try await bench.boutique("query", bench.database, "SELECT * FROM nowhere")
      #expect(outcome.status == .exited(1))
      #expect(outcome.errors.contains("no such table: nowhere"), "\(outcome)")
      let two = try await bench.boutique("query", bench.database, "SELECT 1; SELECT 2")
      #expect(two.status == .exited(1), "\(two)")
    }
  }

  @Test func `a reader that leaves early is no error`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let outcome = try await bench.shell(
        """
        "$BOUTIQUE" query app.db 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
        SELECT i FROM n' --no-header | head -n 2; echo "${PIPESTATUS[0]}"
        """)
      #expect(outcome.lines == ["1", "2", "0"])
      #expect(outcome.errors.isEmpty)
    }
  }

  @Test func `output that cannot be written is an error`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let outcome = try await bench.shell("\"$BOUTIQUE\" query app.db 'SELECT 1' > /dev/full")
      #expect(outcome.status == .exited(1))
      #expect(outcome.errors.contains("No space left on device"), "\(outcome)")
    }
  }

  @Test(arguments: [
    (["NO_COLOR": ""], true), (["NO_COLOR": "1"], false), (["TERM": "dumb"], false),
  ])
  func `a terminal gets a table, with colour unless it is not wanted`(
    environment: [String: String], hasColour: Bool
  ) async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(schema)
      let terminal = try await bench.startOnTerminal(
        "\"$BOUTIQUE\" query \"$BENCH/app.db\" 'SELECT NULL AS empty'",
        environment: ["TERM": "xterm"].merging(environment) { $1 })
      #expect(try await terminal.exit() == .exited(0))
      let text = terminal.takeLines().joined(separator: "\n")
      #expect(text.contains("empty") && text.contains("NULL") && text.contains("───"))
      #expect(text.contains("\u{1B}[") == hasColour, "\(text)")
    }
  }
}
