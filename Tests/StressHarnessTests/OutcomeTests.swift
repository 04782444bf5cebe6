import BoutiqueDB
import StressHarness
import StressHistory
import TestDatabase
import Testing

@Suite struct OutcomeTests {
  @Test(arguments: [
    BoutiqueError.inputOutput(path: "p", message: "disk I/O error (code 778)"),
    .corrupt(path: "p", message: "m"),
    // The index in shared memory could not grow, when the mark was in the log.
    .diskFull(path: "p", message: "the limit of a file's size is reached (ulimit -f)"),
    .diskFull(path: "p", message: "disk I/O error"), .sql(code: 7, message: "out of memory"),
  ])
  func `an error after the mark of a commit leaves it open`(error: BoutiqueError) {
    #expect(WorkerContext.outcome(of: error) == .unknown)
  }

  @Test(arguments: [
    BoutiqueError.sql(code: 2067, message: "UNIQUE constraint failed"), .closed(path: "p"),
    .diskFull(path: "p", message: "database or disk is full"), .transactionInProgress,
    .lockTimeout(LockTimeout(path: "p", waited: .zero, holder: nil)),
    .fileReplaced(path: "p", message: "m"),
  ])
  func `an error before the commit refuses it`(error: BoutiqueError) {
    #expect(WorkerContext.outcome(of: error) == .refused)
  }

  @Test func `a cancelled write and one undone on purpose are refused`() {
    #expect(WorkerContext.outcome(of: CancellationError()) == .refused)
    #expect(WorkerContext.outcome(of: DeliberateRollback()) == .refused)
  }

  @Test func `what a constraint refuses leaves nothing, and is classified so`() async throws {
    try await withTestDatabase { db, _ in
      try await db.write { try $0.execute("CREATE TABLE t (x UNIQUE)") }
      try await db.write { try $0.execute("INSERT INTO t VALUES (1)") }
      do {
        try await db.write { connection in
          try connection.execute("INSERT INTO t VALUES (2)")
          try connection.execute("INSERT INTO t VALUES (1)")
        }
        Issue.record("it was not refused")
      } catch {
        #expect(WorkerContext.outcome(of: error) == .refused)
      }
      #expect(try await db.count(of: "SELECT * FROM t") == 1)
    }
  }
}
