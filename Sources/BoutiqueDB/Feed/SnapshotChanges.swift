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

extension BoutiqueDB {
  /// Runs a closure in one snapshot, and tells it what was committed between a token and that snapshot.
  ///
  /// For a copy of a part of the database that is to be of one moment:
  ///
  /// ```swift
  /// let (rows, now) = try await db.read(changesSince: token) { conn, changes in
  ///   let keys = Set(changes.flatMap(\.rows).filter { $0.table == "note" }.map(\.key))
  ///   return try keys.map { try conn.query("SELECT * FROM note WHERE id = ?", arguments: $0) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - token: of which moment the copy is; nil where there is none yet, and then no changes are told.
  ///   - limit: how many commits are told one by one at most; beyond, there is one change that says
  ///     `isEverything`.
  ///   - body: runs on a reader thread, as that of ``read(_:)``. The changes carry keys, not rows before
  ///     and after.
  /// - Returns: what `body` returns, and the token of the snapshot.
  /// - Throws: what `body` throws, ``BoutiqueError``, or `CancellationError`.
  public func read<R: Sendable>(
    changesSince token: ChangeToken?, limit: Int = 10_000,
    _ body: @escaping @Sendable (BoutiqueConnection, [BoutiqueChange]) throws -> R
  ) async throws -> (value: R, token: ChangeToken) {
    let core = core
    return try await core.read { connection in
      let sqlite = connection.sqlite
      // Both before the first statement, and so before the snapshot is taken.
      let presence = core.presence(on: sqlite)
      let counter = sqlite.walIndexHeader()?.change
      let (changes, position) = try core.changes(
        since: token, limit: limit, presence: presence, counter: counter, on: connection)
      return (try body(connection, changes), ChangeToken(position))
    }
  }
}

extension OpenDatabase {
  fileprivate func changes(
    since token: ChangeToken?, limit: Int, presence: Presence, counter: UInt32?,
    on connection: BoutiqueConnection
  ) throws -> ([BoutiqueChange], LogPosition) {
    let sqlite = connection.sqlite
    func head() throws -> LogPosition {
      try ChangeReader.head(continuity: presence.continuity, counter: counter, on: sqlite)
    }
    guard let token else { return ([], try head()) }
    var start = try ChangeReader.position(of: token, on: sqlite)
    // Without other processes there is nobody who could have come between.
    if !isShared { start.isLive = true }
    let batch = try ChangeReader.changes(
      after: start, limit: limit, presence: presence, counter: .some(counter), on: sqlite)
    if batch.hasMore {
      let position = try head()
      let everything = BoutiqueChange(
        .everything(at: position), generation: position.generation, origin: .foreign)
      return ([everything], position)
    }
    let origins = try origins(of: batch.changes, on: connection)
    let changes = batch.changes.filter { !$0.isEmpty }.map { change in
      BoutiqueChange(
        change, generation: batch.position.generation,
        origin: change.origin.flatMap { origins[$0] } ?? .foreign)
    }
    return (changes, batch.position)
  }

  /// Returns who is meant by the numbers that changes name as their origins.
  func origins(
    of changes: [ChangeSet], on connection: BoutiqueConnection
  ) throws -> [Int64: ChangeOrigin] {
    let own = hub.monitor.withLock(\.ownOrigin)
    var origins: [Int64: ChangeOrigin] = [:]
    for id in Set(changes.compactMap(\.origin)) {
      if id == own {
        origins[id] = .thisProcess
        continue
      }
      let row = try connection.queryOne(
        "SELECT pid, label FROM boutiquedb_origin WHERE id = ?", id)
      if let row { origins[id] = .process(pid: try row.decode(0), label: try row.decode(1)) }
    }
    return origins
  }
}
