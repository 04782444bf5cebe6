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
      let start = try ChangeReader.position(of: token, on: sqlite)
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
