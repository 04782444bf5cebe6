// For those who keep a copy of a part of the database in memory and must know of which moment it is: a cache, a
// mirror, a store.
//
// A feed tells what was committed, and a read tells what is there now, but between the two others commit. So a
// copy that reads what the feed names holds one row as it is now beside another as it was, and half of another
// process's transaction can be seen. Here both come out of one snapshot.
//
// Invariants
//  1. The changes are those of all commits after the token that the snapshot holds, and of no other.
//  2. The token returned is the snapshot's: a copy that had the state of the token given, and in which all rows
//     that the changes name are replaced by what the closure read, has the state of the token returned.
//  3. Where that cannot be said (`ChangeReader`: a gap, a foreign commit, another file, more than the limit),
//     there is one change, and it says `isEverything`.
//  4. What counts as foreign is judged by a change counter that was read before the snapshot was taken. A foreign
//     commit in between is in the snapshot and told by the next call: twice, not never.

import SQLiteConnection

/// What was committed between a token and a snapshot.
public struct RecentChanges: Sendable {
  /// The commits after the token, in commit order; those that changed nothing are left out.
  ///
  /// Rows that a table's ``CaptureMode`` keeps whole are not in them.
  public var changes: [BoutiqueChange]
  /// The position of the snapshot; the next question goes on from here.
  public var token: ChangeToken
  /// The mark of the snapshot; nil when somebody committed while it was taken, or nobody can tell.
  public var mark: CommitMark?
}

extension BoutiqueDB {
  /// Runs a closure in one snapshot, together with what was committed between a token and that snapshot.
  ///
  /// For those who keep what they have read, and want to know before they use it whether it still holds.
  /// Everything is accounted for, as in ``changes(since:following:)``: what cannot be told row by row, commits of
  /// programs without this library among it, is a change with `isEverything`. Unlike a feed it watches
  /// nothing and costs one read.
  ///
  /// ```swift
  /// let (rows, now) = try await db.read(since: token) { conn, recent in
  ///   let keys = Set(recent.changes.flatMap(\.rows).filter { $0.table == "note" }.map(\.key))
  ///   let rows = try keys.map { try conn.query("SELECT * FROM note WHERE id = ?", arguments: $0) }
  ///   return (rows, recent.token)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - token: from an earlier call, a write or a change; nil for no changes, only the snapshot's position.
  ///   - limit: how many commits are told one by one; more are one change with `isEverything`.
  ///   - body: runs on a reader thread, as for ``read(_:)``.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws, ``BoutiqueError``, or `CancellationError`.
  public func read<R: Sendable>(
    since token: ChangeToken?, atMost limit: Int = 512,
    _ body: @escaping @Sendable (BoutiqueConnection, RecentChanges) throws -> R
  ) async throws -> R {
    let core = core
    return try await core.read { connection in
      let recent = try core.recentChanges(since: token, limit: max(1, limit), on: connection)
      return try body(connection, recent)
    }
  }
}

extension OpenDatabase {
  /// - Precondition: nothing has been read in the connection's transaction.
  fileprivate func recentChanges(
    since token: ChangeToken?, limit: Int, on connection: BoutiqueConnection
  ) throws -> RecentChanges {
    let sqlite = connection.sqlite
    // All three before the first statement, and so before the snapshot is taken.
    let presence = presence(on: sqlite)
    let mark = commitMark
    let counter = sqlite.walIndexHeader()?.change
    let position: LogPosition
    var sets: [ChangeSet] = []
    if let token {
      var start = try ChangeReader.position(of: token, on: sqlite)
      // Without other processes there is nobody who could have come between.
      if !isShared { start.isLive = true }
      let batch = try ChangeReader.changes(
        after: start, limit: limit, presence: presence, counter: counter, on: sqlite)
      if batch.hasMore {
        position = try ChangeReader.head(
          continuity: presence.continuity, counter: counter, on: sqlite)
        sets = [.everything(at: position)]
      } else {
        position = batch.position
        sets = batch.changes.filter { !$0.isEmpty }
      }
    } else {
      position = try ChangeReader.head(
        continuity: presence.continuity, counter: counter, on: sqlite)
    }
    let origins = try ChangeReader.origins(of: sets, on: connection)
    let own = hub.monitor.withLock(\.ownOrigin)
    return RecentChanges(
      changes: sets.map { set in
        BoutiqueChange(
          set, generation: position.generation, origin: set.origin(own: own, known: origins))
      },
      token: ChangeToken(position),
      // The same before and after the snapshot was taken, so it is the snapshot's.
      mark: mark == commitMark ? mark : nil)
  }
}

extension ChangeReader {
  /// Returns who made commits, by their numbers in the table of origins.
  static func origins(
    of changes: [ChangeSet], on connection: BoutiqueConnection
  ) throws -> [Int64: ChangeOrigin] {
    var origins: [Int64: ChangeOrigin] = [:]
    for id in Set(changes.compactMap(\.origin)) {
      let row = try connection.queryOne(
        "SELECT pid, label FROM boutiquedb_origin WHERE id = ?", id)
      if let row { origins[id] = .process(pid: try row.decode(0), label: try row.decode(1)) }
    }
    return origins
  }
}

extension ChangeSet {
  /// Returns who made the commit.
  ///
  /// - Parameters:
  ///   - own: this open database's number.
  ///   - known: what the table of origins says.
  func origin(own: Int64?, known: [Int64: ChangeOrigin]) -> ChangeOrigin {
    origin.map { $0 == own ? .thisProcess : known[$0] ?? .foreign } ?? .foreign
  }
}
