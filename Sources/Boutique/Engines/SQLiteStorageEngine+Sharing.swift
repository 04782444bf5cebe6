import BoutiqueDB

// What others have written, told by the database's change log and read in the same snapshot.

extension SQLiteStorageEngine: SharedStorageEngine {
  /// Returns what has changed since a position, as of one moment.
  public func changes(since position: StoragePosition?) async throws -> StorageChanges {
    let table = table
    return try await withDatabase { db in
      let token = position.flatMap { ChangeToken($0.note) }
      let (found, now) = try await db.read(since: token, atMost: 10_000) { connection, recent in
        let found = try TableChanges(
          recent.changes, of: table, isFirst: token == nil, connection)
        return (found, recent.token)
      }
      return StorageChanges(
        position: StoragePosition(now), isEverything: found.isEverything, entries: found.entries,
        gone: found.gone, origin: found.origin)
    }
  }

  /// Returns a sequence that yields when something may have changed.
  public nonisolated func news() -> AsyncThrowingStream<StoragePosition?, any Error> {
    // One that has not been taken yet says as much as two; the older of them may be missed, since only "not
    // before this one" is asked of it.
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: StoragePosition?.self, bufferingPolicy: .bufferingNewest(1))
    // The engine is let go of while nothing happens, so that the database can close when nobody has it.
    let task = Task { [weak self] in
      do {
        guard let db = try await self?.database(), let name = self?.tableName else {
          return continuation.finish()
        }
        do {
          let start = try await db.currentToken()
          continuation.yield(nil)
          for try await change in db.changes(since: start) {
            if change.isEverything {
              continuation.yield(nil)
            } else if change.tables.contains(name) {
              continuation.yield(StoragePosition(change.token))
              // Whoever wrote in this process knows it already, and would pay for being told each time.
              if change.origin == .thisProcess { try await Task.sleep(for: Self.ownNewsPause) }
            }
          }
          continuation.finish()
        } catch {
          await self?.noteFailure(error, of: db)
          throw error
        }
      } catch {
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }
}

extension StoragePosition {
  fileprivate init(_ token: ChangeToken) {
    self.init(history: token.generation, number: token.number, note: token.description)
  }
}

/// What commits have changed in one table, as of a snapshot.
private struct TableChanges: Sendable {
  var isEverything = false
  var entries: [StorageEntry] = []
  var gone: [Int64: ChangeOrigin?] = [:]
  var origin: ChangeOrigin?

  init(
    _ changes: [BoutiqueChange], of table: StorageTable, isFirst: Bool,
    _ connection: BoutiqueConnection
  ) throws {
    var touched: [Int64: ChangeOrigin] = [:]
    var origins: Set<ChangeOrigin> = []
    isEverything = isFirst
    for change in changes {
      if change.isEverything || change.wholeTables.contains(table.name) { isEverything = true }
      if change.isEverything || change.tables.contains(table.name) { origins.insert(change.origin) }
      for row in change.rows where row.table == table.name {
        guard case .integer(let place) = row.key.first else {
          isEverything = true
          continue
        }
        touched[place] = change.origin
      }
    }
    if origins.count == 1 { origin = origins.first }
    if isEverything {
      entries = try table.allEntries(connection)
      return
    }
    entries = try table.entries(at: touched.keys.sorted(), connection)
    for index in entries.indices { entries[index].origin = touched[entries[index].place] }
    let present = Set(entries.map(\.place))
    for (place, origin) in touched where !present.contains(place) { gone[place] = origin }
  }
}
