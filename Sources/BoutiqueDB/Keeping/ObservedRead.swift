import SQLiteConnection

/// What the read of a live query knows of its snapshot.
struct ObservedRead {
  let schema: SchemaObjects
  let recorder: RegionRecorder
  /// The newest commit in the snapshot.
  let token: Int64
  /// The change counter of just this snapshot; nil where that could not be told.
  let counter: UInt32?
  let kept: KeptResults

  /// The snapshot's place in the log, if it has one.
  func position(on sqlite: Connection) throws -> LogPosition? {
    guard let counter, let generation = try ChangeReader.generation(on: sqlite) else { return nil }
    return LogPosition(
      generation: generation, token: token, stamp: 0, counter: counter, continuity: nil,
      isLive: true)
  }

  /// Whether the snapshot is an earlier one than that of a kept result.
  func isBefore(_ position: LogPosition) -> Bool {
    guard let counter, let later = position.counter else { return true }
    return token < position.token || later.isAhead(of: counter)
  }

  /// Returns the row ids that commits after a position changed in a table, of this snapshot.
  ///
  /// - Parameter reads: what counts as a change.
  /// - Returns: nil when they cannot be named.
  func changedRows(
    of table: String, after position: LogPosition, reads: TableRegion.Reads, atMost limit: Int,
    on sqlite: Connection
  ) throws -> (rowIDs: Set<Int64>, position: LogPosition)? {
    guard let counter else { return nil }
    let batch = try ChangeReader.changes(
      after: position, limit: 256, presence: .unknown, counter: counter, on: sqlite)
    guard !batch.hasMore, !batch.awaitsAdoption, batch.position.counter == counter,
      batch.position.token == token
    else { return nil }
    var rowIDs: Set<Int64> = []
    for change in batch.changes {
      if change.isEverything { return nil }
      let effects = change.effects
      if effects.changesSchema { return nil }
      guard let effect = effects.tables[table] else { continue }
      if effect.isWhole || rowIDs.count + effect.rows.count > limit { return nil }
      for (key, row) in effect.rows {
        guard case .rowID(let rowID) = key else { return nil }
        let isSeen =
          row.cameOrWent || reads.everywhere?.intersects(row.updated) ?? true
        if isSeen { rowIDs.insert(rowID) }
      }
    }
    return (rowIDs, batch.position)
  }
}
