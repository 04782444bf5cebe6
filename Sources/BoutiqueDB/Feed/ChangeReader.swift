import Foundation
import SQLiteConnection
import SharedFileCoordination

/// Where a reader of the change log stands.
struct LogPosition: Hashable, Sendable {
  var generation: String
  /// The last token that is accounted for, and its commit's time.
  var token: Int64
  var stamp: Int64
  /// The WAL index's change counter up to which every commit is accounted for; nil where unknown.
  var counter: UInt32?
  /// The continuity to which the counter belongs.
  var continuity: Int64?
  /// Whether this process has been attached to the database ever since the position was reached:
  /// then the counter alone is proof.
  ///
  /// A position that was stored is not live.
  var isLive: Bool
}

/// What is known of the present, read before the snapshot that it is used with.
struct Presence: Sendable {
  /// The present continuity; nil when nobody can vouch.
  var continuity: Int64?
  /// What the present continuity goes on from, where it was proven that nobody came between.
  var bridge: ContinuityBridge?

  static let unknown = Presence()
}

/// Reads the change log after a position, so that no commit of anyone is missed.
///
/// Three things make it "everything" instead of rows, each at most once in a row:
/// - a gap: the row after the position is gone (pruned, log recreated, file restored);
/// - a foreign commit: the chain of change counters has a break, or the counter is ahead of the newest
///   row of the snapshot;
/// - another generation: the file is another one.
///
/// The counter is read *before* the snapshot is taken, so a commit that the snapshot holds may carry a
/// higher one; a commit it does not hold is found by the next look. Counters wrap at 2³², so they are
/// compared by the sign of their difference.
///
/// An "everything" carries the position behind it, so that a reader who goes on from there is not told
/// the same again.
enum ChangeReader {
  struct Batch {
    var changes: [ChangeSet]
    var position: LogPosition
    /// Whether the log holds more than this batch.
    var hasMore: Bool
    /// Whether foreign commits follow that are not in the log yet (see `ForeignCapture`).
    ///
    /// The position stands before them.
    var awaitsAdoption = false
  }

  /// What foreign commits after the newest row of the log become.
  enum Tail {
    /// Everything.
    case everything
    /// Nothing yet, if the database's triggers have noted them; somebody of ours will put them in the log.
    case awaited
  }

  /// How many changed rows a batch holds at most, beside those of its last commit.
  private static let rowLimit = 16_384

  /// Returns the position of the newest commit that `sqlite` sees now.
  ///
  /// - Parameter continuity: the present one, read before; nil where nobody vouches.
  /// - Precondition: a transaction is open in which nothing has been read yet, or none is.
  static func head(continuity: Int64? = nil, on sqlite: Connection) throws -> LogPosition {
    try head(continuity: continuity, counter: sqlite.walIndexHeader()?.change, on: sqlite)
  }

  /// - Parameter counter: read before the snapshot was taken.
  static func head(
    continuity: Int64?, counter: UInt32?, on sqlite: Connection
  ) throws -> LogPosition {
    var position = LogPosition(
      generation: "", token: 0, stamp: 0, counter: counter, continuity: continuity, isLive: true)
    guard let generation = try generation(on: sqlite) else { return position }
    position.generation = generation
    position.token = try newestToken(on: sqlite)
    guard let commit = try commit(position.token, on: sqlite) else { return position }
    position.stamp = commit.time
    // A commit between the reading of the counter and the snapshot is accounted for by its row, if the row
    // is of now: one of an earlier time may carry any number.
    if let counter, let after = commit.counterAfter, let now = sqlite.walIndexHeader()?.change,
      after.isAhead(of: counter), !after.isAhead(of: now)
    {
      position.counter = after
    }
    return position
  }

  /// Returns the position before the oldest commit that the log still holds.
  ///
  /// - Precondition: as for `head`.
  static func oldest(continuity: Int64?, on sqlite: Connection) throws -> LogPosition {
    let head = try head(continuity: continuity, on: sqlite)
    guard !head.generation.isEmpty else { return head }
    let select = try sqlite.prepare(
      """
      SELECT first, counter_before, continuity FROM boutiquedb_cdc ORDER BY token LIMIT 1
      """)
    defer { select.reset() }
    guard try select.step() else { return head }
    return LogPosition(
      generation: head.generation, token: max(0, select.int64(0) - 1), stamp: 0,
      counter: select.counter(1), continuity: select.number(2), isLive: false)
  }

  /// Returns the position that a token names; the next reading of changes judges it.
  static func position(of token: ChangeToken, on sqlite: Connection) throws -> LogPosition {
    var position = LogPosition(
      generation: token.generation, token: token.number, stamp: token.stamp ?? 0,
      counter: token.counter, continuity: token.continuity, isLive: false)
    guard try generation(on: sqlite) == token.generation,
      let commit = try commit(token.number, on: sqlite)
    else { return position }
    // What the token knows may be of a later moment than its commit: a foreign one came after.
    if token.continuity == nil {
      position.counter = commit.counterAfter
      position.continuity = commit.continuity
    }
    // The number is taken by another commit: the file was restored and went another way.
    if let stamp = token.stamp, commit.time != stamp { position.generation = "" }
    position.stamp = commit.time
    return position
  }

  /// Returns what was committed after `position`.
  ///
  /// - Parameters:
  ///   - presence: read before the snapshot was taken; a live position needs none.
  ///   - images: reads the rows that are kept of changes, for those who want them.
  ///   - tail: what foreign commits become that are not in the log yet.
  /// - Precondition: a deferred transaction is open in which nothing has been read yet.
  static func changes(
    after position: LogPosition, limit: Int, presence: Presence, images: ImageReader? = nil,
    tail: Tail = .everything,
    on sqlite: Connection
  ) throws -> Batch {
    try changes(
      after: position, limit: limit, presence: presence, images: images, tail: tail,
      counter: sqlite.walIndexHeader()?.change, on: sqlite)
  }

  /// As above, for a snapshot that may have been taken already.
  ///
  /// - Parameter counterBeforeSnapshot: the WAL index's change counter as it was before.
  static func changes(
    after position: LogPosition, limit: Int, presence: Presence, images: ImageReader? = nil,
    tail: Tail = .everything, counter counterBeforeSnapshot: UInt32?, on sqlite: Connection
  ) throws -> Batch {
    var position = position
    var changes: [ChangeSet] = []
    func everything() {
      if changes.last?.isEverything == true { changes.removeLast() }
      changes.append(.everything(at: position))
    }
    func startOver() throws -> Batch {
      position = try head(
        continuity: presence.continuity, counter: counterBeforeSnapshot, on: sqlite)
      everything()
      return Batch(changes: changes, position: position, hasMore: false)
    }

    guard let generation = try generation(on: sqlite), generation == position.generation else {
      return try startOver()
    }
    let select = try sqlite.prepare(
      """
      SELECT token, first, time, origin, counter_before, counter_after, tables, changes, continuity
        FROM boutiquedb_cdc WHERE token > ?1 ORDER BY token LIMIT ?2
      """)
    defer { select.reset() }
    try select.bind(position.token, at: 1)
    try select.bind(Int64(limit), at: 2)
    var count = 0
    var rows = 0
    // Rows kept whole can be large: then a batch has fewer commits.
    while rows < rowLimit, images?.isFull != true, try select.step() {
      count += 1
      var change = row(of: select)
      if let images { change.images = try images.images(of: change) }
      rows += change.summary.changes.count
      if try !continues(change, position, on: sqlite) {
        if change.first > position.token + 1 {
          position.token = change.first - 1
          position.stamp = 0
        }
        position.counter = change.counter(after: position.token)
        position.continuity = change.continuity
        everything()
      }
      // The log says itself that it cannot say more.
      if change.isEverything, changes.last?.isEverything == true { changes.removeLast() }
      changes.append(change)
      position.token = change.token
      position.stamp = change.stamp
      position.counter = change.counterAfter ?? position.counter
      position.continuity = change.continuity
    }
    select.reset()
    if count == limit || rows >= rowLimit || images?.isFull == true {
      return Batch(changes: changes, position: position, hasMore: true)
    }

    if count == 0, try newestToken(on: sqlite) < position.token { return try startOver() }
    if !position.isLive {
      // The present is reached. What was committed after the last row can be told only if somebody of ours
      // has been there ever since, or it was proven that nobody was.
      var isKnown = presence.continuity != nil && presence.continuity == position.continuity
      if !isKnown, let bridge = presence.bridge, bridge.leads(from: position) {
        position.counter = bridge.counter
        isKnown = true
      }
      position.isLive = true
      if !isKnown {
        position.counter = counterBeforeSnapshot
        position.continuity = presence.continuity
        everything()
      }
    }
    position.continuity = presence.continuity
    guard let before = counterBeforeSnapshot else {
      return Batch(changes: changes, position: position, hasMore: false)
    }
    if let counter = position.counter {
      let now = sqlite.walIndexHeader()?.change ?? before
      if before.isAhead(of: counter) {
        if tail == .awaited, try ForeignCapture.isPrecise(on: sqlite) {
          return Batch(
            changes: changes, position: position, hasMore: false, awaitsAdoption: true)
        }
        position.counter = before
        everything()
      } else if counter.isAhead(of: now) {
        // Recovery after a crash starts the counter again.
        position.counter = now
        everything()
      }
    } else {
      position.counter = before
    }
    return Batch(changes: changes, position: position, hasMore: false)
  }

  /// Whether nothing can have been committed between a position and a row.
  private static func continues(
    _ change: ChangeSet, _ position: LogPosition, on sqlite: Connection
  ) throws -> Bool {
    // A row without changes can stand for several commits, of which some may be read already.
    guard change.first == position.token + 1 || change.first <= position.token && change.isEmpty
    else { return false }
    let before = change.counter(after: position.token)
    if !position.isLive, change.continuity == nil || change.continuity != position.continuity {
      guard let continuity = change.continuity,
        let bridge = try SessionTable.bridge(to: continuity, on: sqlite)
      else { return false }
      return bridge.leads(from: position) && before == bridge.counter
    }
    guard let counter = position.counter, let before else { return true }
    return counter == before || change.goesOver(position)
  }

  /// Returns the newest token; 0 when there is no change log.
  ///
  /// In files of former versions the sequence table remembers it even if the log has been emptied.
  static func newestToken(on sqlite: Connection) throws -> Int64 {
    for sql in [
      """
      SELECT max(coalesce((SELECT token FROM boutiquedb_cdc ORDER BY token DESC LIMIT 1), 0),
                 coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'boutiquedb_cdc'), 0))
      """,
      // A file that a tool has put together may have no sequences.
      "SELECT token FROM boutiquedb_cdc ORDER BY token DESC LIMIT 1",
    ] {
      do {
        return try sqlite.queryInt64(sql) ?? 0
      } catch {
        // No such table.
        guard error.code.primary == .error else { throw error }
      }
    }
    return 0
  }

  /// What the log says of one commit.
  struct Commit {
    var time: Int64
    var counterAfter: UInt32?
    var continuity: Int64?
  }

  /// Returns the commit with a token; nil when its row is gone.
  static func commit(_ token: Int64, on sqlite: Connection) throws -> Commit? {
    let select = try sqlite.prepare(
      "SELECT time, counter_after, continuity FROM boutiquedb_cdc WHERE token = ?1")
    defer { select.reset() }
    try select.bind(token, at: 1)
    guard try select.step() else { return nil }
    return Commit(
      time: select.int64(0), counterAfter: select.counter(1), continuity: select.number(2))
  }

  /// Returns whether a number is that of a change inside a commit, where no token of this history can be.
  ///
  /// Commits without changes may share a row, and each of their numbers is a token.
  static func isInsideCommit(_ number: Int64, on sqlite: Connection) throws -> Bool {
    let select = try sqlite.prepare(
      """
      SELECT first <= ?1 AND changes <> '[]' FROM boutiquedb_cdc WHERE token > ?1
        ORDER BY token LIMIT 1
      """)
    defer { select.reset() }
    try select.bind(number, at: 1)
    guard try select.step() else { return false }
    return select.int64(0) != 0
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
    return ChangeSet(
      token: token, first: select.int64(1),
      summary: summary ?? CommitSummary(tables: [], changes: []),
      // A row that cannot be read is a change that cannot be described.
      isEverything: summary == nil,
      origin: select.int64(3) == ChangeLogWriter.foreignOrigin ? nil : select.int64(3),
      time: select.int64(2),
      counterBefore: select.counter(4), counterAfter: select.counter(5),
      continuity: select.number(8))
  }
}

extension ChangeSet {
  /// Whether this is what foreign programs did, of which the reader has heard a part as "everything".
  ///
  /// That part is in it once more: it was not in the log then.
  func goesOver(_ position: LogPosition) -> Bool {
    guard origin == nil, let counter = position.counter, let before = counterBefore,
      let after = counterAfter
    else { return false }
    return counter.isAhead(of: before) && !counter.isAhead(of: after)
  }

  /// The change counter after a token just before or inside this row.
  ///
  /// Inside a row without changes each commit took one number.
  fileprivate func counter(after token: Int64) -> UInt32? {
    counterBefore.map { $0 &+ UInt32(truncatingIfNeeded: max(0, token - (first - 1))) }
  }
}

extension ContinuityBridge {
  /// Whether a position is the one that this bridge begins at.
  fileprivate func leads(from position: LogPosition) -> Bool {
    position.continuity == formerContinuity && position.counter == formerCounter
  }
}

extension PreparedStatement {
  func number(_ column: Int) -> Int64? {
    columnType(column) == .integer ? int64(column) : nil
  }

  func counter(_ column: Int) -> UInt32? {
    number(column).map(UInt32.init(truncatingIfNeeded:))
  }
}

extension UInt32 {
  /// Whether this counter is later than `other`, across a wrap.
  func isAhead(of other: UInt32) -> Bool { Int32(bitPattern: self &- other) > 0 }
}
