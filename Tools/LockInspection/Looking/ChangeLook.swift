import Glibc
import SQLiteConnection
import SharedFileCoordination

// Reading the change log's tables from a database that others use.
//
// For: tokens and consumers, without a lock, without a file made or changed, while every process may be
// stopped.
//
// Invariants
//  1. SQLite reads through `LookingFileSystem`: for reading only, no locks, no shared memory.
//  2. What was read counts only when it cannot be torn. SQLite makes an index of its own from the log as
//     it is when the look begins; pages that are not in it come from the database file. That view is
//     whole as long as (a) nobody has started the log anew (the salts in its head and in the shared index
//     are what they were and equal) and (b) no checkpoint has copied frames that are newer than the view
//     (the index's count of attempted frames is not past the frames committed at the beginning).
//     Otherwise it is thrown away and read again, a few times.
//  3. An index without frames says that everything is in the database file, whatever is left in the log.
//  4. A long log takes long to read; past the limit nothing is read and that is said.
//
// Death: nothing of ours is anywhere.

/// Reads the change log's ends and its consumers.
package struct ChangeLook {
  /// What a look came to.
  package enum Outcome: Equatable, Sendable {
    case seen(ChangeFacts)
    /// The database has no change log.
    case absent
    case unseen(String)
  }

  /// The files' state, by which a torn view is told.
  private struct Stamp: Equatable {
    var database: FileLook.Facts?
    var log: FileLook.Facts?
    var logSalts: [UInt8]?
    var index: LogIndexHead?
  }

  /// The database file, as an absolute path.
  let path: String
  /// Logs of more bytes are not read.
  let logLimit: Int64
  /// Whether anybody has the log's index in use, so that it speaks of the present.
  let isAttached: Bool
  /// Called between the beginning of the view and the reading of the tokens; for tests.
  let meanwhile: () -> Void

  /// Makes a look at a database.
  package init(
    path: String, logLimit: Int64 = .max, isAttached: Bool, meanwhile: @escaping () -> Void = {}
  ) {
    self.path = path
    self.logLimit = logLimit
    self.isAttached = isAttached
    self.meanwhile = meanwhile
  }

  /// Looks, again when what was seen may be torn.
  package func read() -> Outcome {
    guard let log = FileLook.facts(path: path + "-wal"), log.size > logLimit else {
      var reason = "it kept changing while it was read"
      for attempt in 0..<8 {
        // Nothing tells one who takes no lock that a writer has come to its end.
        if attempt > 0 { usleep(UInt32(attempt) * 2000) }
        let before = stamp()
        let outcome = readOnce(before)
        if isWhole(before: before, after: stamp()) {
          guard case .unseen = outcome else { return outcome }
          if case .unseen(let why) = outcome { reason = why }
        }
      }
      return .unseen(reason)
    }
    return .unseen(
      "the log has \(log.size) bytes, more than the \(logLimit) that are read unless asked for")
  }

  private func stamp() -> Stamp {
    Stamp(
      database: FileLook.facts(path: path), log: FileLook.facts(path: path + "-wal"),
      logSalts: LogIndexHead.salts(ofLog: path + "-wal"),
      index: isAttached ? LogIndexHead.read(path: path + "-shm") : nil)
  }

  private func ignoresLog(_ stamp: Stamp) -> Bool {
    stamp.log == nil || stamp.log?.size == 0 || stamp.index?.frameCount == 0
  }

  private func isWhole(before: Stamp, after: Stamp) -> Bool {
    guard before.database?.identity == after.database?.identity else { return false }
    guard isAttached else { return before == after }
    guard let first = before.index, let last = after.index else {
      // No index in use: a database with a rollback journal, or one on which somebody has locking_mode
      // EXCLUSIVE.
      return before == after
    }
    guard first.salts == last.salts, last.attempted <= first.frameCount else { return false }
    if first.frameCount == 0 { return true }
    return before.logSalts == first.salts && after.logSalts == first.salts
      && before.log?.identity == after.log?.identity
  }

  private func readOnce(_ stamp: Stamp) -> Outcome {
    let ignoringLog = ignoresLog(stamp)
    if ignoringLog, FileLook.facts(path: path + "-journal").map({ $0.size > 0 }) ?? false {
      return .unseen("a transaction with a rollback journal is open or was broken off")
    }
    do {
      var options = ConnectionOptions()
      options.access = .looking(ignoringLog: ignoringLog)
      options.queryOnly = true
      let connection = try Connection(path: path, options: options)
      defer { connection.close() }
      return try facts(connection)
    } catch {
      return .unseen("\(error.message) [\(error.code)]")
    }
  }

  private func facts(_ connection: Connection) throws(SQLiteError) -> Outcome {
    guard try has("boutiquedb_cdc", connection) else { return .absent }
    meanwhile()
    var facts = ChangeFacts()
    facts.firstToken = try connection.queryInt64("SELECT min(token) FROM boutiquedb_cdc")
    facts.lastToken = try connection.queryInt64("SELECT max(token) FROM boutiquedb_cdc")
    guard try has("boutiquedb_consumer", connection) else { return .seen(facts) }
    let rows = try connection.prepare(
      "SELECT name, token, seen FROM boutiquedb_consumer ORDER BY name LIMIT 1000")
    defer { rows.reset() }
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let count = try connection.prepare(
      "SELECT count(*) FROM boutiquedb_cdc WHERE token > ?1 AND tables <> '[]'")
    defer { count.reset() }
    while try rows.step() {
      let token = rows.int64(1)
      // Commits that changed something, as the feed counts them: an acknowledgement is none.
      try count.bind(token, at: 1)
      let behind = try count.step() ? count.int64(0) : 0
      count.reset()
      // Milliseconds since 1970.
      let seen = Double(rows.int64(2)) / 1000
      facts.consumers.append(
        ChangeFacts.Consumer(
          name: rows.text(0), token: token, behind: behind,
          lastSeenSecondsAgo: seen > 0
            ? max(0, Double(now.tv_sec) + Double(now.tv_nsec) / 1e9 - seen) : nil))
    }
    return .seen(facts)
  }

  private func has(_ table: String, _ connection: Connection) throws(SQLiteError) -> Bool {
    try connection.queryInt64(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '\(table)'") != nil
  }
}
