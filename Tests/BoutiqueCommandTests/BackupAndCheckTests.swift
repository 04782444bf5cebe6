import Foundation
import ProcessHarness
import Testing

@Suite struct BackupTests {
  @Test func `a backup is whole and needs no side files`() async throws {
    try await Workbench.with { bench in
      let made = try await bench.boutique(
        "exec", bench.database, "--create", "CREATE TABLE t (n); INSERT INTO t VALUES (1), (2)")
      #expect(made.succeeded, "\(made)")
      let outcome = try await bench.boutique("backup", bench.database, bench.path("copy.db"))
      #expect(outcome.succeeded, "\(outcome)")
      #expect(
        try await bench.sqlite3("PRAGMA integrity_check; SELECT sum(n) FROM t", in: "copy.db")
          == ["ok", "3"])
    }
  }

  @Test func `an existing file is replaced only when asked`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (n); INSERT INTO t VALUES (1)")
      let copy = try bench.file("copy.db", "precious")
      let refused = try await bench.boutique("backup", bench.database, copy)
      #expect(refused.status == .exited(1))
      #expect(refused.errors.hasPrefix("boutique: "), "\(refused)")
      #expect(try String(contentsOfFile: copy, encoding: .utf8) == "precious")
      let replaced = try await bench.boutique("backup", bench.database, copy, "--overwrite")
      #expect(replaced.succeeded, "\(replaced)")
      #expect(try await bench.sqlite3("SELECT n FROM t", in: "copy.db") == ["1"])
    }
  }

  @Test(arguments: [
    "app.db", "app.db-wal", "app.db-shm", "app.db-lock", "./app.db", "link/app.db-wal",
  ])
  func `the database and its side files are no destination`(name: String) async throws {
    try await Workbench.with { bench in
      let made = try await bench.boutique(
        "exec", bench.database, "--create", "CREATE TABLE t (n); INSERT INTO t VALUES (1), (2)")
      #expect(made.succeeded, "\(made)")
      try FileManager.default.createSymbolicLink(
        atPath: bench.path("link"), withDestinationPath: bench.directory)
      let outcome = try await bench.shell("\"$BOUTIQUE\" backup app.db \(name) --overwrite")
      #expect(outcome.status == .exited(1))
      #expect(
        outcome.errors.contains("is the database itself or one of its side files"), "\(outcome)")
      #expect(try await bench.sqlite3("SELECT sum(n) FROM t") == ["3"])
    }
  }

  @Test func `a destination that cannot be made is an error`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (n)")
      let outcome = try await bench.boutique(
        "backup", bench.database, bench.path("no/such/copy.db"))
      #expect(outcome.status == .exited(1))
      #expect(outcome.errors.hasPrefix("boutique: "), "\(outcome)")
    }
  }
}

@Suite struct CheckTests {
  @Test func `a sound database is ok`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3("CREATE TABLE t (n)")
      let loud = try await bench.boutique("check", bench.database)
      #expect(loud.succeeded && loud.lines == ["ok"], "\(loud)")
      let quiet = try await bench.boutique("check", bench.database, "--quiet")
      #expect(quiet.succeeded && quiet.lines.isEmpty, "\(quiet)")
    }
  }

  @Test func `a damaged file is found`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(
        """
        PRAGMA page_size = 1024; CREATE TABLE t (n, filler); CREATE INDEX i ON t (n);
        WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 2000)
        INSERT INTO t SELECT i, hex(randomblob(50)) FROM c;
        """)
      let handle = try FileHandle(forUpdating: URL(filePath: bench.database))
      // Leaves of the table, well past the header and the schema's page.
      for page in [20, 40, 60] {
        try handle.seek(toOffset: UInt64(page * 1024 + 100))
        handle.write(Data(repeating: 0xA5, count: 600))
      }
      try handle.close()
      let outcome = try await bench.boutique("check", bench.database)
      #expect(outcome.status == .exited(1))
      #expect(outcome.lines.contains("ok") == false)
      #expect(!outcome.lines.isEmpty || outcome.errors.contains("is damaged"), "\(outcome)")
    }
  }

  @Test func `a broken foreign key is found`() async throws {
    try await Workbench.with { bench in
      try await bench.sqlite3(
        """
        PRAGMA foreign_keys = OFF; CREATE TABLE parent (id INTEGER PRIMARY KEY);
        CREATE TABLE child (p REFERENCES parent (id)); INSERT INTO child VALUES (99);
        """)
      let outcome = try await bench.boutique("check", bench.database)
      #expect(outcome.status == .exited(1))
      #expect(outcome.lines.count == 1)
      #expect(outcome.lines.first?.contains("child") == true)
      #expect(outcome.lines.first?.contains("parent") == true)
    }
  }
}
