import SQLiteConnection
import Testing

/// An observer of changes hears of statements that fail.
@Suite struct FailedStatementTests {
  final class Recorder: PreupdateObserver {
    var rows = 0
    var failures: [(rowsBefore: Int, keepsRows: Bool)] = []

    func willChange(_ change: borrowing PreupdateChange) { rows += 1 }
    func statementWillBegin() -> StatementMark { StatementMark(rows, 0, 0) }
    func statementDidFail(_ failure: StatementFailure) {
      failures.append((failure.mark.first, failure.keepsRows))
    }
  }

  let directory: TemporaryDirectory
  let connection: Connection
  let recorder = Recorder()

  init() throws {
    directory = try TemporaryDirectory()
    connection = try directory.open()
    connection.setPreupdateObserver(recorder)
    try connection.script(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, u UNIQUE);
      CREATE TABLE c (id INTEGER PRIMARY KEY, t REFERENCES t (id));
      INSERT INTO t VALUES (1, 'one');
      BEGIN;
      INSERT INTO t VALUES (2, 'two');
      """)
    recorder.rows = 0
  }

  @Test func `an aborted statement is told with where it began`() throws {
    try connection.execute("INSERT INTO t VALUES (3, 'three')")
    _ = sqliteError { try connection.execute("INSERT INTO t VALUES (4, 'four'), (5, 'one')") }
    #expect(recorder.failures.map(\.rowsBefore) == [1])
    #expect(recorder.failures.map(\.keepsRows) == [false])
  }

  @Test func `a statement that keeps what it did is told so`() throws {
    _ = sqliteError { try connection.execute("INSERT OR FAIL INTO t VALUES (4, 'x'), (5, 'one')") }
    #expect(recorder.failures.map(\.keepsRows) == [true])
  }

  @Test func `the end of a transaction is not told`() throws {
    _ = sqliteError {
      try connection.execute("INSERT OR ROLLBACK INTO t VALUES (4, 'x'), (5, 'one')")
    }
    #expect(!connection.isInTransaction)
    #expect(recorder.failures.isEmpty)
  }

  @Test func `foreign keys are checked before the first row is handed out`() throws {
    let insert = try connection.prepare("INSERT INTO c VALUES (1, 99), (2, 99) RETURNING id")
    // So a statement that is left before its end cannot fail unseen.
    #expect(sqliteError { _ = try insert.step() }?.code == .constraintForeignKey)
    #expect(recorder.failures.map(\.rowsBefore) == [0])
  }

  @Test func `a statement that only reads is not told`() throws {
    _ = sqliteError { try connection.execute("SELECT abs(-9223372036854775808)") }
    #expect(recorder.failures.isEmpty)
  }
}
