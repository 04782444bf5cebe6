import Foundation
import SQLiteConnection

/// Where a reader of the change log stands.
struct LogPosition: Hashable, Sendable {
  var generation: String
  /// The last token that is accounted for.
  var token: Int64
  /// The WAL index's change counter up to which every commit is accounted for; nil where unknown.
  var counter: UInt32?
}

/// Reads the change log after a position, so that no commit of anyone is missed.
///
/// Three things make it "everything" instead of rows, each at most once per batch in a row:
/// - a gap: the row after the position is gone (pruned, log recreated, file restored);
/// - a foreign commit: the chain of change counters has a break, or the counter is ahead of the newest
///   row of the snapshot;
/// - another generation: the file is another one.
///
/// The counter is read *before* the snapshot is taken, so a commit that the snapshot holds may carry a
/// higher one; a commit it does not hold is found by the next look. Counters wrap at 2³², so they are
/// compared by the sign of their difference.
enum ChangeReader {
  struct Batch {
    var changes: [ChangeSet]
    var position: LogPosition
    /// Whether the log holds more than this batch.
    var hasMore: Bool
  }

  /// Returns the position of the newest commit that `sqlite` sees now.
  ///
  /// - Precondition: a transaction is open in which nothing has been read yet, or none is.
  static func head(on sqlite: Connection) throws -> LogPosition {
    let counter = sqlite.walIndexHeader()?.change
    guard let generation = try generation(on: sqlite) else {
      return LogPosition(generation: "", token: 0, counter: counter)
    }
    let token = try newestToken(on: sqlite)
    var position = LogPosition(generation: generation, token: token, counter: counter)
    if let after = try counterAfter(token, on: sqlite), let counter, after.isAhead(of: counter) {
      position.counter = after
    }
    // A connection that has not read before has no index mapped, and cannot tell.
    if counter == nil { position.counter = sqlite.walIndexHeader() == nil ? nil : position.counter }
    return position
  }

  /// Returns what was committed after `position`.
  ///
  /// - Precondition: a deferred transaction is open in which nothing has been read yet.
  static func changes(
    after position: LogPosition, limit: Int, on sqlite: Connection
  ) throws -> Batch {
    let counterBeforeSnapshot = sqlite.walIndexHeader()?.change
    var position = position
    var changes: [ChangeSet] = []
    func everything() {
      if changes.last?.isEverything != true { changes.append(.everything(after: position.token)) }
    }

    guard let generation = try generation(on: sqlite), generation == position.generation else {
      everything()
      return Batch(changes: changes, position: try head(on: sqlite), hasMore: false)
    }
    let select = try sqlite.prepare(
      """
      SELECT token, first, time, origin, counter_before, counter_after, tables, changes
        FROM boutiquedb_cdc WHERE token > ?1 ORDER BY token LIMIT ?2
      """)
    defer { select.reset() }
    try select.bind(position.token, at: 1)
    try select.bind(Int64(limit), at: 2)
    var count = 0
    while try select.step() {
      count += 1
      let change = row(of: select)
      if change.first != position.token + 1 {
        everything()
      } else if let counter = position.counter, let before = change.counterBefore,
        counter != before
      {
        everything()
      }
      changes.append(change)
      position.token = change.token
      position.counter = change.counterAfter ?? position.counter
    }
    select.reset()
    if count == limit { return Batch(changes: changes, position: position, hasMore: true) }

    if count == 0, try newestToken(on: sqlite) < position.token {
      everything()
      return Batch(changes: changes, position: try head(on: sqlite), hasMore: false)
    }
    guard let before = counterBeforeSnapshot else {
      return Batch(changes: changes, position: position, hasMore: false)
    }
    if let counter = position.counter {
      let now = sqlite.walIndexHeader()?.change ?? before
      if before.isAhead(of: counter) {
        everything()
        position.counter = before
      } else if counter.isAhead(of: now) {
        // Recovery after a crash starts the counter again.
        everything()
        position.counter = now
      }
    } else {
      position.counter = before
    }
    return Batch(changes: changes, position: position, hasMore: false)
  }

  /// Returns the newest token; 0 when there is no change log.
  ///
  /// The sequence table remembers it even if the log has been emptied.
  static func newestToken(on sqlite: Connection) throws -> Int64 {
    do {
      return try sqlite.queryInt64(
        """
        SELECT max(coalesce((SELECT token FROM boutiquedb_cdc ORDER BY token DESC LIMIT 1), 0),
                   coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'boutiquedb_cdc'), 0))
        """) ?? 0
    } catch {
      guard error.code.primary == .error else { throw error }
      return 0
    }
  }

  /// Returns the counter after the commit with a token; nil when its row is gone.
  static func counterAfter(_ token: Int64, on sqlite: Connection) throws -> UInt32? {
    guard try generation(on: sqlite) != nil else { return nil }
    let select = try sqlite.prepare("SELECT counter_after FROM boutiquedb_cdc WHERE token = ?1")
    defer { select.reset() }
    try select.bind(token, at: 1)
    guard try select.step(), select.columnType(0) == .integer else { return nil }
    return UInt32(truncatingIfNeeded: select.int64(0))
  }

  /// Returns the file's generation, or nil when the file has no change log.
  static func generation(on sqlite: Connection) throws -> String? {
    do {
      return try sqlite.queryText("SELECT value FROM boutiquedb_meta WHERE key = 'generation'")
    } catch {
      guard error.code.primary == .error else { throw error }
      return nil
    }
  }

  private static func row(of select: PreparedStatement) -> ChangeSet {
    let token = select.int64(0)
    let summary = CommitSummary(tablesJSON: select.text(6), changesJSON: select.text(7))
    func counter(_ column: Int) -> UInt32? {
      select.columnType(column) == .integer ? UInt32(truncatingIfNeeded: select.int64(column)) : nil
    }
    return ChangeSet(
      token: token, first: select.int64(1),
      summary: summary ?? CommitSummary(tables: [], changes: []),
      // A row that cannot be read is a change that cannot be described.
      isEverything: summary == nil, origin: select.int64(3), time: select.int64(2),
      counterBefore: counter(4), counterAfter: counter(5))
  }
}

extension UInt32 {
  /// Whether this counter is later than `other`, across a wrap.
  func isAhead(of other: UInt32) -> Bool { Int32(bitPattern: self &- other) > 0 }
}
