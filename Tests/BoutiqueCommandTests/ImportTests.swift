import ProcessHarness
import Testing

@Suite struct ImportTests {
  private let people = "name,age,city\nAda,36,London\nGrace,85,\"New York, NY\"\nAlan,,\n"

  @Test func `a CSV file goes into the columns that its header names`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE person (id INTEGER PRIMARY KEY, city, age INT, name)")
      let outcome = try await bench.boutique(
        "import", bench.database, "person", try bench.file("people.csv", people))
      #expect(outcome.succeeded, "\(outcome)")
      #expect(outcome.lines.first?.hasPrefix("3 rows in ") == true)
      let rows = try await bench.sqlite3(
        "SELECT id, name, age, typeof(age), quote(city) FROM person")
      #expect(
        rows == [
          "1|Ada|36|integer|'London'", "2|Grace|85|integer|'New York, NY'", "3|Alan||null|NULL",
        ])
    }
  }

  @Test func `create makes the table with types that fit every row`() async throws {
    try await Workbench.with { bench in
      var text = "id,price,zip,note,big,empty\n"
      for number in 1...3000 { text += "\(number),\(number).5,1234,n\(number),1.5,\n" }
      text += "3001,7,00123,,9007199254740993,\n"
      let file = try bench.file("goods.csv", text)
      let outcome = try await bench.boutique("import", bench.database, "goods", file, "--create")
      #expect(outcome.succeeded, "\(outcome)")
      #expect(
        try await bench.sqlite3(
          "SELECT group_concat(name || ' ' || type) FROM pragma_table_info('goods')")
          == ["id INTEGER,price REAL,zip TEXT,note TEXT,big NUMERIC,empty TEXT"])
      #expect(
        try await bench.sqlite3("SELECT * FROM goods WHERE id > 2999")
          == ["3000|3000.5|1234|n3000|1.5|", "3001|7.0|00123||9007199254740993|"])
    }
  }

  @Test func `a column has the type under which its value stays as it is written`() async throws {
    let types = [
      "0": "INTEGER", "-5": "INTEGER", "123456789012345": "INTEGER",
      "9223372036854775807": "INTEGER", "9223372036854775808": "TEXT", "-0": "TEXT", "+5": "TEXT",
      "007": "TEXT", "1.": "TEXT", ".5": "TEXT", "0.5": "REAL", "-0.25": "REAL", "00.5": "TEXT",
      "1.5.2": "TEXT", "1.5e3": "REAL", "1e3": "TEXT", "1.2345678901234567": "REAL",
      "1.23456789012345678": "TEXT", "-": "TEXT", "1 ": "TEXT", "1,5": "TEXT", "٣": "TEXT",
      "1-2": "TEXT",
    ]
    try await Workbench.with { bench in
      let values = types.keys.sorted()
      let file = try bench.file(
        "t.csv",
        values.indices.map { "c\($0)" }.joined(separator: ",") + "\n"
          + values.map { "\"\($0)\"" }.joined(separator: ",") + "\n")
      let outcome = try await bench.boutique("import", bench.database, "t", file, "--create")
      #expect(outcome.succeeded, "\(outcome)")
      #expect(
        try await bench.sqlite3("SELECT type FROM pragma_table_info('t') ORDER BY cid")
          == values.map { types[$0] ?? "" })
    }
  }

  @Test func `line ends, quotes and all scripts arrive as they are`() async throws {
    try await Workbench.with { bench in
      let file = try bench.file(
        "t.csv",
        "\u{FEFF}k,v\r\n1,\"two\nlines\"\r\n2,\"say \"\"hi\"\"\"\r\n3,日本👍\r\n4,\"\"\r\n5,\r\n")
      let outcome = try await bench.boutique("import", bench.database, "t", file, "--create")
      #expect(outcome.succeeded, "\(outcome)")
      #expect(
        try await bench.sqlite3("SELECT k, quote(v), length(v) FROM t") == [
          "1|'two", "lines'|9", "2|'say \"hi\"'|8", "3|'日本👍'|3", "4|''|0", "5|NULL|",
        ])
    }
  }

  @Test(arguments: [
    ("1,a\n2,\"b\nc\n4,d\n", 3, 3, "the quoted field that begins here is never closed"),
    ("1,a\n2,b,c\n", 3, 5, "2 fields expected, 3 found"),
    ("1,a\n2\n", 3, 1, "2 fields expected, 1 found"),
    ("1,a\n\"2\" ,b\n", 3, 4, "text after the closing quote"),
    ("1,\"x\ny\"\n2,\"b\"c\n", 4, 6, "text after the closing quote"),
  ])
  func `a malformed row is named and nothing is imported`(
    rows: String, line: Int, column: Int, reason: String
  ) async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (k, v)")
      let file = try bench.file("bad.csv", "k,v\n" + rows)
      let outcome = try await bench.boutique("import", bench.database, "t", file)
      #expect(outcome.status == .exited(1))
      #expect(
        outcome.errors.hasPrefix("boutique: \(file):\(line):\(column): \(reason)"), "\(outcome)")
      #expect(outcome.errors.hasSuffix("; nothing was imported\n"))
      #expect(try await bench.sqlite3("SELECT count(*) FROM t") == ["0"])
    }
  }

  @Test func `a failed import leaves no table that it made`() async throws {
    try await Workbench.with { bench in
      let outcome = try await bench.boutique(
        "import", bench.database, "t", "-", "--create", "--format=csv", input: "a,b\n1,2\n3\n")
      #expect(outcome.status == .exited(1))
      #expect(outcome.errors.hasPrefix("boutique: standard input:3:1: 2 fields expected, 1 found"))
      #expect(bench.exists("app.db") == false)
    }
  }

  @Test(arguments: [
    ("name,age\nAda,36\nNobody,\n", 3, 8, "NOT NULL constraint failed: person.age"),
    ("name,age\nAda,36\nBob,1\nAda,2\n", 4, 1, "UNIQUE constraint failed: person.name"),
    ("name,age\nAda,-1\n", 2, 1, "CHECK constraint failed"),
    ("age,name\nxy,Ada\n", 2, 1, "cannot store TEXT value in INTEGER column person.age"),
  ])
  func `a row that breaks a constraint is named and nothing is imported`(
    text: String, line: Int, column: Int, reason: String
  ) async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(
        """
        CREATE TABLE person (name TEXT UNIQUE, age INTEGER NOT NULL CHECK (age >= 0)) STRICT
        """)
      let file = try bench.file("people.csv", text)
      let outcome = try await bench.boutique("import", bench.database, "person", file)
      #expect(outcome.status == .exited(1))
      #expect(outcome.errors.hasPrefix("boutique: \(file):\(line):\(column): "), "\(outcome)")
      #expect(outcome.errors.contains(reason))
      #expect(outcome.errors.contains("INSERT") == false)
      #expect(try await bench.sqlite3("SELECT count(*) FROM person") == ["0"])
    }
  }

  @Test func `a header that the table does not know is refused with a suggestion`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE person (name, age)")
      let file = try bench.file("people.csv", "name,agee\nAda,36\n")
      let outcome = try await bench.boutique("import", bench.database, "person", file)
      #expect(outcome.status == .exited(1))
      #expect(
        outcome.errors == """
          boutique: \(file):1:6: table person has no column “agee” that can be filled; did you mean \
          “age”?; nothing was imported

          """)
    }
  }

  @Test func `in batches what was committed before an error stays and is counted`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (n INTEGER UNIQUE)")
      let text = "n\n" + (1...25).map { "\($0)\n" }.joined() + "7\n26\n"
      let file = try bench.file("n.csv", text)
      let outcome = try await bench.boutique("import", bench.database, "t", file, "--batch=10")
      #expect(outcome.status == .exited(1))
      #expect(
        outcome.errors == """
          boutique: \(file):27:1: UNIQUE constraint failed: t.n; the 20 rows of the batches before \
          it are imported, no other

          """)
      #expect(try await bench.sqlite3("SELECT count(*), max(n) FROM t") == ["20|20"])
    }
  }

  @Test(arguments: [1, 2, 3, 100])
  func `batches of any size import every row once`(size: Int) async throws {
    try await Workbench.with { bench in
      let file = try bench.file("n.csv", "n\n" + (1...6).map { "\($0)\n" }.joined())
      let outcome = try await bench.boutique(
        "import", bench.database, "t", file, "--create", "--batch=\(size)")
      #expect(outcome.succeeded, "\(outcome)")
      #expect(try await bench.sqlite3("SELECT group_concat(n) FROM t") == ["1,2,3,4,5,6"])
    }
  }

  @Test func `other names, another delimiter and another NULL can be given`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (a, b, c DEFAULT 'none')")
      let file = try bench.file("t.data", "1;\\N\n2;\n3;\"\\N\"\n")
      let outcome = try await bench.boutique(
        "import", bench.database, "t", file, "--format=csv", "--no-header", "--columns=b,a",
        "-d;", "--null=\\N")
      #expect(outcome.succeeded, "\(outcome)")
      #expect(
        try await bench.sqlite3("SELECT b, quote(a), c FROM t")
          == ["1|NULL|none", "2|''|none", "3|'\\N'|none"])
    }
  }

  @Test func `a file without header fills the table's columns in order`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (a, b, c AS (a || b))")
      let good = try bench.file("good.tsv", "1\t2\n3\t4\n")
      let first = try await bench.boutique(
        "import", bench.database, "t", good, "--no-header", "-b1")
      #expect(first.succeeded, "\(first)")
      let bad = try bench.file("bad.tsv", "1\t2\t3\n")
      let second = try await bench.boutique("import", bench.database, "t", bad, "--no-header")
      #expect(second.errors.contains(":1:5: 2 fields expected, 3 found"), "\(second)")
      #expect(try await bench.sqlite3("SELECT * FROM t") == ["1|2|12", "3|4|34"])
    }
  }

  @Test func `JSON lines keep integers exactly and nested values as JSON`() async throws {
    try await Workbench.with { bench in
      let file = try bench.file(
        "log.jsonl",
        """
        {"id": 9007199254740993, "text": "a\\u0000b\\ud83d\\udc4d", "ok": true}
        {"id": -9223372036854775808, "extra": {"a": [1, 2]}, "ok": false, "mixed": "x"}

        {"id": 1, "text": null, "mixed": 5, "half": 0.5}
        """)
      let outcome = try await bench.boutique("import", bench.database, "log", file, "--create")
      #expect(outcome.succeeded, "\(outcome)")
      #expect(
        try await bench.sqlite3(
          """
          SELECT id, hex(text), ok, extra, mixed, typeof(mixed), half FROM log
          """) == [
            "9007199254740993|610062F09F918D|1|||null|",
            "-9223372036854775808||0|{\"a\": [1, 2]}|x|text|",
            "1||||5|integer|0.5",
          ])
    }
  }

  @Test func `missing members get their default and chosen members are enough`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (a, b DEFAULT 'd')")
      let outcome = try await bench.boutique(
        "import", bench.database, "t", "-", "-f", "jsonl", "-c", "a,b",
        input: "{\"a\":1,\"b\":2,\"z\":0}\n{\"a\":3}\n{}\n")
      #expect(outcome.succeeded, "\(outcome)")
      #expect(try await bench.sqlite3("SELECT a, b FROM t") == ["1|2", "3|d", "|d"])
    }
  }

  @Test(arguments: [
    ("{\"a\":1}\n{\"a\":}\n", 2, 6, "a value is expected"),
    ("{\"a\":1}\n{\"a\":2,\"q\":3}\n", 2, 8, "table t has no column “q”"),
    ("{\"a\":1}\n[2]\n", 2, 1, "an object in braces is expected on each line"),
    (
      "{\"a\":99999999999999999999}\n", 1, 6, "the integer 99999999999999999999 does not fit"
    ),
  ])
  func `a malformed line of JSON is named and nothing is imported`(
    text: String, line: Int, column: Int, reason: String
  ) async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (a)")
      let outcome = try await bench.boutique(
        "import", bench.database, "t", "-", "--format=jsonl", input: text)
      #expect(outcome.status == .exited(1))
      #expect(
        outcome.errors.hasPrefix("boutique: standard input:\(line):\(column): \(reason)"),
        "\(outcome)")
      #expect(try await bench.sqlite3("SELECT count(*) FROM t") == ["0"])
    }
  }

  @Test func `fifty thousand rows arrive, each once`() async throws {
    try await Workbench.with { bench in
      var text = "id,text\n"
      for number in 1...50_000 { text += "\(number),\"row \(number)\nof many\"\n" }
      let file = try bench.file("many.csv", text)
      let outcome = try await bench.boutique("import", bench.database, "many", file, "--create")
      #expect(outcome.status == .exited(0), "\(outcome)")
      #expect(outcome.lines.first?.hasPrefix("50,000 rows in ") == true)
      #expect(
        try await bench.sqlite3(
          "SELECT count(*), count(DISTINCT id), sum(id), sum(length(text)) FROM many")
          == [
            "50000|50000|1250025000|\((1...50_000).reduce(0) { $0 + "row \($1)\nof many".count })"
          ])
    }
  }

  @Test func `nobody sees a row before the whole file is imported`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (n)")
      let child = try await bench.start("import", bench.database, "t", "-", "--format=jsonl")
      for number in 1...1000 { child.send("{\"n\":\(number)}") }
      // The status tells when the import has its turn.
      try await bench.waitForHolder(label: "boutique import")
      #expect(try await bench.sqlite3("SELECT count(*) FROM t") == ["0"])
      child.send("{\"n\":1001}")
      child.closeInput()
      #expect(try await child.exit() == .exited(0))
      #expect(try await bench.sqlite3("SELECT count(*) FROM t") == ["1001"])
    }
  }

  @Test func `a killed import leaves nothing behind`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (n)")
      let child = try await bench.start("import", bench.database, "t", "-", "--format=jsonl")
      for number in 1...5000 { child.send("{\"n\":\(number)}") }
      try await bench.waitForHolder(label: "boutique import")
      await child.end()
      #expect(
        try await bench.sqlite3("SELECT count(*) FROM t; PRAGMA integrity_check") == ["0", "ok"])
      let after = try await bench.boutique("exec", bench.database, "INSERT INTO t VALUES (1)")
      #expect(after.succeeded, "\(after)")
    }
  }

  @Test func `between batches others write, however slow the file comes`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (n)")
      let child = try await bench.start(
        "import", bench.database, "t", "-", "--format=jsonl", "--batch=10")
      let watch = try await bench.start(
        "watch", bench.database, "SELECT count(*) AS n FROM t", "-j")
      for number in 1...15 { child.send("{\"n\":\(number)}") }
      _ = try await watch.nextMessage("the first batch") {
        $0["rows"]?.list?.first?["n"] == 10
      }
      // The import now waits for five more rows of its second batch.
      let exec = try await bench.boutique("exec", bench.database, "INSERT INTO t VALUES (100)")
      #expect(exec.succeeded, "\(exec)")
      child.closeInput()
      #expect(try await child.exit() == .exited(0))
      #expect(try await bench.sqlite3("SELECT count(*), sum(n) FROM t") == ["16|220"])
    }
  }

  @Test func `what is said of the file must make sense`() async throws {
    try await Workbench.with { bench in
      let cases: [([String], Int32, String)] = [
        (["t", "-"], 2, "say with --format what standard input is"),
        (["t", bench.path("x.data")], 2, "does not tell the format"),
        (["t", bench.path("x.jsonl"), "--delimiter=;"], 2, "--delimiter and JSON lines"),
        (["t", bench.path("x.csv"), "--delimiter=;;"], 2, "--delimiter: “;;” is not"),
        (["t", bench.path("x.csv"), "--columns=a,,b"], 2, "--columns: “a,,b” is not"),
        (["t", bench.path("x.csv"), "--batch=0"], 2, "--batch: “0” is not"),
        (["t", bench.path("x.csv")], 1, "x.csv: cannot read on: No such file or directory"),
        (["t", bench.directory, "--format=csv"], 1, "Is a directory"),
      ]
      for (arguments, code, text) in cases {
        let child = try await bench.children.start(
          built: "boutique", ["import", bench.database] + arguments)
        child.closeInput()
        #expect(try await child.exit() == .exited(code))
        #expect(child.standardError.contains(text), "\(child.standardError)")
        #expect(bench.exists("app.db") == false)
      }
    }
  }

  @Test func `tables are neither guessed nor made twice`() async throws {
    try await Workbench.with { bench in
      let file = try bench.file("t.csv", "a\n1\n")
      let made = try await bench.boutique("import", bench.database, "t", file, "--create")
      #expect(made.succeeded, "\(made)")
      let again = try await bench.boutique("import", bench.database, "t", file, "--create")
      #expect(again.status == .exited(1))
      #expect(again.errors.contains("there is a table “t” already"), "\(again)")
      let other = try await bench.boutique("import", bench.database, "u", file)
      #expect(other.status == .exited(1))
      #expect(other.errors.contains("there is no table “u”; --create makes one"), "\(other)")
      #expect(try await bench.sqlite3("SELECT count(*) FROM t") == ["1"])
    }
  }

  @Test func `names with quotes and spaces are names`() async throws {
    try await Workbench.with { bench in
      let file = try bench.file("t.csv", "my col,\"a\"\"b\"\n1,2\n")
      let outcome = try await bench.boutique(
        "import", bench.database, "my \"table\"", file, "--create")
      #expect(outcome.succeeded, "\(outcome)")
      #expect(
        try await bench.sqlite3("SELECT \"my col\", \"a\"\"b\" FROM \"my \"\"table\"\"\"") == [
          "1|2"
        ])
    }
  }
}
