import BoutiqueDB
import Foundation
import ProcessHarness
import StressHarness
import StressHistory
import StressReport
import TestDatabase
import Testing

@Suite struct FinalStateTests {
  /// A run's directory with a database of some commits.
  private func withRun(
    seed: UInt64, _ body: (RunContext) async throws -> Void
  ) async throws {
    let directory = try TestDirectory()
    try FileManager.default.createDirectory(
      atPath: directory.file("data"), withIntermediateDirectories: true)
    let run = RunContext(
      plan: RunPlan(workload: "counters", seed: seed), directory: directory.path, program: "")
    let db = try await BoutiqueDB.open(path: run.database)
    try await db.write { try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x)") }
    for value in ["a", "tab\tline\nback\\slash ü", ""] {
      try await db.write { try $0.execute("INSERT INTO t (x) VALUES (?)", value) }
    }
    try await db.write { try $0.execute("INSERT INTO t (x) VALUES (NULL), (1.5), (x'00ff'), (7)") }
    await db.close()
    try await body(run)
  }

  private let queries = ["t": "SELECT id, x FROM t ORDER BY id", "none": "SELECT 1 WHERE 0"]

  @Test(arguments: [1, 2])
  func `both readers agree on a sound file`(seed: UInt64) async throws {
    try await withRun(seed: seed) { run in
      let state = try await FinalState.read(run, queries)
      #expect(state.violations == [])
      #expect(state.texts("t").prefix(3).map(\.[1]) == ["a", "tab\tline\nback\\slash ü", ""])
      #expect(state.integers("t").last == [7, 7])
      #expect(state.texts("none").isEmpty)
    }
  }

  @Test func `a hole in the change log is found`() async throws {
    try await withRun(seed: 1) { run in
      try await shell(
        run,
        "DELETE FROM boutiquedb_cdc WHERE token = (SELECT token FROM boutiquedb_cdc LIMIT 1 OFFSET 2)"
      )
      let state = try await FinalState.read(run, queries)
      #expect(state.violations.contains { $0.text.contains("change log") })
    }
  }

  @Test func `a row of the change log that counts wrong is found`() async throws {
    try await withRun(seed: 1) { run in
      try await shell(
        run,
        "UPDATE boutiquedb_cdc SET changes = '[1, 2, 3, 4, 5, 6, 7]' WHERE token = (SELECT max(token) FROM boutiquedb_cdc)"
      )
      let state = try await FinalState.read(run, queries)
      #expect(state.violations.contains { $0.text.contains("change log") })
    }
  }

  @Test func `a damaged file is found`() async throws {
    try await withRun(seed: 1) { run in
      try await shell(run, "CREATE INDEX t_x ON t (x)")
      try await shell(
        run,
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 't')
          WHERE name = 't_x';
        """)
      let state = try await FinalState.read(run, queries)
      #expect(!state.violations.isEmpty)
    }
  }

  private func shell(_ run: RunContext, _ sql: String) async throws {
    try await withChildProcesses { children in
      let shell = try await children.start(ChildCommand("sqlite3", [run.database, sql]))
      try await shell.exit()
    }
  }
}
