import Glibc
import Synchronization

/// A plain `sqlite3` process that works on the same file: a writer that knows nothing of the library.
///
/// It does two things that no indexer does, so that the end is known exactly: it deletes the stale rows
/// that the coordinator planted, and it writes notes. Each step is one transaction, which also records
/// how many rows it noted and deleted.
final class SQLiteShell: Sendable {
  /// Its name in `commit_stamp`.
  static let label = "sqlite3"

  private static let pause: Duration = .milliseconds(20)
  private static let done = "step done"

  /// What came of its work.
  struct Account: Sendable {
    var transactions = 0
    /// From sending a transaction to its answer, in nanoseconds.
    var durations = Durations.Summary()
    /// What it said besides the expected.
    var complaints: [String] = []
  }

  /// The process.
  let child: ChildProcess
  private let mayRest = Mutex(false)
  private let isStopped = Mutex(false)

  /// Starts the shell on the database.
  init(database: String) throws {
    do {
      // `-init /dev/null`: the user's own ~/.sqliterc could change what it prints.
      child = try ChildProcess(
        label: Self.label, program: "sqlite3",
        arguments: ["-batch", "-bail", "-init", "/dev/null", database], voice: .standardOutput)
    } catch let failure where failure.code == ENOENT {
      throw DemoFailure(
        "there is no program 'sqlite3' in PATH; install the package sqlite3 (Tools/setup does)")
    }
  }

  /// Lets the work end once all stale rows are gone.
  func rest() { mayRest.withLock { $0 = true } }

  /// Ends the work at the next step, whatever is left.
  func stop() { isStopped.withLock { $0 = true } }

  /// Works step by step until it may rest; then ends the process.
  func work() async -> Account {
    var account = Account()
    var durations = Durations()
    var lines = child.lines.makeAsyncIterator()
    // Long, since the shell stands in no queue: among busy writers it needs luck to find the lock free.
    _ = child.write(".timeout 60000\nPRAGMA temp_store = memory;\n")
    var hasWork = true
    while !isStopped.withLock({ $0 }), hasWork || !mayRest.withLock({ $0 }) {
      let began = Clock.monotonic()
      guard child.write(Self.step), let answer = await answer(&lines, &account) else { break }
      durations.add(Clock.monotonic() - began)
      account.transactions += 1
      hasWork = answer > 0
      try? await Task.sleep(for: Self.pause)
    }
    child.closeInput()
    while let line = await lines.next() { account.complaints.append(line) }
    account.durations = durations.summary
    return account
  }

  /// Returns the number of stale rows that are left, or nil when the shell has ended.
  private func answer(
    _ lines: inout AsyncStream<String>.Iterator, _ account: inout Account
  ) async -> Int? {
    while let line = await lines.next() {
      let words = line.split(separator: "|")
      if words.count == 2, words[0] == Self.done { return Int(words[1]) }
      account.complaints.append(line)
    }
    return nil
  }

  // The stamp is the wall clock: the only one that SQL knows, in milliseconds.
  private static let step = """
    BEGIN IMMEDIATE;
    INSERT INTO shell_step (noted, deleted) VALUES (0, 0);
    DELETE FROM file WHERE id IN (SELECT id FROM file WHERE kind = '\(FileKind.stale)' LIMIT 25);
    UPDATE shell_step SET deleted = changes() WHERE id = (SELECT max(id) FROM shell_step);
    UPDATE file SET note = 'seen by sqlite3' WHERE id IN (
      SELECT id FROM file WHERE note IS NULL AND indexer IS NOT NULL ORDER BY id DESC LIMIT 5);
    UPDATE shell_step SET noted = changes() WHERE id = (SELECT max(id) FROM shell_step);
    INSERT INTO commit_stamp (writer, time) VALUES ('\(label)',
      CAST((julianday('now') - 2440587.5) * 86400000 + 0.5 AS INTEGER) * 1000000);
    COMMIT;
    SELECT '\(done)', count(*) FROM file WHERE kind = '\(FileKind.stale)';

    """
}
